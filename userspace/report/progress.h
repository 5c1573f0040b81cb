// SPDX-License-Identifier: GPL-2.0-only
// Shows on stderr how far a campaign is. A terminal gets one line that is kept up to date; anything
// else gets a plain line now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "plan/run_plan.h"

namespace pctctl {

struct ProgressState {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
    std::uint64_t failures = 0;
    double elapsed_s = 0;
    std::uint64_t unfinished = 0; // runs
};

// "17/100 runs, 8.3/s, 0 failures, 10 s left", "..., 1 failure, 2 unfinished". Rate and time are
// left out until they are known.
std::string progress_text(const ProgressState& state);
// The same, cut so that it fits on one terminal line of so many columns.
std::string status_line(const ProgressState& state, unsigned columns);
// "run 3: signal SIGSEGV (seed ..., 2 threads, 10 steps, 7 ms)".
std::string run_line(const RunResult& run);
// The highest percentage (of 1, 10, 25, 50, 75, 90) that was reached between two counts.
std::optional<unsigned> milestone(std::uint64_t before, std::uint64_t done, std::uint64_t total);

enum class Verbosity { quiet, normal, verbose };

class Progress {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr auto kRedraw = std::chrono::milliseconds(100);
    static constexpr auto kPlainInterval = std::chrono::seconds(10);

    // `columns` of the terminal; absent: not a terminal. The stream must outlive this.
    Progress(std::FILE* stream, std::optional<unsigned> columns, Verbosity verbosity,
             std::uint64_t total);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress(); // clears the status line

    // One call for each run, one at a time.
    void finished(const RunResult& run, Clock::time_point now = Clock::now());
    // Removes the status line. To be called before anybody else writes a line to the stream.
    void clear();

private:
    void line(const std::string& text);

    std::FILE* stream_;
    std::optional<unsigned> columns_;
    Verbosity verbosity_;
    ProgressState state_;
    Clock::time_point start_;
    Clock::time_point last_shown_;
    bool drawn_ = false;
};

// Width of the terminal behind this stream; nothing if there is none. Inside the VM the stream is a
// pipe, and vm/run passes the terminal's width in the environment. inside_vm: trust that variable.
std::optional<unsigned> terminal_columns(std::FILE* stream, bool inside_vm = false);

} // namespace pctctl
