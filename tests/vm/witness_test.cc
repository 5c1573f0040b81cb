// SPDX-License-Identifier: GPL-2.0-only
// The witness (a BPF program that shares nothing with the scheduler) sees no violation of the
// priorities in all kinds of programs, on two CPUs. It does see violations by pctctl-broken, a
// scheduler that ignores priorities on purpose.
#include <gtest/gtest.h>

#include <unistd.h>

#include "harness.h"

namespace vmtest {
namespace {

// The programs that the long test verifies, each in campaigns of its own. The short test takes the
// groups below; zoo_test verifies the healthy programs.
std::vector<Animal> watched() {
    std::vector<Animal> all;
    for (const Animal& one : zoo())
        if (long_tests() && !one.heavy())
            all.push_back(one);
    return all;
}

class Witness : public testing::TestWithParam<Animal> {};

void no_violation(const Animal& animal, const char* phases) {
    const Call call =
        pctctl({"--verify", "--seed", "71", "--runs", "200", "--keep-going", "--jobs",
                animal.jobs(), "--depth", "3", "--join-phases", phases, "--", animal.path()},
               std::chrono::seconds(3600));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(200U, call.summary.runs_done) << call;
    ASSERT_TRUE(call.summary.violations) << call;
    EXPECT_EQ(0U, *call.summary.violations) << call;
    EXPECT_EQ(call.summary.failures > 0 ? 1 : 0, call.status) << call;
    if (animal.healthy) {
        EXPECT_EQ(0U, call.summary.failures) << call;
    }
}

// The same for several programs in one campaign, 16 runs of each.
void no_violation_in(const std::vector<std::string>& names, const char* phases) {
    ASSERT_GE(::sysconf(_SC_NPROCESSORS_ONLN), 2) << "one CPU proves nothing";
    std::vector<std::string> programs;
    for (const std::string& name : names)
        programs.push_back(animal(name).path());
    const InTurn all(programs, 16);
    Arguments arguments = {"--verify",      "--seed", "71", "--runs",  std::to_string(all.runs()),
                           "--keep-going",  "--jobs", "2",  "--depth", "3",
                           "--join-phases", phases,   "--"};
    arguments.insert(arguments.end(), all.command().begin(), all.command().end());
    const Call call = pctctl(arguments, std::chrono::seconds(400));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(all.runs(), call.summary.runs_done) << call;
    ASSERT_TRUE(call.summary.violations) << call;
    EXPECT_EQ(0U, *call.summary.violations) << call;
    EXPECT_EQ(call.summary.failures > 0 ? 1 : 0, call.status) << call;
    for (const RunResult& run : call.summary.results)
        EXPECT_LT(run.exit_code, 70) << call; // 70 and more: in_turn itself has failed
}

TEST(WitnessOfBugs, SeesNoViolation) {
    no_violation_in({"atomicity_account_bug", "condvar_broadcast_bug", "deadlock_cycle3_bug",
                     "pipe_interleave_bug", "futex_lock_bug"},
                    "off");
}

TEST(WitnessOfPhases, SeesNoViolation) {
    no_violation_in(
        {"condvar_broadcast_bug", "exact3", "healthy_cancel", "healthy_pshared", "healthy_sync"},
        "on");
}

TEST_P(Witness, SeesNoViolation) {
    no_violation(GetParam(), "off");
}

TEST_P(Witness, SeesNoViolationOfPhases) {
    no_violation(GetParam(), "on");
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Witness); // instantiated by the long test only
INSTANTIATE_TEST_SUITE_P(Zoo, Witness, testing::ValuesIn(watched()),
                         name_of<testing::TestParamInfo<Animal>>);

class BrokenDispatch : public testing::TestWithParam<Animal> {};

TEST_P(BrokenDispatch, IsCaught) {
    const Animal& animal = GetParam();
    const Call call = pctctl({"--verify", "--seed", "71", "--runs", "16", "--keep-going", "--depth",
                              "3", "--timeout", "20", "--", animal.path()},
                             std::chrono::seconds(200), built("pctctl-broken"));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_TRUE(call.summary.violations) << call;
    EXPECT_GT(*call.summary.violations, 0U) << call;
    EXPECT_EQ(3, call.status) << call;
}

INSTANTIATE_TEST_SUITE_P(Zoo, BrokenDispatch,
                         testing::Values(animal("exact3"), animal("healthy_sync"),
                                         animal("pipe_interleave_ok")),
                         name_of<testing::TestParamInfo<Animal>>);

// pctctl-broken never gets the lock that keeps the policy's hooks apart, and one of its BPF
// programs is skipped by the kernel now and then. The summary must say both, and must not count
// such runs for the chance of having found a bug.
TEST(Disturbed, RunsDoNotCount) {
    const Call call = pctctl(
        {"--depth", "1", "--seed", "72", "--runs", "4", "--keep-going", "--", built("zoo/exact3")},
        std::chrono::seconds(200), built("pctctl-broken"));
    ASSERT_TRUE(call.reported) << call;
    const std::string text = call.out + call.err;
    EXPECT_NE(std::string::npos, text.find("the kernel left out")) << call;
    EXPECT_NE(std::string::npos, text.find("while another call was under way")) << call;
    EXPECT_NE(std::string::npos, text.find("4 runs with that: not counted for the chance")) << call;
    EXPECT_NE(std::string::npos, text.find("Nothing can be said yet about bugs")) << call;
}

TEST(Undisturbed, RunsCount) {
    for (const char* policy : {"pct", "ppct"}) {
        const Call call = pctctl({"--depth", "1", "--policy", policy, "--runs", "4", "--jobs", "2",
                                  "--keep-going", "--", built("zoo/healthy_sync")});
        ASSERT_TRUE(call.reported) << call;
        EXPECT_EQ(std::string::npos, (call.out + call.err).find("not counted")) << call;
    }
}

// Without --verify the JSON claims nothing about violations.
TEST(Unverified, ClaimsNothing) {
    const Call call = pctctl({"--runs", "2", "--", built("zoo/exact3")});
    ASSERT_TRUE(call.reported) << call;
    EXPECT_FALSE(call.summary.violations) << call;
}

} // namespace
} // namespace vmtest
