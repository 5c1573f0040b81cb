// SPDX-License-Identifier: GPL-2.0-only
// Decides whether a run in which no thread is runnable is deadlocked.
//
// It is deadlocked if each thread waits, without a time limit, for something that only threads of
// the run can do. Two threads, each of which waits for a mutex that the other one holds, are an
// example. It is not deadlocked if a wait could be ended from outside: a sleep, a timer, a client
// that may connect, a terminal, a named pipe. Waits that are not understood count as such. A wrong
// "no" costs the run's time limit; a wrong "yes" would be a false report.
//
// The judge reads /proc while the threads could move. The caller makes sure that nothing of the run
// moved meanwhile, or else throws the verdict away and asks again.
//
// The parts, from the whole to the detail: thread_wait.h (one thread), blocking_calls.h (its system
// call), then futexes.h, descriptors.h, sockets.h, file_locks.h and children.h (what it waits for).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "judge/inspect.h"

namespace pctctl {

struct LiveThread {
    pid_t pid; // process and thread, as the initial PID namespace numbers them
    pid_t tid;
    std::string name; // how to call it: "0.1 'worker'"
};

struct Verdict {
    bool deadlock = false;
    // A line for each thread that lives, such as "thread 0.1 'worker' (pid 12): waits for a mutex
    // or condition (futex 0x55d0), held by thread 0.2 'main'". The pid is the one that the program
    // itself sees.
    std::vector<std::string> lines;
    std::string reason; // when it is no deadlock: the first fact that speaks against it
    // Each thread waits for what another one has or is: a lock, its end, a child process. So none
    // is just idle, as a server that waits for its next request.
    bool all_held = true;
};

// threads: all live threads of the run. timers_possible: the run may have armed an interval timer
// or a POSIX timer, whose signal can end any wait. proc: where procfs is mounted.
Verdict judge(const std::vector<LiveThread>& threads, bool timers_possible, Inspector& inspector,
              const std::string& proc = "/proc");

} // namespace pctctl
