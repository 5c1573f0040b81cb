// SPDX-License-Identifier: GPL-2.0-only
#include "kernel/libbpf_messages.h"

#include <cstdarg>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace pctctl {
namespace {

// What libbpf did before a warning is worth this many lines. All of it would be thousands for each
// load of the scheduler.
constexpr std::size_t kMostRecent = 40;

struct Messages {
    std::mutex mutex;
    Log log;
    std::deque<std::string> recent; // debug messages since the last warning
};

// The function that libbpf calls gets no context of ours, so this is static.
Messages& messages() {
    static Messages all;
    return all;
}

std::string formatted(const char* format, va_list args) {
    va_list again;
    va_copy(again, args);
    const int size = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    std::string text(static_cast<std::size_t>(size < 0 ? 0 : size), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, args);
    return text;
}

void note(Messages& all, std::string_view line) {
    all.recent.emplace_back(line);
    if (all.recent.size() > kMostRecent)
        all.recent.pop_front();
}

void warn(Messages& all, std::string_view warning) {
    for (const std::string& line : std::exchange(all.recent, {}))
        all.log.debug("{}", printable(line));
    // The verifier's log is one warning of many lines.
    const std::vector<std::string> lines = split(warning, '\n');
    if (lines.size() == 1)
        all.log.warning(printable(warning));
    else
        for (const std::string& line : lines)
            all.log.debug("{}{}", line.starts_with("libbpf: ") ? "" : "libbpf: ", printable(line));
}

int take(libbpf_print_level level, const char* format, va_list args) {
    Messages& all = messages();
    const std::lock_guard lock(all.mutex);
    if (level != LIBBPF_WARN && !all.log.heard(Log::Level::debug))
        return 0;
    const std::string text = formatted(format, args);
    if (level == LIBBPF_WARN)
        warn(all, trimmed(text));
    else if (level == LIBBPF_INFO)
        all.log.debug("{}", printable(trimmed(text)));
    else
        note(all, trimmed(text));
    return 0;
}

} // namespace

LibbpfMessages::LibbpfMessages(const Log& log) : previous_(libbpf_set_print(nullptr)) {
    messages().log = log;
    libbpf_set_print(take);
}

LibbpfMessages::~LibbpfMessages() {
    libbpf_set_print(previous_);
    messages().log = {};
    messages().recent.clear();
}

} // namespace pctctl
