// SPDX-License-Identifier: GPL-2.0-only
// The zoo's bugs are found within the number of runs that PCT's bound allows, with the outcome that
// their headers name. Their fixed twins and the healthy programs never fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "harness.h"

namespace vmtest {
namespace {

std::vector<Animal> chosen(bool sick) {
    std::vector<Animal> all = zoo();
    std::erase_if(all, [sick](const Animal& one) { return one.healthy == sick || one.is_rate(); });
    return all;
}

// The probability, for each of 25 programs, that a correct pctctl needs more runs than this test
// allows. The seed is fixed, so this risk is not run again each time, but only when a change alters
// what the seed leads to.
constexpr double kMiss = 1e-5;

class Bug : public testing::TestWithParam<Animal> {};

TEST_P(Bug, IsFoundWithinTheRunsTheBoundAllows) {
    const Animal& bug = GetParam();
    // More runs than any program needs: the campaign ends at its first failure.
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

    // The first run measures k and has no change points: one more run is allowed.
    const double bound = 1 / (static_cast<double>(found.threads) *
                              std::pow(static_cast<double>(found.steps), bug.depth - 1));
    const std::uint64_t allowed = runs_needed(bound, kMiss) + (bug.depth > 1 ? 1 : 0);
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

// A run of these programs takes seconds.
bool slow(const Animal& animal) {
    return animal.heavy() || animal.timers || animal.name == "healthy_compute" ||
           animal.name == "healthy_busy_pair" || animal.name.starts_with("healthy_spin");
}

class Healthy : public testing::TestWithParam<Animal> {};

// With --verify, so also: no thread executes out of turn. But not for programs with hundreds of
// threads, which make more records than the witness can keep.
void never_fails(const Animal& healthy, const std::string& runs) {
    Arguments arguments = {"--seed",       "20232",  "--runs",      runs,
                           "--keep-going", "--jobs", healthy.jobs()};
    if (!healthy.heavy())
        arguments.emplace_back("--verify");
    arguments.insert(arguments.end(), {"--", healthy.path()});
    const Call call = pctctl(arguments, std::chrono::seconds(long_tests() ? 3600 : 200));
    EXPECT_EQ(0, call.status) << call;
    ASSERT_TRUE(call.reported) << call;
    EXPECT_EQ(0U, call.summary.failures) << call;
    EXPECT_EQ(0U, call.summary.violations.value_or(0)) << call;
    EXPECT_EQ(std::stoul(runs), call.summary.runs_done) << call;
    // All threads of the program were under control.
    EXPECT_EQ(healthy.threads, call.summary.threads) << call;
    EXPECT_GE(call.summary.steps, healthy.threads - 1) << call;
}

std::vector<Animal> tested_alone() {
    std::vector<Animal> all = chosen(false);
    std::erase_if(all, [](const Animal& one) { return !long_tests() && !slow(one); });
    return all;
}

TEST_P(Healthy, NeverFails) {
    never_fails(GetParam(), long_tests() ? "200" : GetParam().heavy() ? "3" : "6");
}

INSTANTIATE_TEST_SUITE_P(Zoo, Healthy, testing::ValuesIn(tested_alone()),
                         name_of<testing::TestParamInfo<Animal>>);

// The quick programs share campaigns, eight in each, since loading the scheduler takes longer than
// many runs. Change points are drawn from the k of the whole campaign, so its programs should make
// about the same number of steps; programs with the same number of threads mostly do.
std::vector<std::vector<Animal>> groups() {
    std::vector<Animal> quick = chosen(false);
    std::erase_if(quick, slow);
    std::stable_sort(quick.begin(), quick.end(), [](const Animal& a, const Animal& b) {
        return std::tuple(a.jobs(), a.threads) < std::tuple(b.jobs(), b.threads);
    });
    std::vector<std::vector<Animal>> all;
    for (const Animal& animal : quick) {
        if (all.empty() || all.back().size() == 8 || all.back()[0].jobs() != animal.jobs())
            all.emplace_back();
        all.back().push_back(animal);
    }
    return all;
}

class HealthyGroup : public testing::TestWithParam<std::vector<Animal>> {};

TEST_P(HealthyGroup, NeverFails) {
    const std::vector<Animal>& animals = GetParam();
    constexpr unsigned kTimes = 20;
    std::vector<std::string> programs;
    for (const Animal& animal : animals)
        programs.push_back(animal.path());
    const InTurn all(programs, kTimes);
    Arguments arguments = {
        "--verify",     "--seed", "20232",           "--runs", std::to_string(all.runs()),
        "--keep-going", "--jobs", animals[0].jobs(), "--"};
    arguments.insert(arguments.end(), all.command().begin(), all.command().end());
    const Call call = pctctl(arguments, std::chrono::seconds(600));
    EXPECT_EQ(0, call.status) << call;
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(all.runs(), call.summary.runs_done) << call;
    EXPECT_EQ(0U, call.summary.violations.value_or(1)) << call;
    for (std::size_t i = 0; i < animals.size(); ++i) {
        unsigned threads = 0;
        for (unsigned j = 0; j < kTimes; ++j) {
            const RunResult& run = call.summary.results[i * kTimes + j];
            EXPECT_EQ("pass", run.outcome) << animals[i].name << ", run " << run.number;
            // The first and the last run may be a neighbour's, see InTurn.
            if (j > 0 && j + 1 < kTimes)
                threads = std::max(threads, run.threads);
        }
        // All threads of the program were under control.
        EXPECT_EQ(animals[i].threads, threads) << animals[i].name;
    }
}

INSTANTIATE_TEST_SUITE_P(Zoo, HealthyGroup, testing::ValuesIn(groups()),
                         [](const testing::TestParamInfo<std::vector<Animal>>& info) {
                             return info.param[0].name;
                         });

// A main process that exits with 0 does not hide a deadlock among the processes that it leaves
// behind. Leftover processes that wait for a request are no failure.
TEST(LeftBehind, IsLookedAtForADeadlock) {
    const Call stuck =
        pctctl({"--runs", "5", "--seed", "1", "--", built("programs/left_behind"), "deadlock"});
    EXPECT_EQ(1, stuck.status) << stuck;
    ASSERT_FALSE(stuck.summary.results.empty()) << stuck;
    EXPECT_EQ("deadlock", stuck.summary.results.back().outcome) << stuck;
    const std::string program = built("programs/left_behind");
    const InTurn idle({program + " semaphore", program + " signal"}, 5);
    Arguments arguments = {"--runs", std::to_string(idle.runs()), "--seed", "1", "--"};
    arguments.insert(arguments.end(), idle.command().begin(), idle.command().end());
    const Call waiting = pctctl(arguments);
    EXPECT_EQ(0, waiting.status) << waiting;
    EXPECT_EQ(idle.runs(), waiting.summary.runs_done) << waiting;
}

// What a run leaves in the kernel without a process, here a message queue, does not reach the next
// run.
TEST(LeftBehind, IsNotFoundByTheNextRun) {
    const Call call =
        pctctl({"--runs", "5", "--seed", "1", "--", built("programs/left_behind"), "queue"});
    EXPECT_EQ(0, call.status) << call;
    EXPECT_EQ(5U, call.summary.runs_done) << call;
}

} // namespace
} // namespace vmtest
