// SPDX-License-Identifier: GPL-2.0-only
// Guests that stay up between commands. A process of its own, the keeper, starts them when they are
// wanted, lends their descriptors to one vm/run at a time and takes them back. A borrower that does
// not give its guest back, for instance because it was killed, costs the guest its life: what state
// it is in nobody knows. The keeper listens on a socket in the abstract namespace: no file is ever
// there.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "machine.h"

namespace vm {

struct PoolSettings {
    std::string name;
    unsigned guests = 2;                     // at the same time
    std::chrono::milliseconds idle{300'000}; // ends when nobody has wanted a guest for so long
    std::optional<int> pidfd = std::nullopt; // ends when this process does
};

// Becomes the keeper, in the background; returns in the caller's process, with an exit status, once
// guests can be borrowed.
int start_pool(const PoolSettings& pool, const MachineSettings& machine);

// Ends the keeper and its guests; returns an exit status when they are gone.
int end_pool(const std::string& name);

// A guest on loan. Without give_back() the keeper kills it.
class Loan {
public:
    // Waits for a free guest, until `interrupted` (a descriptor) is readable. The error, or empty;
    // empty and no guest: interrupted.
    std::string borrow(const std::string& pool, Accelerator accelerator, int interrupted);
    void give_back();

    explicit operator bool() const { return bool(guest_.control); }
    Guest& guest() { return guest_; }

private:
    Fd keeper_;
    Guest guest_;
};

} // namespace vm
