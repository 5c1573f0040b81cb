// SPDX-License-Identifier: GPL-2.0-only
#include "tally.h"

#include <algorithm>

#include "bound.h"

namespace pctctl {

bool counts_for_bound(const RunResult& run, unsigned depth, std::uint64_t k) {
    return run.steps > 0 && run.outcome != Outcome::timeout && (depth <= 1 || run.seed.k >= k);
}

Tally tally(std::span<const RunResult> runs, unsigned depth, bool bounded) {
    Tally t;
    t.depth = depth;
    t.bounded = bounded;
    t.runs = runs.size();
    for (const RunResult& run : runs) {
        t.threads = std::max(t.threads, run.threads);
        t.steps = std::max(t.steps, run.steps);
        t.interventions += run.interventions;
        t.perturbed += run.interventions > 0;
        if (run.failed()) {
            ++t.failures;
            t.first_failure = std::min(t.first_failure.value_or(run.number), run.number);
        }
        if (run.violations)
            t.violations = t.violations.value_or(0) + *run.violations;
        else
            ++t.unverified;
    }
    for (const RunResult& run : runs) {
        if (counts_for_bound(run, depth, t.steps)) {
            ++t.counted;
            t.counted_unperturbed += run.interventions == 0;
        }
    }
    if (!bounded)
        return t;
    t.bound_run = run_bound(t.threads, t.steps, depth);
    t.bound_campaign = campaign_bound(t.bound_run, t.counted);
    return t;
}

} // namespace pctctl
