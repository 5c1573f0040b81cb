// SPDX-License-Identifier: GPL-2.0-only
// The threads of a run, as its events tell.
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
    // Those that have ended and made steps.
    std::vector<ThreadLength> lengths() const;
    // Not ended yet.
    std::vector<LiveThread> alive() const;
    // Process, signal and thread of the first fatal signal, in one line; empty: there was none.
    // first_signal: the scheduler's own note of it, which cannot be lost as events can.
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
