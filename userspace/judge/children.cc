// SPDX-License-Identifier: GPL-2.0-only
#include "judge/children.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/proc_text.h"
#include "base/text.h"
#include "judge/proc_tree.h"

namespace pctctl {

Wait children_wait(const BlockedThread& thread) {
    RunView& run = thread.run;
    unsigned count = 0;
    // Any thread of the process may have created them.
    const std::string tasks = run.directory(thread.thread.pid) + "/task";
    for (int tid : numbers_in(tasks).value_or(std::vector<int>())) {
        const auto text = read_text(tasks + "/" + std::to_string(tid) + "/children");
        if (!text)
            return external_wait("waits for child processes that cannot be listed");
        for (const std::string& child : split(trimmed(*text), ' ')) {
            const bool ours = run.has(std::atoi(child.c_str()));
            const auto stat = read_text(run.proc() + "/" + child + "/stat");
            if (!ours && parse_state(stat.value_or("")) == 'Z')
                continue; // It has ended, so it is not the one that is waited for.
            if (!ours)
                return external_wait("waits for a child process that is not part of the run (" +
                                     child + ")");
            count++;
        }
    }
    return internal_wait_for_holder(count == 1 ? "waits for its child process to end"
                                               : "waits for one of its " + std::to_string(count) +
                                                     " child processes to end");
}

} // namespace pctctl
