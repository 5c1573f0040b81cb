// SPDX-License-Identifier: GPL-2.0-only
// A whole call of pctctl: a campaign or a replay, from the options to the exit status.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "cli/options.h"
#include "plan/executor.h"
#include "report/report.h"

namespace pctctl {

// What a session needs of the outside world. Tests pass their own.
struct Surroundings {
    std::function<Result<std::unique_ptr<Executor>>(const ExecutorOptions&)> make_executor;
    // Called once the executor exists. Only then may threads be started.
    std::function<std::stop_token()> listen_for_interrupts;
    std::FILE* out; // text for people; equals err when JSON goes to standard output
    std::FILE* err;
    Log log;            // diagnostics, those on err among them
    int json_fd;        // where --json - goes
    bool sudo = false;  // the user called us with it
    bool vm = false;    // we are in the virtual machine
    std::string kernel; // release of the running one
};

// options.mode: campaign or replay. Prints everything, then returns the exit status.
ExitStatus run_session(const Options& options, const Surroundings& surroundings);

} // namespace pctctl
