// SPDX-License-Identifier: GPL-2.0-only
// When its time is up, a program that is only slow is unfinished, and one that hangs has failed.
#include <gtest/gtest.h>

#include "harness.h"

namespace vmtest {
namespace {

// Each kind of program of tests/programs/endless.c under each of these policies. (Runs under none
// are of several threads at a time.)
Call endless(const std::vector<std::string>& kinds) {
    const char* policies = long_tests() ? "pct,pos,none,ppct,random-walk,rapos" : "pct,pos,none";
    std::vector<std::string> programs;
    for (const std::string& kind : kinds)
        programs.push_back(built("programs/endless ") + kind);
    const InTurn all(programs, long_tests() ? 6 : 3);
    Arguments arguments = {"--policy",  policies,
                           "--runs",    std::to_string(all.runs()),
                           "--seed",    "1",
                           "--depth",   "1",
                           "--jobs",    "3",
                           "--timeout", "4",
                           "-v",        "--keep-going",
                           "--"};
    arguments.insert(arguments.end(), all.command().begin(), all.command().end());
    const Call call = pctctl(arguments, std::chrono::seconds(400));
    EXPECT_EQ(all.runs(), call.summary.runs_done) << call;
    return call;
}

TEST(TimeLimit, SlowIsNotHung) {
    const Call call = endless({"work", "slow", "write", "start"});
    EXPECT_EQ(0, call.status) << call;
    EXPECT_EQ(0U, call.summary.failures);
    EXPECT_EQ(call.summary.runs_done, call.summary.unfinished);
    for (const RunResult& run : call.summary.results)
        EXPECT_EQ("unfinished", run.outcome) << "run " << run.number << "\n" << call;
    EXPECT_EQ(0, call.summary.bound_run) << "nothing counts";
    EXPECT_NE(std::string::npos, call.out.find("NOTHING WAS EXPLORED TO THE END")) << call;
    EXPECT_NE(std::string::npos, call.out.find("--timeout 8")) << call;
    EXPECT_NE(std::string::npos, call.err.find("WARNING: NO RUN WAS FINISHED")) << call;
}

// Without a step, or with steps that only wait in a loop.
TEST(TimeLimit, HungIsNotSlow) {
    const Call call = endless(
        {"hang", "spin", "yield", "sleep", "poll", "try", "open", "look", "timed", "backoff"});
    EXPECT_EQ(1, call.status) << call;
    EXPECT_EQ(0U, call.summary.unfinished);
    for (const RunResult& run : call.summary.results)
        EXPECT_EQ("timeout", run.outcome) << "run " << run.number << "\n" << call;
    EXPECT_NE(std::string::npos, call.out.find("timeout: no step for ")) << call;
    EXPECT_NE(std::string::npos, call.out.find(" of waiting in loops; ")) << call;
}

// The campaign goes on after an unfinished run and stops at a failure, though the first is printed.
TEST(TimeLimit, UnfinishedIsNoFailureToStopAt) {
    const InTurn both({built("programs/endless work"), built("programs/endless hang")}, 2);
    Arguments arguments = {"--runs", "9", "--seed", "1", "--timeout", "2", "--"};
    arguments.insert(arguments.end(), both.command().begin(), both.command().end());
    const Call call = pctctl(arguments);
    EXPECT_EQ(1, call.status) << call;
    ASSERT_EQ(3U, call.summary.runs_done) << call;
    EXPECT_EQ(1U, call.summary.failures);
    EXPECT_EQ(2U, call.summary.unfinished);
    EXPECT_EQ("timeout", call.summary.results[2].outcome);
    EXPECT_NE(std::string::npos, call.out.find("1 of 3 runs failed, 2 unfinished")) << call;
    EXPECT_NE(std::string::npos, call.out.find("--timeout 4")) << call;
}

TEST(TimeLimit, FollowsFromTheSlowestRun) {
    const Call call = pctctl({"--runs", "3", "--seed", "1", "--", built("zoo/healthy_sync")});
    EXPECT_EQ(0, call.status) << call;
    ASSERT_EQ(3U, call.summary.results.size()) << call;
    EXPECT_EQ(60, call.summary.results[0].time_limit_s);
    EXPECT_EQ(20, call.summary.results[2].time_limit_s); // of a run that takes milliseconds
    EXPECT_NE(std::string::npos,
              call.out.find("time limit of a run: 60 s for the first, 20 s for the last"))
        << call;
}

} // namespace
} // namespace vmtest
