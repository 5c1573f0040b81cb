// SPDX-License-Identifier: GPL-2.0-only
#include "judge/roster.h"

#include <csignal>
#include <cstring>

#include <gtest/gtest.h>

namespace pctctl {
namespace {

TEST(Roster, NamesTheProcessThatWasKilled) {
    Roster roster;
    EXPECT_EQ(roster.fatal_signal(0), "");
    pct_event thread{};
    thread.type = PCT_EVENT_THREAD;
    thread.thread = 1;
    thread.ordinal = 2;
    roster.learn(thread);
    pct_event killed{};
    killed.type = PCT_EVENT_SIGNAL;
    killed.thread = 1;
    killed.code = SIGSEGV;
    std::strcpy(killed.comm, "app");
    roster.learn(killed);
    killed.code = SIGTERM; // a later one does not count
    roster.learn(killed);
    EXPECT_EQ(roster.fatal_signal(SIGSEGV),
              "process 'app' was killed by SIGSEGV, taken by thread 0.2");
}

// The event about a fatal signal may be lost. The run must not pass because of that.
TEST(Roster, KnowsOfASignalWhoseEventWasLost) {
    EXPECT_EQ(Roster().fatal_signal(SIGKILL), "a process was killed by SIGKILL");
}

} // namespace
} // namespace pctctl
