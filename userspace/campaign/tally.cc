// SPDX-License-Identifier: GPL-2.0-only
#include "campaign/tally.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "plan/policies.h"

namespace pctctl {
namespace {

// Counts a run in what Tally and PolicyTally have in common.
template <typename T> void count(T& t, const RunResult& run) {
    ++t.runs;
    t.interventions += run.interventions;
    t.unfinished += run.outcome == Outcome::unfinished;
    if (run.failed()) {
        ++t.failures;
        t.first_failure = std::min(t.first_failure.value_or(run.number), run.number);
    }
}

// Computes the bounds from the numbers of runs of each depth.
void add_bounds(PolicyTally& policy, const Tally& all, const PolicyParameters& parameters) {
    double all_deeper = 0;
    double unperturbed_deeper = 0;
    for (auto d = policy.depths.rbegin(); d != policy.depths.rend(); ++d) {
        const bool radius = policy.promise == Promise::radius;
        d->bound_run = radius ? rpro_bound(all.threads, policy.k, d->depth,
                                           parameters.value(Parameter::radius))
                              : run_bound(all.threads, policy.k, d->depth);
        // See bound.h: rpro's promise does not cover bugs of smaller depth.
        if (radius)
            all_deeper = unperturbed_deeper = 0;
        all_deeper += log_miss(d->bound_run, d->counted);
        unperturbed_deeper += log_miss(d->bound_run, d->counted_unperturbed);
        d->bound_campaign = 0 - std::expm1(all_deeper); // 0, not -0
        d->miss = std::exp(all_deeper);
        d->miss_unperturbed = std::exp(unperturbed_deeper);
    }
}

// The bound for the partial order with the most races that the policy's runs have shown. It takes n
// and k of all runs, since the bound falls with threads, steps and races. If the races are not
// known it is the least value over all numbers of races.
void add_order_bound(PolicyTally& policy, std::span<const RunResult> runs, const Tally& all) {
    bool all_known = true;
    for (const RunResult& run : runs) {
        if (run.algorithm.policy != policy.policy || run.steps == 0)
            continue;
        all_known = all_known && run.races;
        policy.races = std::max(policy.races.value_or(0), run.races.value_or(0));
    }
    if (!all_known)
        policy.races.reset();
    policy.log_order_bound = log_pos_bound(all.threads, all.steps, policy.races.value_or(~0ULL));
}

PolicyTally tally_policy(const std::string& name, std::span<const RunResult> runs, const Tally& all,
                         const ExecutorOptions& options, bool drawn) {
    const pct_policy id = find_policy(name)->id;
    PolicyTally t;
    t.policy = name;
    t.promise = promise_of(id);
    t.k = skips_sequential(id, options.parameters) ? all.k_eff : all.steps;
    std::set<unsigned> depths;
    for (const RunResult& run : runs)
        if (is_about_depths(t.promise) && run.algorithm.policy == name)
            depths.insert(run.algorithm.depth);
    for (const unsigned depth : depths)
        t.depths.push_back({.depth = depth});
    for (const RunResult& run : runs) {
        if (run.algorithm.policy != name)
            continue;
        count(t, run);
        t.perturbed += run.interventions > 0;
        for (DepthTally& d : t.depths) {
            if (d.depth != run.algorithm.depth)
                continue;
            ++d.runs;
            const bool counts = drawn && counts_for_bound(run, t.k);
            d.counted += counts;
            d.counted_unperturbed += counts && run.interventions == 0;
        }
    }
    add_bounds(t, all, options.parameters);
    if (t.promise == Promise::partial_orders)
        add_order_bound(t, runs, all);
    return t;
}

} // namespace

const DepthTally* Tally::only_depth() const {
    return !depth_drawn && policies.size() == 1 && policies[0].depths.size() == 1
               ? policies[0].depths.data()
               : nullptr;
}

bool counts_for_bound(const RunResult& run, std::uint64_t k) {
    return run.steps > 0 && !run.cut_off() && !run.disturbed() &&
           (run.algorithm.depth <= 1 || run.seed.k >= k);
}

Tally tally(std::span<const RunResult> runs, const ExecutorOptions& options, bool drawn) {
    Tally t;
    std::set<std::pair<std::uint64_t, std::uint64_t>> orders;
    for (const RunResult& run : runs) {
        count(t, run);
        orders.emplace(run.order_hash, run.steps);
        if (run.known > t.known || t.known_from == 0) {
            t.known = run.known;
            t.known_from = run.number;
        }
        t.disturbed += run.disturbed();
        t.skipped_calls += run.skipped_calls;
        t.unlocked_hooks += run.unlocked_hooks;
        t.threads = std::max(t.threads, run.threads);
        t.arrivals = std::max(t.arrivals, run.arrivals);
        t.steps = std::max(t.steps, run.steps);
        t.k_eff = std::max(t.k_eff, k_eff(run, options.parameters));
        if (run.violations)
            t.violations = t.violations.value_or(0) + *run.violations;
        else
            ++t.unverified;
    }
    t.orders = orders.size();
    t.depth_drawn = options.depth == kDepthAuto;
    const auto names = portfolio(options.policy);
    for (const std::string& name : *names)
        t.policies.push_back(tally_policy(name, runs, t, options, drawn));
    return t;
}

} // namespace pctctl
