// SPDX-License-Identifier: GPL-2.0-only
// The zoo's bugs are found within the number of runs that PCT's bound allows, with the outcome that
// their headers name. Their fixed twins and the healthy programs never fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness.h"

namespace vmtest {
namespace {

std::vector<Animal> chosen(bool sick) {
    std::vector<Animal> all = zoo();
    std::erase_if(all, [sick](const Animal& one) { return one.healthy == sick || one.is_rate(); });
    return all;
}

class Bug : public testing::TestWithParam<Animal> {};

TEST_P(Bug, IsFoundWithinTheRunsTheBoundAllows) {
    const Animal& bug = GetParam();
    // More than any needs; the search ends at the first failure.
    const Call call =
        pctctl({"--seed", "20231", "--runs", "40000", "--jobs", bug.jobs(), "--timeout", "30",
                "--depth", std::to_string(bug.depth), "--points", bug.points, "--", bug.path()},
               std::chrono::seconds(600));
    ASSERT_EQ(1, call.status) << call;
    ASSERT_TRUE(call.reported) << call;
    const Summary& found = call.summary;
    ASSERT_TRUE(found.first_failure) << call;
    ASSERT_GE(found.threads, 1U) << call;
    ASSERT_GE(found.steps, 1U) << call;

    // No change points are drawn in the run that measures k: it is one more.
    const double bound = 1 / (static_cast<double>(found.threads) *
                              std::pow(static_cast<double>(found.steps), bug.depth - 1));
    const std::uint64_t allowed = runs_needed(bound, 0.001) + (bug.depth > 1 ? 1 : 0);
    EXPECT_LE(*found.first_failure, allowed) << call;
    RecordProperty("first_failure", std::to_string(*found.first_failure));
    RecordProperty("allowed", std::to_string(allowed));
    std::cout << bug.name << ": run " << *found.first_failure << " of " << allowed
              << " allowed, n = " << found.threads << ", k = " << found.steps << "\n";

    for (const RunResult& run : found.results)
        if (run.outcome != "pass") {
            EXPECT_EQ(bug.outcome, run.outcome) << call;
            if (bug.outcome == "exit") {
                EXPECT_EQ(1, run.exit_code) << call;
            }
        }
}

INSTANTIATE_TEST_SUITE_P(Zoo, Bug, testing::ValuesIn(chosen(true)),
                         name_of<testing::TestParamInfo<Animal>>);

class Healthy : public testing::TestWithParam<Animal> {};

// Runs of these take seconds each.
bool slow(const Animal& animal) {
    return animal.heavy() || animal.timers || animal.name == "healthy_compute" ||
           animal.name == "healthy_busy_pair" || animal.name.starts_with("healthy_spin");
}

TEST_P(Healthy, NeverFails) {
    const Animal& healthy = GetParam();
    const char* runs = long_tests() ? "200" : !slow(healthy) ? "60" : healthy.heavy() ? "4" : "10";
    const Call call = pctctl({"--seed", "20232", "--runs", runs, "--keep-going", "--jobs",
                              healthy.jobs(), "--", healthy.path()},
                             std::chrono::seconds(long_tests() ? 3600 : 200));
    EXPECT_EQ(0, call.status) << call;
    ASSERT_TRUE(call.reported) << call;
    EXPECT_EQ(0U, call.summary.failures) << call;
    EXPECT_EQ(std::stoul(runs), call.summary.runs_done) << call;
    // The program was under control, all of it.
    EXPECT_EQ(healthy.threads, call.summary.threads) << call;
    EXPECT_GE(call.summary.steps, healthy.threads - 1) << call;
}

INSTANTIATE_TEST_SUITE_P(Zoo, Healthy, testing::ValuesIn(chosen(false)),
                         name_of<testing::TestParamInfo<Animal>>);

// A main process that ends well does not hide that what it leaves can never go on.
TEST(LeftBehind, IsLookedAtForADeadlock) {
    const Call stuck =
        pctctl({"--runs", "5", "--seed", "1", "--", built("programs/left_behind"), "deadlock"});
    EXPECT_EQ(1, stuck.status) << stuck;
    ASSERT_FALSE(stuck.summary.results.empty()) << stuck;
    EXPECT_EQ("deadlock", stuck.summary.results.back().outcome) << stuck;
    for (const char* idle : {"semaphore", "signal"}) {
        const Call waiting =
            pctctl({"--runs", "5", "--seed", "1", "--", built("programs/left_behind"), idle});
        EXPECT_EQ(0, waiting.status) << waiting;
    }
}

// Nor does what it leaves in the kernel without a process come into the next run.
TEST(LeftBehind, IsNotFoundByTheNextRun) {
    const Call call =
        pctctl({"--runs", "5", "--seed", "1", "--", built("programs/left_behind"), "queue"});
    EXPECT_EQ(0, call.status) << call;
    EXPECT_EQ(5U, call.summary.runs_done) << call;
}

} // namespace
} // namespace vmtest
