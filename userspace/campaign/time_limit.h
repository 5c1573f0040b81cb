// SPDX-License-Identifier: GPL-2.0-only
// How long a run may take if the user does not say so.
#pragma once

#include <chrono>
#include <optional>

#include "plan/run_plan.h" // kFirstTimeLimit

namespace pctctl {

// So many times as long as the slowest run so far, within these limits.
inline constexpr int kTimesTheSlowest = 10;
inline constexpr std::chrono::nanoseconds kLeastTimeLimit = std::chrono::seconds(20);
inline constexpr std::chrono::nanoseconds kMostTimeLimit = std::chrono::seconds(600);

// The time limit that follows from some runs of a program.
class TimeLimit {
public:
    // How long a run took that ended by itself. (One that was cut off tells nothing.)
    void add(double duration_ms);
    // kFirstTimeLimit as long as there is no such run.
    std::chrono::nanoseconds value() const;

private:
    std::optional<double> slowest_ms_;
};

} // namespace pctctl
