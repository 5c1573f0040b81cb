// SPDX-License-Identifier: GPL-2.0-only
// Directories and links below /proc; proc(5). What the files there say is parsed by
// base/proc_text.h.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pctctl {

// The target of a symbolic link; nothing when it cannot be read.
std::optional<std::string> read_link(const std::string& path);

// The names in a directory that are numbers, such as the descriptors in /proc/PID/fd; nothing when
// the directory cannot be read.
std::optional<std::vector<int>> numbers_in(const std::string& directory);

// The directories in which a process, given as "/proc/PID", shows its descriptors. kind: "fd" or
// "fdinfo".
std::vector<std::string> descriptor_directories(const std::string& process,
                                                const std::string& kind);

// The number of a process or thread as its own PID namespace has it, from its status file. field:
// "NStgid" or "NSpid". fallback: the number to give when the file does not tell.
std::string own_number(std::string_view status, const char* field, pid_t fallback);

} // namespace pctctl
