// SPDX-License-Identifier: GPL-2.0-only
// The ways in which the benchmarks run a program. All of them throw on an error: half of a ratio is
// worth nothing, so the section ends there and says why.
#pragma once

#include <bpf/bpf.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/fd.h"
#include "kernel/private_libc.h"
#include "run/cgroup.h"
#include "run/kernel_executor.h"
#include "run/launch.h"

namespace bench {

using Clock = std::chrono::steady_clock;

inline double ns_since(Clock::time_point start) {
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

[[noreturn]] inline void die(const std::string& message) {
    throw std::runtime_error(message);
}

template <typename T> T need(pctctl::Result<T> result) {
    if (!result)
        die(result.error().message);
    return std::move(*result);
}

inline std::vector<double> numbers(const std::string& text) {
    std::istringstream stream(text);
    std::vector<double> result;
    for (double value; stream >> value;)
        result.push_back(value);
    if (result.empty())
        die("a program printed no measurement but '" + text + "'");
    return result;
}

inline std::string contents(int fd) {
    std::string text(1 << 12, '\0');
    const ssize_t n = pread(fd, text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
}

// Under the scheduler, with one policy or several (separated by commas).
class Scheduled {
public:
    explicit Scheduled(std::vector<std::string> command, unsigned jobs = 1,
                       std::string policies = "pct",
                       const pctctl::PolicyParameters& parameters = {}) {
        pctctl::ExecutorOptions options;
        options.command = std::move(command);
        options.jobs = jobs;
        options.policy = std::move(policies);
        options.parameters = parameters;
        executor_ = need(pctctl::make_kernel_executor(options));
    }

    // Returns what the program printed. Different threads may use different slots.
    std::string run(unsigned slot = 0) {
        return run(slot, {}, {100, (number_[slot] + 1) * 2ull + slot}).out;
    }

    pctctl::RunResult run(unsigned slot, const pctctl::Algorithm& algorithm, pctctl::RunSeed seed) {
        pctctl::RunPlan plan;
        plan.number = ++number_[slot];
        plan.seed = seed;
        plan.algorithm = algorithm;
        pctctl::RunResult result = need(executor_->execute(slot, plan));
        if (result.outcome != pctctl::Outcome::pass)
            die("a run ended with " + std::string(name(result.outcome)) + ": " + result.detail);
        return result;
    }

private:
    std::unique_ptr<pctctl::Executor> executor_;
    std::uint32_t number_[64] = {};
};

// Without the scheduler, but with an empty BPF program wherever the scheduler would probe the libc
// copy.
class EmptyProbes {
public:
    explicit EmptyProbes(bool sleepable = false)
        : libc_(need(pctctl::PrivateFile::copy(need(pctctl::libc_path())))) {
        const auto points = need(pctctl::prepare_libc_points(libc_.fd()));
        std::vector<unsigned long> offsets;
        for (const pctctl::LibcPoint& point : points)
            offsets.push_back(point.offset);
        const bpf_insn code[] = {
            {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0}, // r0 = 0
            {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
        };
        bpf_prog_load_opts load = {};
        load.sz = sizeof load;
        load.expected_attach_type = BPF_TRACE_UPROBE_MULTI;
        load.prog_flags = sleepable ? BPF_F_SLEEPABLE : 0;
        program_.reset(
            bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "GPL", code, std::size(code), &load));
        if (!program_)
            die("cannot load an empty BPF program: " + pctctl::errno_text(errno));
        const std::string path = libc_.probe_path();
        bpf_link_create_opts where = {};
        where.sz = sizeof where;
        where.uprobe_multi.path = path.c_str();
        where.uprobe_multi.offsets = offsets.data();
        where.uprobe_multi.cnt = static_cast<__u32>(offsets.size());
        link_.reset(bpf_link_create(program_.get(), 0, BPF_TRACE_UPROBE_MULTI, &where));
        if (!link_)
            die("cannot put empty probes on a copy of libc: " + pctctl::errno_text(errno));
    }
    const pctctl::PrivateFile& libc() const { return libc_; }

private:
    pctctl::PrivateFile libc_;
    pctctl::Fd program_;
    pctctl::Fd link_;
};

// In the same namespaces and cgroup as a run, but without the scheduler. Make it while the process
// has one thread.
class Unscheduled {
public:
    Unscheduled(std::vector<std::string> command, const EmptyProbes* probes,
                const std::string& group)
        : cgroup_(need(pctctl::Cgroup::create(group))),
          launcher_(need(pctctl::Launcher::create(options(std::move(command), probes)))),
          out_(memfd_create("out", MFD_CLOEXEC)) {}

    std::string run() {
        if (ftruncate(out_.get(), 0) != 0)
            die("cannot empty a file in memory");
        lseek(out_.get(), 0, SEEK_SET);
        pctctl::Process process = need(launcher_.prepare(0, cgroup_.fd(), out_.get(), out_.get()));
        need(process.release());
        std::optional<int> status;
        while (!(status = process.wait_status())) {
            pollfd news{process.event_fd(), POLLIN, 0};
            poll(&news, 1, -1);
        }
        if (*status != 0)
            die("a program failed without the scheduler");
        need(process.kill_all());
        return contents(out_.get());
    }

private:
    static pctctl::LaunchOptions options(std::vector<std::string> command,
                                         const EmptyProbes* probes) {
        pctctl::LaunchOptions options;
        options.command = std::move(command);
        options.policy.reset();
        if (probes)
            options.private_files.push_back(&probes->libc());
        return options;
    }

    pctctl::Cgroup cgroup_;
    pctctl::Launcher launcher_;
    pctctl::Fd out_;
};

// A plain child process of ours. It is killed if it still runs at the end.
class Plain {
public:
    explicit Plain(const std::vector<std::string>& command)
        : out_(memfd_create("out", MFD_CLOEXEC)) {
        std::vector<char*> argv;
        for (const std::string& argument : command)
            argv.push_back(const_cast<char*>(argument.c_str()));
        argv.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, out_.get(), 1);
        const int error = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        if (error)
            die("cannot start " + command[0] + ": " + pctctl::errno_text(error));
    }
    Plain(const Plain&) = delete;
    Plain& operator=(const Plain&) = delete;
    ~Plain() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }
    std::string output() { // waits
        int status = -1;
        waitpid(pid_, &status, 0);
        pid_ = -1;
        if (status != 0)
            die("a plain program failed");
        return contents(out_.get());
    }

private:
    pctctl::Fd out_;
    pid_t pid_ = -1;
};

} // namespace bench
