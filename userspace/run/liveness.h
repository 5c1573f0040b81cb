// SPDX-License-Identifier: GPL-2.0-only
// Is a run that has used up its time only slow, or does it hang?
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "pctctl/run.h"

namespace pctctl {

// Watches the progress of one run. A run makes progress when
//   - a thread is created or is gone,
//   - a system call that is a scheduling point succeeds, unless it is a poll with nothing ready, a
//     yield or a sleep,
//   - a thread carries out operations of the thread library, unless it only waits in a loop: it
//     polls, yields or sleeps again and again, and does the same few operations in between.
// The last two are what the kernel side counts in pct_run_state.useful, see pctctl/lap.h.
class Liveness {
public:
    // A run hangs when the whole last part of its time, 1/kQuietPart of its limit, has gone by
    // without progress.
    static constexpr int kQuietPart = 2;
    // More than this between two looks does not count as the run's time: the whole machine stood
    // still, or so busy was it that even the controller did not get a CPU.
    static constexpr std::chrono::nanoseconds kLongestLook = std::chrono::seconds(1);

    explicit Liveness(std::chrono::nanoseconds limit) : limit_(limit) {}

    // Takes in the state of the run, so much time after the last look, or its start.
    void look(const pct_run_state& state, std::chrono::nanoseconds since);

    bool time_is_up() const { return lived_ >= limit_; }
    std::chrono::nanoseconds left() const { return limit_ - lived_; }
    // Call when time is up.
    bool hangs() const { return is_long(lived_ - progressed_); }
    // What it did in the end, for people: "no step for 31 s".
    std::string text() const;

private:
    bool is_long(std::chrono::nanoseconds time) const { return time >= limit_ / kQuietPart; }

    std::chrono::nanoseconds limit_;
    std::chrono::nanoseconds lived_{0};
    std::chrono::nanoseconds progressed_{0}; // when progress was seen last, on the clock of lived_
    std::chrono::nanoseconds stepped_{0};    // when a step was
    std::uint64_t steps_ = 0;
    std::uint64_t steps_then_ = 0; // at the last progress
    std::uint64_t useful_ = 0;
    std::uint32_t threads_ = 0;
    std::uint32_t alive_ = 0;
};

} // namespace pctctl
