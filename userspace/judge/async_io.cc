// SPDX-License-Identifier: GPL-2.0-only
#include "judge/async_io.h"

#include <set>

#include "base/files.h"
#include "judge/proc_tree.h"

namespace pctctl {

namespace {

// Linux AIO maps its ring as the file "/[aio]".
std::optional<std::string> linux_aio(const RunView& run) {
    for (pid_t pid : run.pids())
        if (read_text(run.directory(pid) + "/maps").value_or("").find("/[aio]") !=
            std::string::npos)
            return "process " + std::to_string(pid) +
                   " uses asynchronous I/O, which may end a wait";
    return std::nullopt;
}

std::optional<std::string> io_uring(const RunView& run) {
    std::set<pid_t> seen; // As a rule the threads of a process share their descriptors.
    for (const LiveThread& thread : run.threads()) {
        if (seen.contains(thread.pid))
            continue;
        const std::string fds = run.directory(thread) + "/fd";
        const auto numbers = numbers_in(fds);
        if (!numbers || numbers->empty())
            continue; // this thread has ended; another one may live
        seen.insert(thread.pid);
        for (int fd : *numbers)
            if (read_link(fds + "/" + std::to_string(fd)) == "anon_inode:[io_uring]")
                return "process " + std::to_string(thread.pid) +
                       " uses io_uring, which may end a wait";
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> asynchronous_io(const RunView& run) {
    auto found = linux_aio(run);
    return found ? found : io_uring(run);
}

} // namespace pctctl
