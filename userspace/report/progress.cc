// SPDX-License-Identifier: GPL-2.0-only
#include "report/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "report/summary.h"

namespace pctctl {

std::string progress_text(const ProgressState& state) {
    std::string text = fmt::format("{}/{} runs", state.done, state.total);
    const double rate = state.elapsed_s > 0 ? static_cast<double>(state.done) / state.elapsed_s : 0;
    if (rate >= 0.095)
        text += fmt::format(", {:.{}f}/s", rate, rate < 9.95 ? 1 : 0);
    else if (rate > 0)
        text += fmt::format(", {:.1f}/min", rate * 60);
    text += ", " + counted(state.failures, "failure");
    if (state.unfinished > 0)
        text += fmt::format(", {} unfinished", state.unfinished);
    if (rate > 0 && state.done < state.total)
        text += fmt::format(", {} left",
                            duration_text(static_cast<double>(state.total - state.done) / rate));
    return text;
}

std::string status_line(const ProgressState& state, unsigned columns) {
    std::string text = progress_text(state);
    // The last column stays free: writing there makes some terminals wrap.
    if (columns > 0 && text.size() >= columns)
        text.resize(columns - 1);
    return text;
}

std::string run_line(const RunResult& run) {
    return fmt::format("run {}: {} (seed {}, {}, {}, {:.0f} ms)", run.number, outcome_text(run),
                       run.seed.text(), counted(run.threads, "thread"), counted(run.steps, "step"),
                       run.duration_ms);
}

std::optional<unsigned> milestone(std::uint64_t before, std::uint64_t done, std::uint64_t total) {
    constexpr std::array kPercentages = {90U, 75U, 50U, 25U, 10U, 1U};
    for (const unsigned percentage : kPercentages) {
        const std::uint64_t needed = (total * percentage + 99) / 100;
        if (before < needed && done >= needed)
            return percentage;
    }
    return std::nullopt;
}

Progress::Progress(std::FILE* stream, std::optional<unsigned> columns, Verbosity verbosity,
                   std::uint64_t total)
    : stream_(stream), columns_(columns), verbosity_(verbosity), start_(Clock::now()),
      last_shown_(start_) {
    state_.total = total;
}

Progress::~Progress() {
    clear();
}

void Progress::clear() {
    if (!drawn_)
        return;
    std::fputs("\r\x1b[K", stream_);
    std::fflush(stream_);
    drawn_ = false;
}

void Progress::line(const std::string& text) {
    clear();
    std::fputs((text + "\n").c_str(), stream_);
    std::fflush(stream_);
}

void Progress::finished(const RunResult& run, Clock::time_point now) {
    const std::uint64_t before = state_.done++;
    state_.failures += run.failed();
    state_.unfinished += run.outcome == Outcome::unfinished;
    state_.elapsed_s = std::chrono::duration<double>(now - start_).count();
    if (verbosity_ == Verbosity::quiet)
        return;
    if (verbosity_ == Verbosity::verbose) {
        line(run_line(run));
        return;
    }
    if (run.failed())
        line(fmt::format("run {} failed: {}", run.number, outcome_text(run)));
    else if (run.outcome == Outcome::unfinished && state_.unfinished == 1) // the others are counted
        line(fmt::format("run {} is unfinished: {}; --timeout gives runs more time", run.number,
                         printable(run.detail)));
    if (columns_) {
        if (drawn_ && now - last_shown_ < kRedraw && state_.done < state_.total)
            return;
        std::fputs(("\r" + status_line(state_, *columns_) + "\x1b[K").c_str(), stream_);
        std::fflush(stream_);
        drawn_ = true;
        last_shown_ = now;
    } else if (state_.done < state_.total && // the summary follows
               (milestone(before, state_.done, state_.total) ||
                now - last_shown_ >= kPlainInterval)) {
        line(progress_text(state_));
        last_shown_ = now;
    }
}

std::optional<unsigned> terminal_columns(std::FILE* stream, bool inside_vm) {
    const int fd = ::fileno(stream);
    const char* type = std::getenv("TERM");
    if (fd < 0 || (type && std::string_view(type) == "dumb"))
        return std::nullopt;
    if (!::isatty(fd)) {
        const char* columns = !inside_vm            ? nullptr
                              : fd == STDERR_FILENO ? std::getenv("PCTCTL_GUEST_STDERR_COLUMNS")
                              : fd == STDOUT_FILENO ? std::getenv("PCTCTL_GUEST_STDOUT_COLUMNS")
                                                    : nullptr;
        const auto value = columns ? parse_number(columns) : std::nullopt;
        if (!value || *value > 0xffff)
            return std::nullopt;
        return *value ? static_cast<unsigned>(*value) : 80;
    }
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}

} // namespace pctctl
