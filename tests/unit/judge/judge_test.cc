// SPDX-License-Identifier: GPL-2.0-only
// What the judge says about a whole run and about states of threads, with real processes of this
// machine.
#include "verdicts.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

namespace pctctl {
namespace {

using namespace test;
using testing::HasSubstr;

void empty_handler(int) {}

TEST(Judge, Signals) {
    expect_deadlock(Blocked([](const Ready& ready) {
                        ready();
                        ::pause();
                    }),
                    "waits for a signal");
    expect_deadlock(Blocked([](const Ready& ready) {
                        sigset_t mask;
                        sigfillset(&mask);
                        ready();
                        ::sigsuspend(&mask);
                    }),
                    "waits for a signal");
    expect_deadlock(Blocked([](const Ready& ready) {
                        sigset_t mask;
                        sigemptyset(&mask);
                        sigaddset(&mask, SIGUSR1);
                        ::sigprocmask(SIG_BLOCK, &mask, nullptr);
                        ready();
                        int signal;
                        ::sigwait(&mask, &signal);
                    }),
                    "waits for a signal");
    expect_none(Blocked([](const Ready& ready) {
                    sigset_t mask;
                    sigemptyset(&mask);
                    sigaddset(&mask, SIGUSR1);
                    ::sigprocmask(SIG_BLOCK, &mask, nullptr);
                    timespec limit{1000, 0};
                    ready();
                    ::sigtimedwait(&mask, nullptr, &limit);
                }),
                "time limit");
    expect_deadlock(Blocked([](const Ready& ready) {
                        sigset_t mask;
                        sigemptyset(&mask);
                        sigaddset(&mask, SIGUSR1);
                        ::sigprocmask(SIG_BLOCK, &mask, nullptr);
                        int fd = ::signalfd(-1, &mask, 0);
                        ready();
                        char info[128];
                        [[maybe_unused]] ssize_t n = ::read(fd, info, sizeof info);
                    }),
                    "signalfd");
}

TEST(Judge, TimersMakeItUncertain) {
    Blocked blocked([](const Ready& ready) {
        ready();
        ::pause();
    });
    Verdict verdict = blocked.verdict(true);
    EXPECT_FALSE(verdict.deadlock);
    EXPECT_THAT(verdict.reason, HasSubstr("timer"));
    EXPECT_EQ(verdict.lines.size(), 1u);
}

TEST(Judge, Sleepers) {
    expect_none(Blocked([](const Ready& ready) {
                    ready();
                    ::sleep(1000);
                }),
                "sleeps");
}

TEST(Judge, MainThreadIsGone) {
    expect_deadlock(Blocked([](const Ready& ready) {
        static sem_t never;
        sem_init(&never, 0, 0);
        std::thread([&] {
            ready();
            sem_wait(&never);
        }).detach();
        ::syscall(SYS_exit, 0); // pthread_exit() would unwind into the test
    }));
}

TEST(Judge, Stopped) {
    Blocked blocked([](const Ready& ready) {
        ready();
        ::raise(SIGSTOP);
    });
    expect_none(blocked, "stopped");
}

TEST(Judge, Traced) {
    Blocked blocked([](const Ready& ready) {
        ready();
        ::pause();
    });
    ASSERT_EQ(::ptrace(PTRACE_SEIZE, blocked.pid(), nullptr, nullptr), 0);
    blocked.settle();
    expect_none(blocked, "traced");
}

TEST(Judge, Running) {
    Blocked blocked([](const Ready& ready) {
        ::signal(SIGUSR1, [](int) {
            for (;;) {
            }
        });
        ready();
        ::pause();
    });
    ASSERT_TRUE(blocked.verdict().deadlock);
    ::kill(blocked.pid(), SIGUSR1);
    Verdict verdict;
    for (int i = 0; i < 1000; i++) {
        verdict = blocked.verdict();
        if (!verdict.deadlock)
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_THAT(verdict.reason, HasSubstr("runnable"));
}

TEST(Judge, SignalHandlerDoesNotConfuse) {
    Blocked blocked([](const Ready& ready) {
        ::signal(SIGUSR1, empty_handler);
        struct sigaction action{};
        action.sa_handler = empty_handler;
        action.sa_flags = SA_RESTART;
        ::sigaction(SIGUSR1, &action, nullptr);
        sem_t never;
        sem_init(&never, 0, 0);
        ready();
        while (sem_wait(&never) != 0) {
        }
    });
    ::kill(blocked.pid(), SIGUSR1);
    blocked.settle();
    expect_deadlock(blocked);
}

TEST(Judge, AsynchronousInput) {
    Blocked blocked([](const Ready& ready) {
        char parameters[256] = {};
        if (::syscall(SYS_io_uring_setup, 4, parameters) < 0)
            ::_exit(0); // io_uring is switched off here
        ready();
        ::pause();
    });
    if (!blocked.ready())
        GTEST_SKIP() << "no io_uring here";
    expect_none(blocked, "io_uring");
}

TEST(Judge, ManyThreads) {
    Blocked blocked([](const Ready& ready) {
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&mutex);
        std::vector<std::thread> threads;
        for (int i = 0; i < 300; i++)
            threads.emplace_back([] { pthread_mutex_lock(&mutex); });
        ready();
        threads[0].join();
    });
    auto begin = std::chrono::steady_clock::now();
    Verdict verdict = blocked.verdict();
    auto elapsed = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(verdict.deadlock) << verdict.reason;
    EXPECT_EQ(verdict.lines.size(), 301u);
    EXPECT_LT(elapsed, std::chrono::seconds(10));
}

TEST(Judge, NobodyIsAlive) {
    LiveInspector inspector;
    EXPECT_FALSE(judge({}, false, inspector).deadlock);
}

} // namespace
} // namespace pctctl
