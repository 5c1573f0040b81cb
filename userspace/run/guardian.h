// SPDX-License-Identifier: GPL-2.0-only
// Cleans up if the controller dies (is killed, for example) before it has done so itself.
//
// A small process in a session of its own, with a name of its own. It holds nothing but the read
// end of a pipe and a descriptor of the controller's process. Through the pipe the controller tells
// it in advance what will have to be undone. If the controller ends without dismissing it, the
// guardian kills the processes in those cgroups, removes the cgroups and restores changed settings,
// the latest first.
//
// Life cycle: start() it while the controller has a single thread. The destructor dismisses it; by
// then the controller must have undone everything itself.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace pctctl {

// Writes -pids to a cgroup.subtree_control, unless a group below has a limit by now: that limit
// would silently be lost.
void take_back_pids(const std::string& control);

class Guardian {
public:
    static Result<Guardian> start();
    Guardian(Guardian&&) noexcept = default;
    Guardian& operator=(Guardian&&) = delete;
    ~Guardian();

    // Directories are absolute paths. forget() withdraws whatever was announced for one.
    void kill_in(const std::string& directory);           // kill the processes, keep the cgroup
    void remove_when_empty(const std::string& directory); // call it before making the cgroup
    void kill_and_remove(const std::string& directory);
    void forget(const std::string& directory);
    // If the controller dies, write text to file. forget(file) withdraws it.
    void restore(const std::string& file, std::string_view text);
    // If the controller dies, call take_back_pids(file).
    void take_back_pids(const std::string& file);

    pid_t pid() const { return pid_; }

private:
    Guardian(Fd pipe, pid_t pid) : pipe_(std::move(pipe)), pid_(pid) {}
    void send(char kind, const std::string& path, std::string_view text = {});

    Fd pipe_;
    pid_t pid_ = -1;
};

} // namespace pctctl
