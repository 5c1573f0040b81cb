// SPDX-License-Identifier: GPL-2.0-only
// The races of a run's partial order: D of Theorem 1 in Yuan, Yang, Gu, "Partial Order Aware
// Concurrency Sampling" (CAV 2018), section 4.2.
//
// Two steps of different threads that conflict race if both can be next in their threads at the
// same time. That is so if the step before the later one, in its thread,
// can come before the earlier one. Two steps may never be next at the same time because one enables
// the other in a way that is not seen here. They are counted all the same, which makes the
// theorem's probability smaller.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "pctctl/policy_state.h"

namespace pctctl {

class Races {
public:
    // Accesses to one object that have one of these flags in common commute, others conflict.
    struct Access {
        std::uint64_t object;
        bool read_only;
        bool within;
    };

    // Adds the next step in the order of execution. Threads are numbered from 0, without large
    // gaps.
    void step(std::uint32_t thread, std::span<const Access> accesses);

    std::uint64_t steps() const { return steps_; }
    std::uint64_t races() const { return races_; }

private:
    // A vector clock: for each thread, how many of its steps come before something, or at it.
    using Clock = std::vector<std::uint32_t>;
    static constexpr std::size_t kClasses = 4; // both flags of an access, as a number
    struct Object {
        // By thread and class: numbers of the thread's steps on the object, from 1.
        std::unordered_map<std::uint32_t, std::array<std::vector<std::uint32_t>, kClasses>> steps;
        std::array<Clock, kClasses> after; // joined over the class's steps
    };

    static void join(Clock& clock, const Clock& other);
    std::uint64_t racing(std::uint32_t thread, std::span<const Access> accesses) const;

    std::vector<Clock> clocks_; // by thread: at its last step
    std::unordered_map<std::uint64_t, Object> objects_;
    std::uint64_t steps_ = 0;
    std::uint64_t races_ = 0;
};

// What a step acts on, as its policy sees that. `read_only`: PCT_OPTION_READ_ONLY.
std::vector<Races::Access> accesses_of(const pct_pending& step, bool read_only);

} // namespace pctctl
