// SPDX-License-Identifier: GPL-2.0-only
// The numbers of a campaign, computed from its runs alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/bound.h"
#include "plan/executor.h"
#include "plan/run_plan.h"

namespace pctctl {

// Of a policy that promises something about depths: its runs of one depth.
struct DepthTally {
    unsigned depth = 0;
    std::uint64_t runs = 0;
    std::uint64_t counted = 0;             // for which the theorem holds with this n and k
    std::uint64_t counted_unperturbed = 0; // those of them without interventions
    double bound_run = 0;        // one of them finds a given bug of the depth with at least this
    double bound_campaign = 0;   // the policy's counted runs do, those of greater depth included if
                                 // the promise covers them
    double miss = 1;             // 1 - bound_campaign without its rounding
    double miss_unperturbed = 1; // miss, with the runs without interventions alone
};

struct PolicyTally {
    std::string policy;
    Promise promise = Promise::nothing;
    std::uint64_t runs = 0;
    std::uint64_t failures = 0;
    std::optional<std::uint32_t> first_failure; // lowest number
    std::uint64_t interventions = 0;
    std::uint64_t perturbed = 0;        // runs with interventions
    std::uint64_t k = 0;                // places for its change points: all steps, or k_eff
    std::vector<DepthTally> depths;     // ascending; empty unless the promise is about depths
    double log_order_bound = 0;         // logarithm of what one run takes a partial order seen with
    std::optional<std::uint64_t> races; // of the partial order that this is about; absent: any

    double rate() const {
        return runs ? static_cast<double>(failures) / static_cast<double>(runs) : 0;
    }
};

struct Tally {
    std::uint64_t runs = 0;
    std::uint64_t failures = 0;
    std::optional<std::uint32_t> first_failure; // lowest number
    std::uint32_t threads = 0;                  // n: the most threads of a run
    std::uint64_t steps = 0;                    // k: the most steps of a run
    std::uint64_t k_eff = 0;                    // the largest of a run
    std::uint64_t interventions = 0;
    std::uint64_t disturbed = 0;             // runs that do not count, see RunResult::disturbed()
    std::uint64_t skipped_calls = 0;         // in these
    std::uint64_t unlocked_hooks = 0;        // in these
    std::optional<std::uint64_t> violations; // of the runs that were verified; none: absent
    std::uint64_t unverified = 0;
    bool depth_drawn = false;          // with --depth auto
    std::vector<PolicyTally> policies; // those of the options, in their order

    // Nothing was under control in any run: no thread or no scheduling point was seen.
    bool uncontrolled() const { return runs > 0 && (threads == 0 || steps == 0); }
    // Of a campaign with one policy and one depth, which was not drawn; null for others, and where
    // nothing is promised.
    const DepthTally* only_depth() const;
};

// Does the theorem hold for this run when k is the most steps seen? Its change points must have
// been drawn from a k no smaller (never true of a campaign's first run, which draws none), unless d
// = 1 needs none; it must have had points at all, must not have been cut off by the time limit, and
// the scheduler must have been called whenever it should.
bool counts_for_bound(const RunResult& run, std::uint64_t k);

// n and k are those of all runs, since all are of the same program. `drawn` false: the runs had a
// given seed, and add nothing to the probability of finding something.
Tally tally(std::span<const RunResult> runs, const ExecutorOptions& options, bool drawn = true);

} // namespace pctctl
