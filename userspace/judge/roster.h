// SPDX-License-Identifier: GPL-2.0-only
// The threads of a run, from the events that the scheduler sends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "judge/judge.h"
#include "pctctl/run.h"
#include "plan/strides.h"

namespace pctctl {

class Roster {
public:
    void learn(const pct_event& event);

    // "0.2.1": the first child of the second child of the first thread.
    std::string path(std::uint32_t thread) const;
    // Of the threads that have ended and made at least one step.
    std::vector<ThreadLength> lengths() const;
    // Those that have not ended yet.
    std::vector<LiveThread> alive() const;
    // Process, signal and thread of the first fatal signal, in one line; empty when there was none.
    // first_signal: the signal as the scheduler's state has it, which cannot be lost as events can.
    std::string fatal_signal(unsigned first_signal) const;

private:
    struct Member {
        pid_t pid = 0;
        pid_t tgid = 0;
        std::uint32_t parent = 0;
        std::uint32_t ordinal = 0;
        bool alive = false;
        ThreadLength length;
    };
    std::map<std::uint32_t, Member> members_; // by order of creation
    pct_event signal_ = {};
};

} // namespace pctctl
