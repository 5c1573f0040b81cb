// SPDX-License-Identifier: GPL-2.0-only
// Strict priorities starve threads on purpose, maybe for a whole run. Even then the kernel's
// watchdog, which unloads a scheduler when a runnable thread waits for 30 s, must not step in, and
// a starved thread must not execute anything.
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "harness.h"

namespace vmtest {
namespace {

// Waits for a thread of that name. Returns its id, or -1 if there is none within 30 s.
pid_t find_thread(const std::string& name) {
    namespace fs = std::filesystem;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < patience) {
        for (const auto& process : fs::directory_iterator("/proc")) {
            std::error_code ignored;
            for (const auto& task : fs::directory_iterator(process.path() / "task", ignored)) {
                std::string comm;
                std::getline(std::ifstream(task.path() / "comm"), comm);
                if (comm == name)
                    return std::stoi(task.path().filename());
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return -1;
}

// Starts a child with that process id, as soon as the id is free. It keeps CPU 1 busy until it is
// killed.
pid_t spin_as(pid_t id) {
    clone_args args = {};
    args.exit_signal = SIGCHLD;
    args.set_tid = reinterpret_cast<std::uint64_t>(&id);
    args.set_tid_size = 1;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    long made = -1;
    do {
        made = syscall(SYS_clone3, &args, sizeof args);
    } while (made < 0 && errno == EEXIST && std::chrono::steady_clock::now() < patience);
    if (made == 0) {
        cpu_set_t cpu;
        CPU_ZERO(&cpu);
        CPU_SET(1, &cpu);
        sched_setaffinity(0, sizeof cpu, &cpu);
        alarm(30);
        for (volatile unsigned spins = 0;;)
            spins = spins + 1;
    }
    return static_cast<pid_t>(made);
}

// The thread that executed last (the run's owner) has ended, and a process outside of the run has
// got its id. The scheduler must not wait for that process to leave its CPU.
TEST(ReusedThreadId, DoesNotHoldUpTheRun) {
    Process run({built("pctctl"), "--runs", "1", "--depth", "1", "--timeout", "15", "--",
                 built("programs/last_owner")});
    const pid_t id = find_thread("last-owner");
    ASSERT_GT(id, 0);
    const pid_t spinning = spin_as(id);
    ASSERT_EQ(id, spinning) << std::strerror(errno);
    EXPECT_EQ(0, run.wait(std::chrono::seconds(60))) << run.out() << run.err();
    EXPECT_EQ(0, waitpid(spinning, nullptr, WNOHANG)) << "it did not outlast the run";
    kill(spinning, SIGKILL);
    waitpid(spinning, nullptr, 0);
}

TEST(Starvation, FiftyThreadsExecuteNothing) {
    const int seconds = long_tests() ? 65 : 35; // the watchdog waits for 30 s
    const int threads = 51;
    const Call call = pctctl({"-v", "--spin-limit", "0", "--depth", "1", "--seed", "1", "--runs",
                              long_tests() ? "3" : "1", "--keep-going", "--timeout",
                              std::to_string(3 * seconds + 60), "--", built("programs/starve"),
                              std::to_string(seconds), std::to_string(threads)},
                             std::chrono::seconds(10 * seconds + 200));
    EXPECT_EQ(0, call.status) << call; // 3: scheduler unloaded; 1: a thread executed
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

// The same program without pctctl notices that other threads execute: the test above can fail.
TEST(Starvation, TheProgramCanTell) {
    Process alone({built("programs/starve"), "1", "8"});
    EXPECT_EQ(1, alone.wait(std::chrono::seconds(60))) << alone.out() << alone.err();
}

// A thread spins on a flag that only a starved thread can set. The spin limit lets the other go on,
// and the summary reports that as an intervention.
TEST(SpinLimit, EndsASpinAndIsCounted) {
    const Call call = pctctl({"--seed", "1", "--runs", "6", "--depth", "1", "--spin-limit", "0.1",
                              "--", built("zoo/healthy_spin_flag")});
    EXPECT_EQ(0, call.status) << call;
    EXPECT_GT(call.summary.interventions, 0U) << call;
    EXPECT_NE(std::string::npos, call.out.find("intervention")) << call;
}

// Two threads that keep waking each other do not starve a lower one for ever, although neither of
// them spins.
TEST(BusyThreads, LetALowerOneGoOn) {
    const Call call = pctctl({"--seed", "1", "--runs", "8", "--depth", "1", "--timeout", "60", "--",
                              built("zoo/healthy_busy_pair")});
    EXPECT_EQ(0, call.status) << call;
    EXPECT_EQ(8U, call.summary.runs_done) << call;
    EXPECT_GT(call.summary.interventions, 0U) << call;
}

// sched_yield() is a sign of no progress even where it is not a step (--points pthread), and
// without the help of a spin limit.
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
