// SPDX-License-Identifier: GPL-2.0-only
// When its time is up, a program that is only slow is unfinished, and one that hangs has failed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness.h"

namespace vmtest {
namespace {

// Long beside the start of a program, on a busy machine too. In half of it a thread gets something
// done.
constexpr const char* kTimeLimit = "8";

// Each kind of program of tests/programs/endless.c, under each of these policies. (Runs under none
// are of several threads at a time.)
Call endless(const std::vector<std::string>& kinds, const std::string& policies, unsigned times) {
    std::vector<std::string> programs;
    for (const std::string& kind : kinds)
        programs.push_back(built("programs/endless ") + kind);
    const InTurn all(programs, times);
    Arguments arguments = {"--policy",  policies,
                           "--runs",    std::to_string(all.runs()),
                           "--seed",    "1",
                           "--depth",   "1",
                           "--jobs",    "3",
                           "--timeout", kTimeLimit,
                           "-v",        "--keep-going",
                           "--"};
    arguments.insert(arguments.end(), all.command().begin(), all.command().end());
    const Call call = pctctl(arguments, std::chrono::seconds(500));
    EXPECT_EQ(all.runs(), call.summary.runs_done) << call;
    return call;
}

TEST(TimeLimit, SlowIsNotHung) {
    const std::string policies = long_tests() ? "pct,pos,none,ppct,random-walk,rapos" : "pct,pos";
    const Call call = endless({"work", "slow", "write", "start"}, policies, long_tests() ? 6 : 2);
    EXPECT_EQ(0, call.status) << call;
    EXPECT_EQ(0U, call.summary.failures);
    EXPECT_EQ(call.summary.runs_done, call.summary.unfinished);
    for (const RunResult& run : call.summary.results)
        EXPECT_EQ("unfinished", run.outcome) << "run " << run.number << "\n" << call;
    EXPECT_EQ(0, call.summary.bound_run) << "nothing counts";
    EXPECT_NE(std::string::npos, call.out.find("NOTHING WAS EXPLORED TO THE END")) << call;
    EXPECT_NE(std::string::npos, call.out.find("--timeout 16")) << call;
    EXPECT_NE(std::string::npos, call.err.find("WARNING: NO RUN WAS FINISHED")) << call;
}

// Without a step, or with steps that only wait in a loop.
TEST(TimeLimit, HungIsNotSlow) {
    const std::vector<std::string> kinds = {"hang", "spin", "yield", "sleep", "poll",
                                            "try",  "open", "look",  "timed", "backoff"};
    const std::string policies = long_tests() ? "pct,pos,none,ppct,random-walk,rapos" : "pct";
    const Call call = endless(kinds, policies, long_tests() ? 6 : 1);
    EXPECT_EQ(1, call.status) << call;
    EXPECT_EQ(0U, call.summary.unfinished);
    for (const RunResult& run : call.summary.results)
        EXPECT_EQ("timeout", run.outcome) << "run " << run.number << "\n" << call;
    EXPECT_NE(std::string::npos, call.out.find("timeout: no step for ")) << call;
    EXPECT_NE(std::string::npos, call.out.find(" of waiting in loops; ")) << call;
}

// The campaign goes on after an unfinished run and stops at a failure, though the first is printed.
TEST(TimeLimit, UnfinishedIsNoFailureToStopAt) {
    const InTurn both({built("programs/endless work"), built("programs/endless hang")}, 1);
    Arguments arguments = {"--runs", "5", "--seed", "1", "--timeout", kTimeLimit, "--"};
    arguments.insert(arguments.end(), both.command().begin(), both.command().end());
    const Call call = pctctl(arguments);
    EXPECT_EQ(1, call.status) << call;
    ASSERT_EQ(2U, call.summary.runs_done) << call;
    EXPECT_EQ(1U, call.summary.failures);
    EXPECT_EQ(1U, call.summary.unfinished);
    EXPECT_EQ("timeout", call.summary.results[1].outcome);
    EXPECT_NE(std::string::npos, call.out.find("1 of 2 runs failed, 1 unfinished")) << call;
    EXPECT_NE(std::string::npos, call.out.find("--timeout 16")) << call;
}

TEST(TimeLimit, FollowsFromTheSlowestRun) {
    const Call call = pctctl({"--runs", "3", "--seed", "1", "--", built("zoo/healthy_sync")});
    EXPECT_EQ(0, call.status) << call;
    ASSERT_EQ(3U, call.summary.results.size()) << call;
    EXPECT_EQ(60, call.summary.results[0].time_limit_s);
    // 20 s, unless the machine is so busy that a run takes more than 2.
    double slowest_s = 0;
    for (std::size_t i = 0; i < 2; ++i)
        slowest_s = std::max(slowest_s, call.summary.results[i].duration_ms / 1000);
    const double limit = std::max(20.0, std::ceil(10 * slowest_s));
    EXPECT_EQ(limit, call.summary.results[2].time_limit_s);
    EXPECT_NE(std::string::npos,
              call.out.find("time limit of a run: 60 s for the first, " +
                            std::to_string(static_cast<int>(limit)) + " s for the last"))
        << call;
}

} // namespace
} // namespace vmtest
