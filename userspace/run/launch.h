// SPDX-License-Identifier: GPL-2.0-only
// Starts runs of the program under test, each in namespaces of its own. zygote.h tells which
// processes take part.
//
// A run gets:
//   a PID namespace, whose process 1 is ours and ends the whole run
//   a mount namespace: a /proc of its own, private files bound over the originals, read-only cgroup
//     file systems
//   a session of its own; stdin /dev/null, stdout and stderr as given, no other descriptor
//   default signal dispositions and no blocked signals
//   no address space randomization; no core dumps; umask 022
//   the caller's working directory, resource limits and environment
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "kernel/private_libc.h"
#include "run/identity.h"

namespace pctctl {

constexpr int kPolicySchedExt = 7; // SCHED_EXT of linux/sched.h

struct LaunchOptions {
    std::vector<std::string> command;              // looked up as execvp does
    std::optional<Identity> identity;              // not set: the caller's
    std::vector<const PrivateFile*> private_files; // needed during Launcher::create() only
    unsigned slots = 1;                            // runs at the same time
    std::optional<int> policy = kPolicySchedExt;   // scheduling policy; not set: unchanged
};

namespace launch_detail {
struct Slot;
}

// One run, from before exec until its last process is dead. Must not outlive the Launcher.
class Process {
public:
    Process(Process&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    Process& operator=(Process&&) = delete;
    ~Process(); // kills

    // The process that will execute the program, as the initial PID namespace numbers it. Constant.
    pid_t root_pid() const;

    // Lets the program start, and returns once it has been executed. Error of usage if it cannot be
    // executed, of environment if the kernel refuses the scheduling policy. An error ends the run.
    Status release();

    // Becomes readable when wait_status() may have changed.
    int event_fd() const;

    // How the root process ended, as from waitpid(). Nothing while it runs. SIGKILL if the run's
    // process 1 was killed from outside.
    std::optional<int> wait_status();

    // Kills all processes of the run, and returns when none is left. Idempotent. The cgroup may
    // stay "populated" for a moment.
    Status kill_all();

private:
    friend class Launcher;
    explicit Process(launch_detail::Slot* slot) : slot_(slot) {}
    launch_detail::Slot* slot_;
};

class Launcher {
public:
    // Starts the helper processes. Call it while the process has a single thread and little memory.
    // The calling thread may end later.
    static Result<Launcher> create(const LaunchOptions& options);
    Launcher(Launcher&&) noexcept;
    Launcher& operator=(Launcher&&) = delete;
    ~Launcher(); // waits for the helpers to end; all Processes must be gone

    // Makes a run ready to start, with all its processes in the cgroup. One run per slot at a time;
    // different slots may be used from different threads. The descriptors are duplicated.
    Result<Process> prepare(unsigned slot, int cgroup, int out, int err);

private:
    Launcher();
    std::vector<std::unique_ptr<launch_detail::Slot>> slots_;
    pid_t mother_ = -1;
};

} // namespace pctctl
