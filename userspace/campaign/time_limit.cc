// SPDX-License-Identifier: GPL-2.0-only
#include "campaign/time_limit.h"

#include <algorithm>
#include <cmath>

namespace pctctl {

void TimeLimit::add(double duration_ms) {
    slowest_ms_ = std::max(slowest_ms_.value_or(0), duration_ms);
}

std::chrono::nanoseconds TimeLimit::value() const {
    if (!slowest_ms_)
        return kFirstTimeLimit;
    // Whole seconds: nobody wants to read more, and runs that take about as long have the same.
    const double wanted_s = std::ceil(*slowest_ms_ * kTimesTheSlowest / 1000);
    const std::chrono::duration<double> most = kMostTimeLimit;
    return std::max(kLeastTimeLimit, std::chrono::nanoseconds(std::chrono::seconds(
                                         std::lround(std::min(wanted_s, most.count())))));
}

} // namespace pctctl
