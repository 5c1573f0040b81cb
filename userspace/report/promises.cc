// SPDX-License-Identifier: GPL-2.0-only
#include "report/promises.h"

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "plan/policies.h"

namespace pctctl {
namespace {

constexpr double kWantedMiss = 0.05;
constexpr std::uint64_t kMostRunsAdvised = 10'000'000;

// "up to 12.4 %", rounded upwards. A probability close to 1 also shows how far from 1 it is.
std::string chance(double probability) {
    if (probability > 0.9995)
        return fmt::format("up to 100 % ({})", at_most(probability));
    if (probability <= 0)
        return "0 %";
    const double percent = 100 * probability;
    const double scale = std::pow(10, 2 - std::floor(std::log10(percent)));
    return fmt::format("up to {:.6g} %", std::ceil(percent * scale - 1e-9) / scale);
}

// " of pct" when several policies took turns.
std::string whose(const Report& report, const PolicyTally& policy) {
    return report.tally.policies.size() > 1 ? fmt::format(" of {}", policy.policy) : "";
}

// How to state a policy's promise about bugs.
struct Words {
    std::string bug;
    std::string formula;
    std::string source;
    std::uint64_t odds = 0; // one in so many; 0: too large to be exact
};

bool within_radius(const PolicyTally& policy, const DepthTally& d) {
    return policy.promise == Promise::radius && d.depth > 2; // at smaller depths rpro is PCT
}

// "of depth <= 2", "of depth 3 within 10 steps".
std::string which_bugs(const Report& report, const PolicyTally& policy, const DepthTally& d) {
    const PolicyParameters& parameters = report.options.parameters;
    if (within_radius(policy, d))
        return fmt::format("of depth {} within {} steps", d.depth,
                           parameters.value(Parameter::radius));
    return fmt::format("of depth <= {}{}", d.depth,
                       has_phases(find_policy(policy.policy)->id, parameters) ? " within one phase"
                                                                              : "");
}

Words words_for(const Report& report, const PolicyTally& policy, const DepthTally& d) {
    const Tally& t = report.tally;
    const std::string bug = fmt::format("a bug {} at these points", which_bugs(report, policy, d));
    if (within_radius(policy, d))
        return {bug, "1/(n*k*(d-1)*r^(d-2))", "RPro, by the proof of PCT's Theorem 9",
                exact_rpro_odds(t.threads, policy.k, d.depth,
                                report.options.parameters.value(Parameter::radius))};
    const pct_policy id = find_policy(policy.policy)->id;
    const bool skips = skips_sequential(id, report.options.parameters);
    return {bug, skips ? "1/(n*k_eff^(d-1))" : "1/(n*k^(d-1))",
            id == PCT_POLICY_PPCT ? "PPCT, Theorem 9" : "PCT, Theorem 9",
            exact_odds(t.threads, policy.k, d.depth)};
}

// The theorem says something about a run of that depth.
bool has_bound(const Report& report, const DepthTally& d) {
    return d.bound_run > 0 && !report.tally.uncontrolled();
}

// And there are such runs.
bool says_something(const Report& report, const DepthTally& d) {
    return has_bound(report, d) && d.counted > 0;
}

// "; --runs 60 would bring that down to 5 %"
std::string advice(const Report& report, const DepthTally& d) {
    const std::uint64_t needed = runs_needed(d.bound_run, kWantedMiss);
    if (report.replay || (needed > 0 && needed <= d.counted))
        return {};
    const std::uint64_t runs = (needed + d.runs - d.counted) * report.tally.policies.size();
    if (needed == 0 || runs > kMostRunsAdvised)
        return "; more runs would hardly change that, fewer steps would";
    return fmt::format("; --runs {} would bring that down to 5 %", runs);
}

std::string chance_of_depths(const Report& report, const PolicyTally& policy) {
    std::string list;
    const DepthTally* last = nullptr;
    for (const DepthTally& d : policy.depths) {
        if (!says_something(report, d))
            continue;
        list += fmt::format("{}{} (depth {})", list.empty() ? "" : ", ", chance(d.miss), d.depth);
        last = &d;
    }
    const std::string other = report.tally.failures > 0 ? "other " : "";
    if (!last) {
        if (policy.depths.empty() || !has_bound(report, policy.depths.front()))
            return fmt::format("Nothing can be said about {}bugs at these points.\n", other);
        return fmt::format("Nothing can be said yet about {}bugs at these points: {}.\n", other,
                           report.replay      ? "a replay draws nothing"
                           : policy.runs == 1 ? "the first run only measures the program"
                           : report.tally.nothing_finished() ? "no run was finished"
                           : report.tally.disturbed > 0
                               ? "the runs were disturbed, or expected fewer steps than there are"
                               : "no run expected as many steps as there are by now");
    }
    const std::string runs = report.tally.policies.size() > 1
                                 ? fmt::format("the runs of {}", policy.policy)
                                 : "these runs";
    const std::string bug = report.tally.failures > 0 ? "another bug" : "a bug";
    if (report.tally.depth_drawn)
        return fmt::format("If there is {} at these points, the chance that {} missed it is {}.\n",
                           bug, runs, list);
    return fmt::format("If there is {} {} at these points, the chance that {} missed it is {}{}.\n",
                       bug, which_bugs(report, policy, *last), runs, chance(last->miss),
                       advice(report, *last));
}

// The formula for one depth, its value and its source.
std::string formula_of_depth(const Report& report, const PolicyTally& policy, const DepthTally& d) {
    const Words words = words_for(report, policy, d);
    if (!has_bound(report, d))
        return fmt::format("nothing can be said about {}\n", words.bug);
    return fmt::format("one run{} finds {} with probability at least\n  {} = {}{} ({})\n  {} of "
                       "{} count; missed by all of them with probability at most {}\n",
                       whose(report, policy), words.bug, words.formula,
                       words.odds > 1 ? fmt::format("1/{} = ", words.odds) : "",
                       at_least(d.bound_run), words.source, d.counted, counted(d.runs, "run"),
                       at_most(d.miss));
}

std::string partial_orders_text(const Report& report, const PolicyTally& policy) {
    const std::string who = whose(report, policy);
    const Tally& t = report.tally;
    if (t.threads < 2 || t.uncontrolled())
        return "nothing can be said about partial orders: there is only one\n";
    const double bound = policy.log_order_bound;
    const bool printable = bound > -690; // as a double
    if (policy.races)
        return fmt::format(
            "one run{} takes a given partial order of its steps that has at most D = {} "
            "races, as\nthose seen have, with probability at least\n  (1/n)^k R^U = {} "
            "(POS, Theorem 1); it promises nothing about bugs\n",
            who, *policy.races,
            printable ? at_least(std::exp(bound))
                      : fmt::format("10^{}", std::floor(bound / std::log(10))));
    return fmt::format("one run{} takes a given partial order of its steps with probability at "
                       "least\n  1/n^k = 1/{}^{}{}, the more the fewer of them race (POS, Theorem "
                       "1); it promises nothing about bugs\n",
                       who, t.threads, t.steps, printable ? " = " + at_least(std::exp(bound)) : "");
}

} // namespace

std::string chances_text(const Report& report) {
    std::string text;
    for (const PolicyTally& policy : report.tally.policies)
        if (is_about_depths(policy.promise))
            text += chance_of_depths(report, policy);
    if (!text.empty())
        return text;
    return fmt::format("How likely a bug was missed is not known: {} nothing about bugs.\n",
                       report.tally.policies.size() == 1
                           ? fmt::format("policy {} promises", report.tally.policies[0].policy)
                           : "these policies promise");
}

std::string doubts_text(const Report& report) {
    std::string text;
    for (const PolicyTally& policy : report.tally.policies) {
        std::uint64_t runs = 0, counted_runs = 0;
        std::string strictly;
        for (const DepthTally& d : policy.depths) {
            runs += d.runs;
            counted_runs += d.counted;
            if (says_something(report, d))
                strictly += fmt::format("{}{} (depth {})", strictly.empty() ? "" : ", ",
                                        chance(d.miss_unperturbed), d.depth);
        }
        if (counted_runs > 0 && counted_runs < runs && !report.replay &&
            !report.tally.uncontrolled())
            text += fmt::format(
                "{} of {}{} count for that chance: the first one only measures, and a run "
                "that expected\nfewer steps than there are, or that ran out of time, does not "
                "count either\n",
                counted_runs, counted(runs, "run"), whose(report, policy));
        if (policy.interventions > 0 && !policy.depths.empty())
            text += fmt::format(
                "{} in {}: a thread was demoted because it made no progress (it polled, yielded or "
                "spun)\nwhile others waited, or a wait inside the kernel took more than ten "
                "seconds.\nThe theorem does not cover such runs; without them the chance is {}\n",
                counted(policy.interventions, "intervention"), counted(policy.perturbed, "run"),
                strictly.empty() ? "not known" : strictly);
    }
    return text;
}

std::string formulas_text(const Report& report) {
    std::string text;
    for (const PolicyTally& policy : report.tally.policies) {
        if (policy.promise == Promise::partial_orders)
            text += partial_orders_text(report, policy);
        else if (policy.promise == Promise::nothing)
            text += fmt::format("policy {} promises nothing about the bugs that were not found\n",
                                policy.policy);
        else if (policy.depths.empty())
            text += "nothing can be said about bugs at these points\n";
        for (const DepthTally& d : policy.depths)
            text += formula_of_depth(report, policy, d);
        if (report.tally.depth_drawn && policy.depths.size() > 1 &&
            policy.promise == Promise::depth)
            text += "  (a run of a greater depth counts for the smaller ones as well)\n";
    }
    return text;
}

unsigned deepest_promise(const Report& report) {
    unsigned deepest = 0;
    for (const PolicyTally& policy : report.tally.policies)
        if (!policy.depths.empty() && has_bound(report, policy.depths.back()))
            deepest = std::max(deepest, policy.depths.back().depth);
    return deepest;
}

} // namespace pctctl
