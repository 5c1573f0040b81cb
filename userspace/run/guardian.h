// SPDX-License-Identifier: GPL-2.0-only
// Cleans up after a controller that died without doing so itself.
//
// A small process in its own session, with its own name, that holds nothing but the read end of a
// pipe and a descriptor of the controller's process. The controller tells it in advance what is to
// be undone; when that process ends without having dismissed it, the guardian kills what runs in
// the cgroups named, removes them and takes back changed settings, the latest first. Life cycle:
// start() while the controller has a single thread; the destructor dismisses it, by which time the
// controller must have undone everything itself.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace pctctl {

// Writes -pids to a cgroup.subtree_control, unless a group below has a limit by now that would be
// gone without a word.
void take_back_pids(const std::string& control);

class Guardian {
public:
    static Result<Guardian> start();
    Guardian(Guardian&&) noexcept = default;
    Guardian& operator=(Guardian&&) = delete;
    ~Guardian();

    // Directories are absolute paths. forget() withdraws whatever was said about one.
    void kill_in(const std::string& directory);           // kill the processes, keep the cgroup
    void remove_when_empty(const std::string& directory); // about to be made by us
    void kill_and_remove(const std::string& directory);
    void forget(const std::string& directory);
    // On the controller's death write text to file. forget(file) withdraws it.
    void restore(const std::string& file, std::string_view text);
    // The same with the pids controller for the groups below: take_back_pids(file).
    void take_back_pids(const std::string& file);

    pid_t pid() const { return pid_; }

private:
    Guardian(Fd pipe, pid_t pid) : pipe_(std::move(pipe)), pid_(pid) {}
    void send(char kind, const std::string& path, std::string_view text = {});

    Fd pipe_;
    pid_t pid_ = -1;
};

} // namespace pctctl
