// SPDX-License-Identifier: GPL-2.0-only
#include "judge/file_locks.h"

#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/proc_text.h"
#include "judge/proc_tree.h"

namespace pctctl {

namespace {

bool has_descriptor_with_lock(const std::string& process, const std::string& lock) {
    for (const std::string& infos : descriptor_directories(process, "fdinfo"))
        for (int fd : numbers_in(infos).value_or(std::vector<int>()))
            if (holds_lock(read_text(infos + "/" + std::to_string(fd)).value_or(""), lock))
                return true;
    return false;
}

// A lock of flock() or F_OFD_SETLKW belongs to the open file, so to every process that has it open,
// and also when the process that took the lock has ended. "exec 9>file; flock 9" in a shell is an
// example: flock(1) has ended, and the shell has the lock. Returns a process that has it: one
// outside the run, if there is one; else preferably another one than the waiter.
std::optional<int> holder_of(const std::string& lock, const BlockedThread& waiter) {
    if (!lock.starts_with("FLOCK ") && !lock.starts_with("OFDLCK "))
        return std::nullopt;
    const RunView& run = waiter.run;
    std::optional<int> holder;
    for (int pid : numbers_in(run.proc()).value_or(std::vector<int>())) {
        if (!has_descriptor_with_lock(run.directory(pid), lock))
            continue;
        if (!run.has(pid))
            return pid;
        if (!holder || *holder == waiter.thread.pid)
            holder = pid;
    }
    return holder;
}

// waited_for: the locks of others that may be in the way, each as in /proc/locks.
Wait lock_wait(const BlockedThread& thread, const std::vector<std::string>& waited_for) {
    const RunView& run = thread.run;
    std::set<std::string> owners;
    for (const std::string& lock : waited_for) {
        auto owner = parse_lock_owner(lock);
        if (!owner || !run.has(*owner))
            owner = holder_of(lock, thread);
        if (!owner || !run.has(*owner)) {
            owners.clear();
            break;
        }
        owners.insert(own_number(read_text(run.directory(*owner) + "/status").value_or(""),
                                 "NStgid", *owner));
    }
    if (owners.empty())
        return external_wait(
            "waits for a file lock held outside the run, or by an unknown process");
    std::string text;
    for (const std::string& owner : owners)
        text += (text.empty() ? "" : " or ") + owner;
    return internal_wait_for_holder("waits for a file lock held by process " + text);
}

std::string all_locks(const BlockedThread& thread) {
    return read_text(thread.run.proc() + "/locks").value_or("");
}

} // namespace

Wait process_lock_wait(const BlockedThread& thread) {
    return lock_wait(thread, parse_locks_waited_for(all_locks(thread), thread.thread.pid));
}

// /proc/locks does not tell which of the requests for locks of that file is the thread's. So all
// count.
Wait open_file_lock_wait(const BlockedThread& thread, int fd) {
    const std::string inode = parse_field(thread.fdinfo(fd), "ino").value_or("0");
    return lock_wait(thread, parse_open_file_locks_waited_for(
                                 all_locks(thread), std::strtoull(inode.c_str(), nullptr, 10)));
}

} // namespace pctctl
