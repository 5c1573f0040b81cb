// SPDX-License-Identifier: GPL-2.0-only
// What files below /proc say about threads; proc(5). Pure functions over their text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pctctl {

// /proc/PID/task/TID/syscall of a blocked thread.
struct SyscallText {
    long number = -1; // -1: blocked, but not in a system call
    std::array<std::uint64_t, 6> arguments{};
};
// Nothing when the thread is running, or the text is not understood.
std::optional<SyscallText> parse_syscall(std::string_view text);

// The state letter of /proc/PID/task/TID/stat ('S', 'D', 'Z', ...); 0 when not understood. The
// command name in the text may contain anything.
char parse_state(std::string_view stat);

// The value of a "Name:\tvalue" line of .../status and .../fdinfo/N.
std::optional<std::string> parse_field(std::string_view text, std::string_view name);

// An entry of an epoll set, from .../fdinfo/N.
struct EpollEntry {
    int fd = -1; // number when it was added
    std::uint64_t inode = 0;
    bool operator==(const EpollEntry&) const = default;
};
// Nothing when an entry is not understood.
std::optional<std::vector<EpollEntry>> parse_epoll(std::string_view fdinfo);

// The locks for which threads of process waiter wait in /proc/locks, each without its number: "KIND
// MODE TYPE PID DEV:INODE START END".
std::vector<std::string> parse_locks_waited_for(std::string_view locks, int waiter);

// The same for requests of open files (F_OFD_SETLKW), which name no process: all that wait for a
// file with that inode number, on whatever device.
std::vector<std::string> parse_open_file_locks_waited_for(std::string_view locks,
                                                          std::uint64_t inode);

// The process that took a lock written like that; nothing for locks of open files.
std::optional<int> parse_lock_owner(std::string_view lock);

// Whether /proc/PID/fdinfo/FD is of the open file that holds the lock, written like that.
bool holds_lock(std::string_view fdinfo, std::string_view lock);

// The shared mapping of a file that contains the address, as "major:minor inode" from
// /proc/PID/maps.
std::optional<std::string> parse_shared_mapping(std::string_view maps, std::uint64_t address);

// The number of a link such as "pipe:[123]" whose kind is "pipe".
std::optional<std::uint64_t> parse_link(std::string_view link, std::string_view kind);

} // namespace pctctl
