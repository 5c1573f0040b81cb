// SPDX-License-Identifier: GPL-2.0-only
// Enumerates the random decisions of PCT and PPCT instead of sampling them, for the policies' own
// code: the change points that the controller draws, and the first priorities that the code
// computes.
#pragma once

#include "exact.h"
#include "mechanism.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pctctl::model {

class Decisions {
public:
    // For n threads, with d - 1 change points in 1 .. k.
    Decisions(pct_policy policy, unsigned n, unsigned k, unsigned d);

    // The configuration with these change points (k_1 .. k_(d-1) as in PCT's Fig. 7), as the
    // controller has drawn it from some seed. It lasts as long as this object.
    const pct_policy_config& config(std::span<const unsigned> change) const;
    // Identities of threads whose first priorities have this order, under any of the
    // configurations.
    std::vector<std::uint64_t> identities(std::span<const unsigned> rank) const;

private:
    std::size_t index(std::span<const unsigned> change) const;

    unsigned k_, d_;
    std::vector<pct_policy_config> configs_; // by index()
    std::vector<std::uint64_t> by_key_;      // identities, lowest first priority first
};

} // namespace pctctl::model
