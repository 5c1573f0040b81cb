// SPDX-License-Identifier: GPL-2.0-only
// Diagnostics: warnings and errors, and for those who ask (-v, -vv, --log) what is going on.
// Results and progress are not diagnostics.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "base/result.h"

namespace spdlog {
class logger;
} // namespace spdlog

namespace pctctl {

// A handle: copies write to the same places. Several threads may use it at once. Each text is one
// line, without a newline at its end.
class Log {
public:
    enum class Level { debug, info, warning, error };

    Log() = default; // says nothing
    // What is of at least this level goes to `stream`, which must outlive all copies:
    // "pctctl: TEXT" for errors, "pctctl: warning: TEXT" and so on for the others.
    explicit Log(std::FILE* stream, Level level = Level::warning);

    // From now on everything also goes to `file`, with time stamps, each line at once; what the
    // file contained is lost. It may belong to a directory in which others can write: a symbolic
    // link, or a file that has a second name, is refused. Before other threads use it, and not of a
    // Log that says nothing.
    Status also_to(const std::string& file);

    void error(std::string_view text) const { say(Level::error, text); }
    void warning(std::string_view text) const { say(Level::warning, text); }
    template <typename... T> void info(fmt::format_string<T...> format, T&&... values) const {
        if (heard(Level::info))
            say(Level::info, fmt::format(format, std::forward<T>(values)...));
    }
    template <typename... T> void debug(fmt::format_string<T...> format, T&&... values) const {
        if (heard(Level::debug))
            say(Level::debug, fmt::format(format, std::forward<T>(values)...));
    }
    // Does a text of this level reach anybody?
    bool heard(Level level) const;

private:
    void say(Level level, std::string_view text) const;

    std::shared_ptr<spdlog::logger> logger_; // null: says nothing
    std::FILE* stream_ = nullptr;
};

} // namespace pctctl
