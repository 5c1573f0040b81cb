// SPDX-License-Identifier: GPL-2.0-only
// Decides whether a run in which no thread is runnable is deadlocked.
//
// It is only if every thread waits, without a time limit, for something that nobody but threads of
// the run can bring about. Whatever is not understood, and whatever could be ended from outside (a
// sleep, a timer, a client that connects, a terminal, a named pipe), is no deadlock: a wrong "no"
// costs the run's time limit, a wrong "yes" a false report.
//
// The caller must make sure that nothing of the run moved while judge() looked, and call it again
// otherwise.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "judge/inspect.h"

namespace pctctl {

struct LiveThread {
    pid_t pid; // process and thread, as the initial PID namespace numbers them
    pid_t tid;
    std::string name; // how to call it, such as "0.1 'worker'"
};

struct Verdict {
    bool deadlock = false;
    // One line for each thread that lives, e.g. "thread 0.1 'worker' (pid 12): waits for a mutex or
    // condition (futex 0x55d0), held by thread 0.2 'main'"; pid is the program's own view.
    std::vector<std::string> lines;
    std::string reason; // when it is none: the first line that says why
    // Each thread waits for what another one has or is: a lock, its end, a child. None could be
    // idle, waiting to be asked for something.
    bool all_held = true;
};

// threads: all live threads of the run. timers_possible: it may have armed an interval or POSIX
// timer, whose signal can end any wait. proc: where procfs is mounted.
Verdict judge(const std::vector<LiveThread>& threads, bool timers_possible, Inspector& inspector,
              const std::string& proc = "/proc");

} // namespace pctctl
