// SPDX-License-Identifier: GPL-2.0-only
#include "judge/judge.h"

#include <optional>
#include <utility>

#include "judge/async_io.h"
#include "judge/proc_tree.h"
#include "judge/run_view.h"
#include "judge/thread_wait.h"

namespace pctctl {

namespace {

std::string line_of(const BlockedThread& thread, const Wait& wait) {
    const pid_t pid = thread.thread.pid;
    return "thread " + thread.thread.name + " (pid " +
           own_number(thread.file("status"), "NStgid", pid) + "): " + wait.text;
}

} // namespace

// There is no need to follow who waits for whom. If each wait is internal, a thread could only go
// on after another one of the run had gone on, and none can be the first.
Verdict judge(const std::vector<LiveThread>& threads, bool timers_possible, Inspector& inspector,
              const std::string& proc) {
    RunView run(threads, inspector, proc);
    Verdict verdict;
    verdict.deadlock = true;
    const auto no_deadlock = [&](const std::string& reason) {
        verdict.deadlock = false;
        if (verdict.reason.empty())
            verdict.reason = reason;
    };
    for (const LiveThread& live : threads) {
        const BlockedThread thread(run, live);
        const std::optional<Wait> wait = wait_of(thread);
        if (!wait)
            continue;
        verdict.lines.push_back(line_of(thread, *wait));
        verdict.all_held &= wait->held;
        if (!wait->internal)
            no_deadlock(verdict.lines.back());
    }
    if (verdict.lines.empty())
        no_deadlock("no thread is alive");
    if (timers_possible)
        no_deadlock("the program has armed a timer, whose signal may end a wait");
    if (verdict.deadlock)
        if (const auto io = asynchronous_io(run))
            no_deadlock(*io);
    return verdict;
}

} // namespace pctctl
