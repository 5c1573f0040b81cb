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

// The runs of one depth, of a policy that promises something about depths.
struct DepthTally {
    unsigned depth = 0;
    std::uint64_t runs = 0;
    std::uint64_t counted = 0;             // for which the theorem holds with this n and k
    std::uint64_t counted_unperturbed = 0; // the counted runs without interventions
    double bound_run = 0;        // one run finds a given bug of the depth with at least this
    double bound_campaign = 0;   // all counted runs together do; includes runs of greater depth if
                                 // the promise covers them
    double miss = 1;             // 1 - bound_campaign, without rounding
    double miss_unperturbed = 1; // the same for the runs without interventions alone
};

struct PolicyTally {
    std::string policy;
    Promise promise = Promise::nothing;
    std::uint64_t runs = 0;
    std::uint64_t failures = 0;
    std::optional<std::uint32_t> first_failure; // lowest number
    std::uint64_t unfinished = 0;               // runs; neither passed nor failed
    std::uint64_t interventions = 0;
    std::uint64_t perturbed = 0;        // runs with interventions
    std::uint64_t k = 0;                // steps at which its change points can be: all, or k_eff
    std::vector<DepthTally> depths;     // ascending; empty unless the promise is about depths
    double log_order_bound = 0;         // logarithm of the bound for a partial order
    std::optional<std::uint64_t> races; // in that partial order; not set: any number

    double rate() const {
        return runs ? static_cast<double>(failures) / static_cast<double>(runs) : 0;
    }
};

struct Tally {
    std::uint64_t runs = 0;
    std::uint64_t failures = 0;
    std::optional<std::uint32_t> first_failure; // lowest number
    std::uint64_t unfinished = 0;               // runs; neither passed nor failed
    std::uint32_t threads = 0;                  // n: the most threads of a run
    std::uint64_t arrivals = 0;                 // at points, the most of a run
    std::uint64_t steps = 0;                    // k: the most steps of a run
    std::uint64_t k_eff = 0;                    // the largest of a run
    std::uint32_t known = 0;      // names of shared objects that the last run began with
    std::uint32_t known_from = 0; // the first run that began with that many
    std::uint64_t orders = 0;     // different orders of steps
    std::uint64_t interventions = 0;
    std::uint64_t disturbed = 0;             // runs that do not count, see RunResult::disturbed()
    std::uint64_t skipped_calls = 0;         // in these
    std::uint64_t unlocked_hooks = 0;        // in these
    std::optional<std::uint64_t> violations; // in the verified runs; not set: there are none
    std::uint64_t unverified = 0;
    bool depth_drawn = false;          // with --depth auto
    std::vector<PolicyTally> policies; // those of the options, in their order

    // Was nothing under control in any run? Then no thread or no scheduling point was seen.
    bool uncontrolled() const { return runs > 0 && (threads == 0 || arrivals == 0); }
    // Did its time limit cut off every run, although all of them got on?
    bool nothing_finished() const { return runs > 0 && unfinished == runs; }
    // The only depth of a campaign, if it has one policy and a given depth. Else null, as with a
    // policy that promises nothing.
    const DepthTally* only_depth() const;
};

// Does the theorem hold for this run, k being the most steps seen? Its change points must have been
// drawn from a k that is no smaller. This is never so for a campaign's first run, which draws none;
// but d = 1 needs none. Besides, the run must have made steps, its time limit must not have cut it
// off, and the scheduler must have been called whenever it should have been.
bool counts_for_bound(const RunResult& run, std::uint64_t k);

// n and k are taken over all runs, since the program is the same. `drawn` false: the runs had a
// given seed, so they add nothing to the probability of finding a bug.
Tally tally(std::span<const RunResult> runs, const ExecutorOptions& options, bool drawn = true);

} // namespace pctctl
