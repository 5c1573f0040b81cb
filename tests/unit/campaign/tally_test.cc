// SPDX-License-Identifier: GPL-2.0-only
#include "campaign/tally.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/fake_executor.h"

namespace pctctl {
namespace {

RunResult run_of(std::uint32_t number, std::uint32_t k, std::uint64_t steps,
                 std::uint32_t threads = 2) {
    RunResult run = passing_run(steps, threads);
    run.number = number;
    run.seed.k = k;
    return run;
}

Tally tally(std::vector<RunResult> runs, unsigned depth) {
    ExecutorOptions options;
    options.depth = depth;
    for (RunResult& run : runs)
        run.algorithm.depth = depth;
    return tally(runs, options);
}

// The bound of a campaign with one policy and one depth.
DepthTally bound_of(const Tally& t) {
    if (t.only_depth())
        return *t.only_depth();
    ADD_FAILURE() << "not one policy and one depth";
    return {};
}

DepthTally bound_of(const std::vector<RunResult>& runs, unsigned depth) {
    return bound_of(tally(runs, depth));
}

TEST(Tally, OfNothing) {
    const Tally t = tally({}, 2);
    EXPECT_EQ(t.runs, 0U);
    EXPECT_EQ(t.only_depth(), nullptr);
    EXPECT_EQ(t.violations, std::nullopt);
    EXPECT_FALSE(t.uncontrolled());
}

TEST(Tally, NAndKAreTheLargestSeen) {
    const std::vector<RunResult> runs = {run_of(1, 0, 10, 2), run_of(2, 10, 8, 3),
                                         run_of(3, 10, 10, 2)};
    const Tally t = tally(runs, 2);
    EXPECT_EQ(t.threads, 3U);
    EXPECT_EQ(t.steps, 10U);
    EXPECT_DOUBLE_EQ(bound_of(t).bound_run, 1.0 / 30);
}

TEST(Tally, TheMeasuringRunDoesNotCountAtDepthTwo) {
    const std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 10), run_of(3, 10, 9)};
    const DepthTally t = bound_of(runs, 2);
    EXPECT_EQ(t.counted, 2U);
    // n = 2, k = 10: p = 1/20; two runs: 1 - 0.95^2 = 0.0975
    EXPECT_DOUBLE_EQ(t.bound_run, 0.05);
    EXPECT_NEAR(t.bound_campaign, 0.0975, 1e-12);
}

TEST(Tally, AllRunsCountAtDepthOne) {
    const std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 12), run_of(3, 12, 9)};
    const DepthTally t = bound_of(runs, 1);
    EXPECT_EQ(t.counted, 3U);
    EXPECT_DOUBLE_EQ(t.bound_run, 0.5);
    EXPECT_DOUBLE_EQ(t.bound_campaign, 0.875);
}

TEST(Tally, RunsDrawnFromASmallerKDoNotCount) {
    // Run 3 made 20 steps. Runs 2 and 3 drew their change points from 10, not from all of them.
    const std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 10), run_of(3, 10, 20),
                                         run_of(4, 20, 15), run_of(5, 20, 20)};
    EXPECT_EQ(bound_of(runs, 2).counted, 2U);
    // If it is the last run that makes more steps, none counts.
    const std::vector<RunResult> late = {run_of(1, 0, 10), run_of(2, 10, 10), run_of(3, 10, 20)};
    EXPECT_EQ(bound_of(late, 2).counted, 0U);
    EXPECT_EQ(bound_of(late, 2).bound_campaign, 0);
}

TEST(Tally, RunsCutOffByTheTimeLimitDoNotCount) {
    std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 10)};
    for (const Outcome outcome : {Outcome::timeout, Outcome::unfinished}) {
        runs[1].outcome = outcome;
        EXPECT_EQ(bound_of(runs, 2).counted, 0U);
        EXPECT_EQ(bound_of(runs, 1).counted, 1U);
    }
}

TEST(Tally, UnfinishedRunsAreCountedApart) {
    std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 10), run_of(3, 10, 10)};
    EXPECT_EQ(tally(runs, 2).unfinished, 0U);
    runs[0].outcome = runs[2].outcome = Outcome::unfinished;
    runs[1].outcome = Outcome::timeout;
    Tally t = tally(runs, 2);
    EXPECT_EQ(t.unfinished, 2U);
    EXPECT_EQ(t.policies[0].unfinished, 2U);
    EXPECT_EQ(t.failures, 1U);
    EXPECT_EQ(t.first_failure, 2U);
    EXPECT_FALSE(t.nothing_finished());
    runs[1].outcome = Outcome::unfinished;
    t = tally(runs, 2);
    EXPECT_TRUE(t.nothing_finished());
    EXPECT_EQ(t.failures, 0U);
    EXPECT_FALSE(tally(std::vector<RunResult>{}, 2).nothing_finished());
}

TEST(Tally, DisturbedRunsDoNotCount) {
    std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 10), run_of(3, 10, 10),
                                   run_of(4, 10, 10), run_of(5, 10, 10)};
    EXPECT_EQ(bound_of(tally(runs, 2)).counted, 4U);
    runs[2].skipped_calls = 3;
    runs[3].unlocked_hooks = 1;
    runs[4].skipped_calls = 1;
    runs[4].unlocked_hooks = 1;
    const Tally t = tally(runs, 2);
    EXPECT_EQ(t.disturbed, 3U);
    EXPECT_EQ(t.skipped_calls, 4U);
    EXPECT_EQ(t.unlocked_hooks, 2U);
    EXPECT_EQ(bound_of(t).counted, 1U);
    EXPECT_EQ(bound_of(t).counted_unperturbed, 1U);
}

TEST(Tally, FailuresAndTheFirstOfThem) {
    std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 10), run_of(3, 10, 10)};
    EXPECT_EQ(tally(runs, 2).first_failure, std::nullopt);
    runs[1].outcome = Outcome::exit;
    runs[2].outcome = Outcome::deadlock;
    EXPECT_EQ(tally(runs, 2).failures, 2U);
    EXPECT_EQ(tally(runs, 2).first_failure, 2U);
}

TEST(Tally, InterventionsAndTheRunsTheyTouched) {
    std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 10), run_of(3, 10, 10)};
    runs[0].interventions = 3;
    runs[2].interventions = 4;
    const Tally t = tally(runs, 2);
    EXPECT_EQ(t.interventions, 7U);
    EXPECT_EQ(t.policies[0].perturbed, 2U);
    const DepthTally bound = bound_of(t);
    EXPECT_EQ(bound.counted, 2U);
    EXPECT_EQ(bound.counted_unperturbed, 1U);
    EXPECT_NEAR(bound.miss, 0.9025, 1e-12);
    EXPECT_NEAR(bound.miss_unperturbed, 0.95, 1e-12);
}

TEST(Tally, ViolationsOnlyOfVerifiedRuns) {
    std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 10)};
    EXPECT_EQ(tally(runs, 2).violations, std::nullopt);
    runs[0].violations = 0;
    EXPECT_EQ(tally(runs, 2).violations, 0U);
    EXPECT_EQ(tally(runs, 2).unverified, 1U);
    runs[1].violations = 5;
    EXPECT_EQ(tally(runs, 2).violations, 5U);
    EXPECT_EQ(tally(runs, 2).unverified, 0U);
}

TEST(Tally, NoticesWhenNothingWasControlled) {
    EXPECT_TRUE(tally(std::vector{run_of(1, 0, 0), run_of(2, 0, 0)}, 2).uncontrolled());
    EXPECT_TRUE(tally(std::vector{run_of(1, 0, 5, 0)}, 2).uncontrolled());
    EXPECT_FALSE(tally(std::vector{run_of(1, 0, 0), run_of(2, 0, 1)}, 2).uncontrolled());
    EXPECT_EQ(bound_of(std::vector{run_of(1, 0, 0), run_of(2, 0, 0)}, 1).bound_campaign, 0);
}

// Six runs of 2 threads and 10 steps that take turns; runs 3 and 5 fail.
std::vector<RunResult> runs_in_turns(const std::vector<std::string>& policies, unsigned depth) {
    std::vector<RunResult> runs;
    for (std::uint32_t i = 1; i <= 6; ++i) {
        runs.push_back(run_of(i, i == 1 ? 0 : 10, 10));
        runs.back().algorithm = {policies[(i - 1) % policies.size()], depth};
    }
    runs[2].outcome = runs[4].outcome = Outcome::deadlock;
    return runs;
}

TEST(Tally, OfAPortfolioIsByPolicy) {
    ExecutorOptions options;
    options.policy = "random-walk,pct";
    options.depth = 2;
    const Tally t = tally(runs_in_turns({"random-walk", "pct"}, 2), options);
    EXPECT_EQ(t.failures, 2U);
    EXPECT_EQ(t.only_depth(), nullptr);
    ASSERT_EQ(t.policies.size(), 2U);
    const PolicyTally& walk = t.policies[0];
    EXPECT_EQ(walk.policy, "random-walk");
    EXPECT_EQ(walk.runs, 3U);
    EXPECT_EQ(walk.failures, 2U);
    EXPECT_EQ(walk.first_failure, 3U);
    EXPECT_DOUBLE_EQ(walk.rate(), 2.0 / 3);
    EXPECT_EQ(walk.promise, Promise::nothing);
    EXPECT_TRUE(walk.depths.empty());
    const PolicyTally& pct = t.policies[1];
    EXPECT_EQ(pct.runs, 3U);
    EXPECT_EQ(pct.first_failure, std::nullopt);
    EXPECT_EQ(pct.rate(), 0);
    ASSERT_EQ(pct.depths.size(), 1U);
    // From its three runs alone, which all know k: 1 - 0.95^3.
    EXPECT_EQ(pct.depths[0].counted, 3U);
    EXPECT_NEAR(pct.depths[0].bound_campaign, 0.142625, 1e-12);
}

TEST(Tally, APolicyWithoutRunsIsThereNevertheless) {
    ExecutorOptions options;
    options.policy = "pct,pos,stride";
    std::vector<RunResult> runs = {run_of(1, 0, 10)};
    const Tally t = tally(runs, options);
    ASSERT_EQ(t.policies.size(), 3U);
    EXPECT_EQ(t.policies[2].policy, "stride");
    EXPECT_EQ(t.policies[2].runs, 0U);
    EXPECT_EQ(t.policies[2].rate(), 0);
}

TEST(Tally, EachPolicyHasItsOwnFormula) {
    ExecutorOptions options;
    options.policy = "rpro,pos";
    options.depth = 3;
    options.parameters.set(Parameter::radius, 5);
    const Tally t = tally(runs_in_turns({"rpro", "pos"}, 3), options);
    ASSERT_EQ(t.policies[0].depths.size(), 1U);
    EXPECT_DOUBLE_EQ(t.policies[0].depths[0].bound_run, 1.0 / 200); // 2 * 10 * 2 * 5
    EXPECT_EQ(t.policies[0].depths[0].counted, 2U);                 // without the measuring run
    EXPECT_TRUE(t.policies[1].depths.empty());
    EXPECT_NEAR(std::exp(t.policies[1].log_order_bound), 1.0 / 1024, 1e-15);
}

// Six runs with depths 1, 2, 3, 2, 3, 2. All but the first know k = 10.
std::vector<RunResult> runs_of_drawn_depths(const std::string& policy) {
    std::vector<RunResult> runs;
    for (const unsigned depth : {1, 2, 3, 2, 3, 2}) {
        const auto number = static_cast<std::uint32_t>(runs.size() + 1);
        runs.push_back(run_of(number, number == 1 ? 0 : 10, 10));
        runs.back().algorithm = {policy, depth};
    }
    return runs;
}

TEST(Tally, OfDrawnDepthsIsByDepth) {
    ExecutorOptions options;
    options.depth = kDepthAuto;
    std::vector<RunResult> runs = runs_of_drawn_depths("pct");
    runs[1].interventions = 1;
    const Tally t = tally(runs, options);
    EXPECT_TRUE(t.depth_drawn);
    EXPECT_EQ(t.only_depth(), nullptr);
    ASSERT_EQ(t.policies[0].depths.size(), 3U);
    const auto& [one, two, three] =
        std::array{t.policies[0].depths[0], t.policies[0].depths[1], t.policies[0].depths[2]};
    EXPECT_EQ(one.depth, 1U);
    EXPECT_EQ(one.counted, 1U); // the measuring run has depth 1
    EXPECT_EQ(two.runs, 3U);
    EXPECT_EQ(two.counted, 3U);
    EXPECT_EQ(three.counted, 2U);
    // 1/2, 1/20 and 1/200 for a run. Deeper runs find shallower bugs, too, with that probability.
    EXPECT_DOUBLE_EQ(three.bound_run, 0.005);
    EXPECT_NEAR(three.miss, 0.995 * 0.995, 1e-12);
    EXPECT_NEAR(two.miss, 0.995 * 0.995 * 0.95 * 0.95 * 0.95, 1e-12);
    EXPECT_NEAR(one.miss, 0.995 * 0.995 * 0.95 * 0.95 * 0.95 * 0.5, 1e-12);
    EXPECT_NEAR(two.miss_unperturbed, 0.995 * 0.995 * 0.95 * 0.95, 1e-12);
    EXPECT_NEAR(one.bound_campaign, 1 - one.miss, 1e-12);
}

TEST(Tally, OfDrawnDepthsOfRproEachDepthIsForItself) {
    ExecutorOptions options;
    options.policy = "rpro";
    options.depth = kDepthAuto;
    options.parameters.set(Parameter::radius, 5);
    const Tally t = tally(runs_of_drawn_depths("rpro"), options);
    ASSERT_EQ(t.policies[0].depths.size(), 3U);
    EXPECT_NEAR(t.policies[0].depths[2].miss, 0.995 * 0.995, 1e-12); // 2 * 10 * 2 * 5
    EXPECT_NEAR(t.policies[0].depths[1].miss, 0.95 * 0.95 * 0.95, 1e-12);
    EXPECT_NEAR(t.policies[0].depths[0].miss, 0.5, 1e-12);
}

// One thread, one step: there is nothing to decide. No result may be NaN.
TEST(Tally, CertaintyIsANumber) {
    ExecutorOptions options;
    options.policy = "rpro";
    options.depth = kDepthAuto;
    std::vector<RunResult> runs = runs_of_drawn_depths("rpro");
    for (RunResult& run : runs)
        run.steps = run.threads = 1;
    const Tally all = tally(runs, options);
    for (const DepthTally& d : all.policies[0].depths) {
        EXPECT_GE(d.miss, 0);
        EXPECT_LE(d.miss, 1);
    }
}

TEST(Tally, RunsOfAGivenSeedAddNothing) {
    ExecutorOptions options;
    options.depth = 2;
    const DepthTally t =
        bound_of(tally(std::vector{run_of(1, 10, 10), run_of(2, 10, 10)}, options, false));
    EXPECT_EQ(t.counted, 0U);
    EXPECT_DOUBLE_EQ(t.bound_run, 0.05);
    EXPECT_EQ(t.bound_campaign, 0);
    EXPECT_EQ(t.miss, 1);
}

} // namespace
} // namespace pctctl
