// SPDX-License-Identifier: GPL-2.0-only
#include "run/liveness.h"

#include <algorithm>

#include "base/text.h"

namespace pctctl {
namespace {

std::string seconds_text(std::chrono::nanoseconds time) {
    return duration_text(std::chrono::duration<double>(time).count());
}

} // namespace

void Liveness::look(const pct_run_state& state, std::chrono::nanoseconds since) {
    lived_ += std::min(since, kLongestLook);
    if (state.steps != steps_)
        stepped_ = lived_;
    steps_ = state.steps;
    if (state.useful == useful_ && state.threads == threads_ && state.alive == alive_)
        return;
    progressed_ = lived_;
    steps_then_ = state.steps;
    useful_ = state.useful;
    threads_ = state.threads;
    alive_ = state.alive;
}

std::string Liveness::text() const {
    if (!hangs())
        return "still making progress after " + seconds_text(lived_);
    if (is_long(lived_ - stepped_))
        return "no step for " + seconds_text(lived_ - stepped_);
    return "no progress for " + seconds_text(lived_ - progressed_) + ", but " +
           counted(steps_ - steps_then_, "step") + " of waiting in loops";
}

} // namespace pctctl
