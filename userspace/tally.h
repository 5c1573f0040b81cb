// SPDX-License-Identifier: GPL-2.0-only
// The numbers of a campaign, computed from its runs alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "run.h"

namespace pctctl {

struct Tally {
    std::uint64_t runs = 0;
    std::uint64_t failures = 0;
    std::optional<std::uint32_t> first_failure; // lowest number
    std::uint32_t threads = 0;                  // n: the most threads of a run
    std::uint64_t steps = 0;                    // k: the most steps of a run
    std::uint64_t interventions = 0;
    std::uint64_t perturbed = 0;             // runs with interventions
    std::optional<std::uint64_t> violations; // of the runs that were verified; none: absent
    std::uint64_t unverified = 0;
    unsigned depth = 0;
    bool bounded = true;                   // the policy has a bound
    std::uint64_t counted = 0;             // runs for which Theorem 9 holds with this n and k
    std::uint64_t counted_unperturbed = 0; // those of them without interventions
    double bound_run = 0;                  // a run finds a given bug with at least this probability
    double bound_campaign = 0;             // the counted runs did so

    // Nothing was under control in any run: no thread or no scheduling point was seen.
    bool uncontrolled() const { return runs > 0 && (threads == 0 || steps == 0); }
};

// Does the theorem hold for this run when k is the most steps seen? Its change points must have
// been drawn from a k no smaller (never true of a campaign's first run, which draws none), unless d
// = 1 needs none; it must have had points at all, and must not have been cut off by the time limit.
bool counts_for_bound(const RunResult& run, unsigned depth, std::uint64_t k);

// With a policy that promises nothing (`bounded` false) both bounds are 0.
Tally tally(std::span<const RunResult> runs, unsigned depth, bool bounded = true);

} // namespace pctctl
