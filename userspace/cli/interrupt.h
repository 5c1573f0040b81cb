// SPDX-License-Identifier: GPL-2.0-only
// Ctrl-C and its like during a campaign: the first asks to stop, the second ends the process.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

#include "base/log.h"

namespace pctctl {

// Blocks SIGINT, SIGTERM and SIGHUP for this thread and all it will start, and ignores SIGPIPE.
// Call it before any thread is started: one that does not block them would let them kill us.
void hold_signals();

// Life cycle: construct when other threads may exist (it is one itself), after hold_signals().
class Interrupt {
public:
    // over_status_line: clear the terminal's line before anything is said.
    explicit Interrupt(bool over_status_line = false, Log log = {});
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    ~Interrupt();

    std::stop_token token() const { return stop_.get_token(); }

private:
    void listen();

    const bool over_status_line_;
    const Log log_;
    std::stop_source stop_;
    std::stop_source closing_;
    std::thread listener_;
};

} // namespace pctctl
