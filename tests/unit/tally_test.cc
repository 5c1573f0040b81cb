// SPDX-License-Identifier: GPL-2.0-only
#include "tally.h"

#include <vector>

#include <gtest/gtest.h>

#include "fake_executor.h"

namespace pctctl {
namespace {

RunResult run_of(std::uint32_t number, std::uint32_t k, std::uint64_t steps,
                 std::uint32_t threads = 2) {
    RunResult run = passing_run(steps, threads);
    run.number = number;
    run.seed.k = k;
    return run;
}

TEST(Tally, OfNothing) {
    const Tally t = tally({}, 2);
    EXPECT_EQ(t.runs, 0U);
    EXPECT_EQ(t.bound_run, 0);
    EXPECT_EQ(t.bound_campaign, 0);
    EXPECT_EQ(t.violations, std::nullopt);
    EXPECT_FALSE(t.uncontrolled());
}

TEST(Tally, NAndKAreTheLargestSeen) {
    const std::vector<RunResult> runs = {run_of(1, 0, 10, 2), run_of(2, 10, 8, 3),
                                         run_of(3, 10, 10, 2)};
    const Tally t = tally(runs, 2);
    EXPECT_EQ(t.threads, 3U);
    EXPECT_EQ(t.steps, 10U);
    EXPECT_DOUBLE_EQ(t.bound_run, 1.0 / 30);
}

TEST(Tally, TheMeasuringRunDoesNotCountAtDepthTwo) {
    const std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 10), run_of(3, 10, 9)};
    const Tally t = tally(runs, 2);
    EXPECT_EQ(t.counted, 2U);
    // n = 2, k = 10: p = 1/20; two runs: 1 - 0.95^2 = 0.0975
    EXPECT_DOUBLE_EQ(t.bound_run, 0.05);
    EXPECT_NEAR(t.bound_campaign, 0.0975, 1e-12);
}

TEST(Tally, AllRunsCountAtDepthOne) {
    const std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 12), run_of(3, 12, 9)};
    const Tally t = tally(runs, 1);
    EXPECT_EQ(t.counted, 3U);
    EXPECT_DOUBLE_EQ(t.bound_run, 0.5);
    EXPECT_DOUBLE_EQ(t.bound_campaign, 0.875);
}

TEST(Tally, RunsDrawnFromASmallerKDoNotCount) {
    // Run 3 has shown 20 steps: what runs 2 and 3 drew from 10 does not cover all steps.
    const std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 10), run_of(3, 10, 20),
                                         run_of(4, 20, 15), run_of(5, 20, 20)};
    EXPECT_EQ(tally(runs, 2).counted, 2U);
    // The last run may be the one that shows more: then none counts.
    const std::vector<RunResult> late = {run_of(1, 0, 10), run_of(2, 10, 10), run_of(3, 10, 20)};
    EXPECT_EQ(tally(late, 2).counted, 0U);
    EXPECT_EQ(tally(late, 2).bound_campaign, 0);
}

TEST(Tally, RunsCutOffByTheTimeLimitDoNotCount) {
    std::vector<RunResult> runs = {run_of(1, 0, 10), run_of(2, 10, 10)};
    runs[1].outcome = Outcome::timeout;
    EXPECT_EQ(tally(runs, 2).counted, 0U);
    EXPECT_EQ(tally(runs, 1).counted, 1U);
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
    EXPECT_EQ(t.perturbed, 2U);
    EXPECT_EQ(t.counted, 2U);
    EXPECT_EQ(t.counted_unperturbed, 1U);
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
    EXPECT_EQ(tally(std::vector{run_of(1, 0, 0), run_of(2, 0, 0)}, 1).bound_campaign, 0);
}

} // namespace
} // namespace pctctl
