// SPDX-License-Identifier: GPL-2.0-only
// A whole call of pctctl: campaign or replay from options to exit status.
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

// What a session needs of the outside world; tests give their own.
struct Surroundings {
    std::function<Result<std::unique_ptr<Executor>>(const ExecutorOptions&)> make_executor;
    // Called when the executor exists, that is when threads may be started.
    std::function<std::stop_token()> listen_for_interrupts;
    std::FILE* out; // for people; the same as err when JSON goes to standard output
    std::FILE* err;
    Log log;            // diagnostics, those on err among them
    int json_fd;        // where --json - goes
    bool sudo = false;  // the user called us with it
    bool vm = false;    // we are in the virtual machine
    std::string kernel; // release of the running one
};

// options.mode: campaign or replay. Returns the exit status; everything has been said by then.
ExitStatus run_session(const Options& options, const Surroundings& surroundings);

} // namespace pctctl
