// SPDX-License-Identifier: GPL-2.0-only
// The run that is judged, as /proc and the inspector show it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "judge/inspect.h"
#include "judge/judge.h"
#include "judge/outsiders.h"

namespace pctctl {

// A socket of which a process of the run has a descriptor.
struct HeldSocket {
    pid_t pid;
    int fd;
    std::uint64_t inode;
};

// Looks things up when first asked, and only once. The threads and the inspector must outlive it.
class RunView {
public:
    RunView(const std::vector<LiveThread>& threads, Inspector& inspector, std::string proc);
    RunView(const RunView&) = delete;
    RunView& operator=(const RunView&) = delete;

    const std::vector<LiveThread>& threads() const { return threads_; }
    const std::set<pid_t>& pids() const { return pids_; }
    bool has(pid_t pid) const { return pids_.contains(pid); }
    Inspector& inspector() const { return inspector_; }
    Outsiders& outsiders() { return outsiders_; }

    // Directories below /proc.
    const std::string& proc() const { return proc_; }
    std::string directory(pid_t pid) const;
    std::string directory(const LiveThread& thread) const;

    const std::vector<HeldSocket>& sockets();
    // The thread which the program itself, in its PID namespace, knows by this number; null: none.
    const LiveThread* by_own_number(int tid);

private:
    void add_sockets(pid_t pid);

    const std::vector<LiveThread>& threads_;
    Inspector& inspector_;
    const std::string proc_;
    const std::set<pid_t> pids_;
    Outsiders outsiders_;
    std::optional<std::vector<HeldSocket>> sockets_;
    std::map<std::string, const LiveThread*> own_numbers_;
};

// One of its threads, the one that is being examined.
struct BlockedThread {
    BlockedThread(RunView& in_run, const LiveThread& which)
        : run(in_run), thread(which), directory(in_run.directory(which)) {}

    // A file of its directory in /proc; empty when it cannot be read.
    std::string file(const char* name) const;
    std::string fdinfo(int fd) const;
    // What its descriptor refers to, as the link in /proc names it: "pipe:[123]".
    std::optional<std::string> link(int fd) const;

    // Fills the buffer with its memory, or returns false.
    bool read(std::uint64_t address, std::span<std::byte> buffer) const;
    template <typename T> std::optional<T> read(std::uint64_t address) const {
        T value;
        if (!read(address, std::as_writable_bytes(std::span(&value, 1))))
            return std::nullopt;
        return value;
    }

    RunView& run;
    const LiveThread& thread;
    const std::string directory; // "/proc/PID/task/TID"
};

} // namespace pctctl
