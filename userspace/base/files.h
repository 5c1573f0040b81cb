// SPDX-License-Identifier: GPL-2.0-only
// Small files of /proc, /sys and the like, read and written whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pctctl {

// The file's contents; nothing when it cannot be opened or read (errno says why).
std::optional<std::string> read_text(const std::string& path);

// Writes text with a single write(2), as control files need it. Returns 0 or an errno value.
int write_text(const std::string& path, std::string_view text);

// Writes all of text, however many calls that takes. Returns 0 or an errno value.
int write_all(int fd, std::string_view text);

} // namespace pctctl
