// SPDX-License-Identifier: GPL-2.0-only
// A group of the cgroup v2 hierarchy (Documentation/admin-guide/cgroup-v2.rst of the kernel).
//
// Life cycle: create() makes the group, or takes over an existing one that is empty. The destructor
// (or remove()) kills the processes that are left in it, removes the directories that create()
// made, and undoes what limit_processes() changed. A group that existed before stays. Foreign
// processes are never touched. With a Guardian the same happens if the controller dies.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "run/guardian.h"

namespace pctctl {

// Reads from the text of /proc/self/mounts where the cgroup v2 file system is mounted. On hosts
// that use v1 and v2 together this is not /sys/fs/cgroup.
std::optional<std::string> find_cgroup_mount(std::string_view mounts);

class Cgroup {
public:
    // name: relative to the mount point. guardian may be null; else it must outlive the group.
    static Result<Cgroup> create(std::string_view name, Guardian* guardian = nullptr);
    Cgroup(Cgroup&& other) noexcept;
    Cgroup& operator=(Cgroup&&) = delete;
    ~Cgroup();

    Result<Cgroup> child(std::string_view name) const;

    // Allows at most this many processes and threads. If the machine cannot limit them, returns one
    // line that says why, and what to do about it.
    Result<std::optional<std::string>> limit_processes(unsigned count);

    // How often that limit has ever kept a process or thread from being created. 0 without a limit.
    std::uint64_t limit_hits() const;

    Status kill();                  // SIGKILL to all processes in it and below
    Result<bool> populated() const; // is there a live process in it or below?
    Result<bool> wait_empty(std::chrono::milliseconds timeout) const; // false: timed out
    Status remove();                                                  // idempotent

    int fd() const { return directory_.get(); } // of the directory, for CLONE_INTO_CGROUP
    std::uint64_t id() const { return id_; }    // the kernel's number for it
    const std::string& path() const { return path_; }
    const std::string& mount() const { return mount_; }
    bool made() const { return !made_.empty(); } // it did not exist before

private:
    Cgroup() = default;
    static Result<Cgroup> open(std::string mount, std::string parent, std::string_view name,
                               Guardian* guardian);

    std::string mount_;
    std::string path_;
    Fd directory_;
    std::uint64_t id_ = 0;
    std::vector<std::string> made_;    // directories, outermost first
    std::vector<std::string> enabled_; // cgroup.subtree_control files we added "pids" to
    std::string limit_before_; // pids.max of a group that was there before; empty: not set by us
    Guardian* guardian_ = nullptr;
    bool removed_ = false;
};

} // namespace pctctl
