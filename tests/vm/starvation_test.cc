// SPDX-License-Identifier: GPL-2.0-only
// Strict priorities starve threads on purpose, for as long as the run lasts. All the same the
// kernel's watchdog (30 s) must not eject the scheduler, and a starved thread must not execute
// anything.
#include <gtest/gtest.h>

#include <cstdio>

#include "harness.h"

namespace vmtest {
namespace {

TEST(Starvation, FiftyThreadsExecuteNothing) {
    const int seconds = long_tests() ? 65 : 35; // the watchdog has 30 s of patience
    const int threads = 51;
    const Call call = pctctl({"-v", "--spin-limit", "0", "--depth", "1", "--seed", "1", "--runs",
                              long_tests() ? "3" : "1", "--keep-going", "--timeout",
                              std::to_string(3 * seconds + 60), "--", built("programs/starve"),
                              std::to_string(seconds), std::to_string(threads)},
                             std::chrono::seconds(10 * seconds + 200));
    EXPECT_EQ(0, call.status) << call; // 3: ejected; 1: something moved
    ASSERT_TRUE(call.reported) << call;
    EXPECT_EQ(0U, call.summary.failures) << call;
    EXPECT_EQ(0U, call.summary.interventions) << call;
    EXPECT_EQ(1U + threads, call.summary.threads) << call;
    std::size_t seen = 0;
    for (const std::string& line : lines(call.out)) {
        unsigned long moved = 1;
        int not_begun = 0;
        int interrupted = 0;
        if (std::sscanf(line.c_str(), "others moved %lu, not begun %d, interrupted %d", &moved,
                        &not_begun, &interrupted) != 3)
            continue;
        ++seen;
        EXPECT_EQ(0U, moved);
        EXPECT_EQ(threads - 1, not_begun + interrupted);
        std::cout << line << ", " << seconds << " s\n";
    }
    EXPECT_EQ(call.summary.runs_done, seen) << call;
}

// The same program without priorities: it does notice when others move.
TEST(Starvation, TheProgramCanTell) {
    Process alone({built("programs/starve"), "1", "8"});
    EXPECT_EQ(1, alone.wait(std::chrono::seconds(60))) << alone.out() << alone.err();
}

// A thread that spins on a flag which a starved one will set goes on, and that is reported.
TEST(SpinLimit, EndsASpinAndIsCounted) {
    const Call call = pctctl({"--seed", "1", "--runs", "6", "--depth", "1", "--spin-limit", "0.1",
                              "--", built("zoo/healthy_spin_flag")});
    EXPECT_EQ(0, call.status) << call;
    EXPECT_GT(call.summary.interventions, 0U) << call;
    EXPECT_NE(std::string::npos, call.out.find("intervention")) << call;
}

// Nor do threads starve a lower one which keep waking each other, although none of them spins.
TEST(BusyThreads, LetALowerOneGoOn) {
    const Call call = pctctl({"--seed", "1", "--runs", "8", "--depth", "1", "--timeout", "60", "--",
                              built("zoo/healthy_busy_pair")});
    EXPECT_EQ(0, call.status) << call;
    EXPECT_EQ(8U, call.summary.runs_done) << call;
    EXPECT_GT(call.summary.interventions, 0U) << call;
}

// Yielding is a sign of no progress also if it is no step, without the help of a spin limit.
TEST(Yielding, EndsWithoutBeingAStep) {
    for (const char* policy : {"pct", "ppct", "random-walk", "pos"}) {
        const Call call =
            pctctl({"--seed", "1", "--runs", "6", "--policy", policy, "--points", "pthread",
                    "--spin-limit", "0", "--timeout", "20", "--", built("zoo/healthy_spin_yield")});
        EXPECT_EQ(0, call.status) << call;
        EXPECT_EQ(6U, call.summary.runs_done) << call;
    }
}

TEST(SpinLimit, ZeroIsNever) {
    const Call call = pctctl({"--seed", "1", "--runs", "6", "--depth", "1", "--spin-limit", "0",
                              "--timeout", "4", "--", built("zoo/healthy_spin_flag")});
    EXPECT_EQ(1, call.status) << call;
    ASSERT_FALSE(call.summary.results.empty()) << call;
    EXPECT_EQ("timeout", call.summary.results.back().outcome) << call;
    EXPECT_EQ(0U, call.summary.interventions) << call;
}

} // namespace
} // namespace vmtest
