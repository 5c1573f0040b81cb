// SPDX-License-Identifier: GPL-2.0-only
// Small files, as /proc, /sys and cgroups have them.
#pragma once

#include <string>
#include <string_view>

namespace vm::init {

std::string read_small_file(const std::string& path); // without newlines at the end
bool write_small_file(const std::string& path, std::string_view text);
void make_directories(const std::string& path);

// "WHAT: Permission denied", of errno.
std::string error_text(const std::string& what);

} // namespace vm::init
