// SPDX-License-Identifier: GPL-2.0-only
// Enumerates PCT's and PPCT's random decisions instead of sampling them, for the policies' own
// code. The decisions are what the controller draws, and the keys that the code computes.
#pragma once

#include "exact.h"
#include "mechanism.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pctctl::model {

class Decisions {
public:
    // Of n threads, with d - 1 change points in 1 .. k.
    Decisions(pct_policy policy, unsigned n, unsigned k, unsigned d);

    // With these change points (k_1 .. k_(d-1) as in PCT's Fig. 7), as the controller has drawn
    // them from some seed. It lasts as long as the object.
    const pct_policy_config& config(std::span<const unsigned> change) const;
    // Of threads whose first priorities have this order under any of the configurations.
    std::vector<std::uint64_t> identities(std::span<const unsigned> rank) const;

private:
    std::size_t index(std::span<const unsigned> change) const;

    unsigned k_, d_;
    std::vector<pct_policy_config> configs_; // by index()
    std::vector<std::uint64_t> by_key_;
};

} // namespace pctctl::model
