// SPDX-License-Identifier: GPL-2.0-only
// Exit statuses of the launcher, and how it complains.
#pragma once

#include <cstdio>
#include <string>

namespace vm {

inline constexpr int kUsage = 2;
inline constexpr int kTimedOut = 124;
inline constexpr int kVmFailed = 125;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

inline void complain(const std::string& what) {
    std::fprintf(stderr, "vm/run: %s\n", what.c_str());
}

} // namespace vm
