// SPDX-License-Identifier: GPL-2.0-only
// Waits for descriptors: read() and write(), poll(), select(), epoll_wait().
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "judge/run_view.h"
#include "judge/wait.h"

namespace pctctl {

// Where data, room or an event of a descriptor would come from.
struct Source {
    bool internal = false; // only from threads of the run
    std::string name;      // "a pipe (descriptor 3)"
};

inline Source internal_source(std::string name) {
    return {true, std::move(name)};
}
inline Source external_source(std::string name) {
    return {false, std::move(name)};
}

// depth: of epoll sets that are members of one another.
Source source_of(const BlockedThread& thread, int fd, int depth = 0);

// For any one of several descriptors. what: "data", "room", "an event".
Wait descriptors_wait(const BlockedThread& thread, const std::vector<int>& fds, const char* what);

// poll(): an array of struct pollfd.
Wait poll_set_wait(const BlockedThread& thread, std::uint64_t array, std::uint64_t count);

// select(): sets: the addresses of three sets, 0 for none, of descriptors below count.
Wait select_sets_wait(const BlockedThread& thread, std::uint64_t count, const std::uint64_t* sets);

Wait epoll_set_wait(const BlockedThread& thread, int fd);

} // namespace pctctl
