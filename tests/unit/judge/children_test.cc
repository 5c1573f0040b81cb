// SPDX-License-Identifier: GPL-2.0-only
// Waits for processes.
#include "verdicts.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pctctl {
namespace {

using namespace test;
using testing::HasSubstr;

TEST(Judge, WaitingForAChild) {
    auto body = [](bool sleeps, bool zombie) {
        return [=](const Ready& ready) {
            if (zombie && ::fork() == 0)
                ::_exit(0);
            pid_t child = ::fork();
            if (child == 0) {
                ready();
                if (sleeps)
                    ::sleep(1000);
                ::pause();
            }
            ::waitpid(child, nullptr, 0);
        };
    };
    expect_deadlock(Blocked(body(false, false)), "waits for its child process to end");
    expect_deadlock(Blocked(body(false, true)), "waits for its child process to end");
    expect_none(Blocked(body(true, false)), "sleeps");
}

TEST(Judge, ChildThatIsNotOfTheRun) {
    Blocked blocked([](const Ready& ready) {
        if (::fork() == 0) {
            ready();
            ::pause();
        }
        ::wait(nullptr);
    });
    auto threads = blocked.threads();
    ASSERT_EQ(threads.size(), 2u);
    threads.pop_back();
    LiveInspector inspector;
    EXPECT_THAT(judge(threads, false, inspector).reason, HasSubstr("not part of the run"));
}

TEST(Judge, VforkedChildThatNeverExecutes) {
    expect_deadlock(Blocked([](const Ready& ready) {
                        // NOLINTNEXTLINE(bugprone-unsafe-functions): it is the subject
                        if (::vfork() == 0) {
                            ready();
                            ::pause();
                            ::_exit(0);
                        }
                    }),
                    "vfork");
}

TEST(Judge, EndOfAProcess) {
    auto body = [](pid_t process) {
        return [process](const Ready& ready) {
            pid_t child = process ? process : ::fork();
            if (child == 0)
                ::pause();
            pollfd set{static_cast<int>(::syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
            ready();
            ::poll(&set, 1, -1);
        };
    };
    expect_deadlock(Blocked(body(0)), "end of a process");
    expect_none(Blocked(body(::getpid())), "end of a process outside");
}

} // namespace
} // namespace pctctl
