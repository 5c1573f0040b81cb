// SPDX-License-Identifier: GPL-2.0-only
// The independent witness sees no violation in all kinds of programs on two CPUs. It does see them
// where priorities are broken on purpose.
#include <gtest/gtest.h>

#include <unistd.h>

#include "harness.h"

namespace vmtest {
namespace {

std::vector<Animal> watched() {
    std::vector<Animal> all;
    for (const Animal& one : zoo())
        if (long_tests() && !one.heavy())
            all.push_back(one);
    if (all.empty())
        for (const char* name :
             {"atomicity_account_bug", "condvar_broadcast_bug", "deadlock_cycle3_bug", "exact3",
              "futex_lock_ok", "healthy_affinity", "healthy_cancel", "healthy_daemon",
              "healthy_epoll", "healthy_exec", "healthy_file_lock", "healthy_pshared",
              "healthy_signals", "healthy_sleepers", "healthy_spin_yield", "healthy_sync",
              "healthy_timed_waits", "pipe_interleave_bug"})
            all.push_back(animal(name));
    return all;
}

class Witness : public testing::TestWithParam<Animal> {};

void no_violation(const Animal& animal, const char* phases) {
    ASSERT_GE(::sysconf(_SC_NPROCESSORS_ONLN), 2) << "one CPU proves nothing";
    const std::string runs = long_tests() ? "200" : "16";
    const Call call =
        pctctl({"--verify", "--seed", "71", "--runs", runs, "--keep-going", "--jobs", animal.jobs(),
                "--depth", "3", "--join-phases", phases, "--", animal.path()},
               std::chrono::seconds(long_tests() ? 3600 : 200));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(std::stoul(runs), call.summary.runs_done) << call;
    ASSERT_TRUE(call.summary.violations) << call;
    EXPECT_EQ(0U, *call.summary.violations) << call;
    EXPECT_EQ(call.summary.failures > 0 ? 1 : 0, call.status) << call;
    if (animal.healthy) {
        EXPECT_EQ(0U, call.summary.failures) << call;
    }
}

TEST_P(Witness, SeesNoViolation) {
    no_violation(GetParam(), "off");
}

TEST(WitnessOfPhases, SeesNoViolation) {
    for (const char* name :
         {"condvar_broadcast_bug", "exact3", "healthy_cancel", "healthy_pshared", "healthy_sync"})
        no_violation(animal(name), "on");
}

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

// The broken scheduler never gets the lock that keeps the policy's hooks apart, and has a program
// that the kernel skips: such runs count for nothing, and are said.
TEST(Disturbed, RunsDoNotCount) {
    const Call call = pctctl(
        {"--depth", "1", "--seed", "72", "--runs", "4", "--keep-going", "--", built("zoo/exact3")},
        std::chrono::seconds(200), built("pctctl-broken"));
    ASSERT_TRUE(call.reported) << call;
    const std::string text = call.out + call.err;
    EXPECT_NE(std::string::npos, text.find("the kernel left out")) << call;
    EXPECT_NE(std::string::npos, text.find("while another call was under way")) << call;
    EXPECT_NE(std::string::npos, text.find("4 runs with that: not counted below")) << call;
    EXPECT_NE(std::string::npos, text.find("no run counts towards that yet")) << call;
}

TEST(Undisturbed, RunsCount) {
    for (const char* policy : {"pct", "ppct"}) {
        const Call call = pctctl({"--depth", "1", "--policy", policy, "--runs", "4", "--jobs", "2",
                                  "--keep-going", "--", built("zoo/healthy_sync")});
        ASSERT_TRUE(call.reported) << call;
        EXPECT_EQ(std::string::npos, (call.out + call.err).find("not counted")) << call;
    }
}

// Without --verify nothing is claimed.
TEST(Unverified, ClaimsNothing) {
    const Call call = pctctl({"--runs", "2", "--", built("zoo/exact3")});
    ASSERT_TRUE(call.reported) << call;
    EXPECT_FALSE(call.summary.violations) << call;
}

} // namespace
} // namespace vmtest
