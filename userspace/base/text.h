// SPDX-License-Identifier: GPL-2.0-only
// Text for people and shells.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pctctl {

// Words as a POSIX shell reads them back, byte for byte; quoted only where needed.
std::string shell_quote(std::span<const std::string> words);
std::string shell_quote(std::string_view word);

// Safe for a terminal and one line: control characters and broken UTF-8 become '?', at most `limit`
// bytes are kept (then ends in "...").
std::string printable(std::string_view text, std::size_t limit = 400);

bool is_utf8(std::string_view text);

// "0.4 s", "12 s", "3 min 05 s", "2 h 05 min".
std::string duration_text(double seconds);

// "1 run", "2 runs".
std::string counted(std::uint64_t count, std::string_view noun);

std::string signal_name(int signal); // "SIGSEGV"; "signal 40" when it has no name

// A probability with three significant digits, rounded in the stated direction so that "at least"
// and "at most" stay true. Close to 1 it is written as "1 - x".
std::string at_least(double probability);
std::string at_most(double probability);

// Strict decimal number: all of the text, no sign, no spaces.
std::optional<std::uint64_t> parse_number(std::string_view text);
// The same, or 0x and hex digits.
std::optional<std::uint64_t> parse_number_or_hex(std::string_view text);
// Seconds, fractional allowed, 0 .. 1e9; rounded to nanoseconds.
std::optional<std::chrono::nanoseconds> parse_seconds(std::string_view text);

// The parts between commas, at least one; they may be empty.
std::vector<std::string_view> comma_separated(std::string_view list);

// The last line that is not blank; empty when there is none.
std::string_view last_line(std::string_view text);

// Parts between separators; empty ones are left out.
std::vector<std::string> split(std::string_view text, char separator);

// Without white space at either end.
std::string_view trimmed(std::string_view text);

} // namespace pctctl
