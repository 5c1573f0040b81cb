// SPDX-License-Identifier: GPL-2.0-only
// What carries out runs, and what it needs to know once, before any of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pctctl/points.h"
#include "plan/depth.h"
#include "plan/parameters.h"
#include "plan/run_plan.h"

namespace pctctl {

// No 64-bit kernel has more processes and threads (PID_MAX_LIMIT).
constexpr std::uint64_t kMostPids = 4'194'304;

struct ExecutorOptions {
    // The program and its arguments, verbatim; found through PATH as execvp does; never empty.
    std::vector<std::string> command;
    // cgroup v2 that holds the runs, relative to the mount point, without "." and ".."; made when
    // absent and then removed at the end. Absent: one of our own.
    std::optional<std::string> cgroup;
    // Depth d of the bugs looked for, 1 .. PCT_MAX_DEPTH: d - 1 change points a run; or kDepthAuto.
    unsigned depth = kDepthAuto;
    // Scheduling algorithm, see known_policies(); or several with commas, see portfolio(). Which
    // one and which depth a run has, its plan says.
    std::string policy = "pct";
    // Of the policy's own options.
    PolicyParameters parameters;
    // Of a replay: what the run had (Algorithm); a campaign measures them.
    Strides strides;
    // What counts as a step: PCT_POINTS_*, at least one bit.
    unsigned points = PCT_POINTS_PTHREAD | PCT_POINTS_SYSCALL;
    // Slots: runs under way at once, 1 .. PCT_MAX_RUNS.
    unsigned jobs = 1;
    // Wall time after which a run is ended with Outcome::timeout; > 0.
    std::chrono::nanoseconds timeout = std::chrono::seconds(60);
    // CPU time without a step after which a thread is taken to spin; 0: never.
    std::chrono::nanoseconds spin_limit = std::chrono::milliseconds(500);
    // Run the program as this user (name or numeric id); absent: as we are.
    std::optional<std::string> user;
    // Load the witness, so that RunPlan::verify can be asked for.
    bool verify = false;
    // pids.max of a run's cgroup: bounds a program that forks without end; 1 .. kMostPids.
    std::uint64_t pids_limit = 4096;
};

// The options of a run of that algorithm alone.
inline ExecutorOptions options_for(ExecutorOptions options, const Algorithm& algorithm) {
    options.policy = algorithm.policy;
    options.depth = algorithm.depth;
    options.strides = algorithm.strides;
    return options;
}

// Carries out runs. execute() may be called from several threads at once, each with its own slot
// (0 <= slot < jobs). An Error means that no result exists and no further run will succeed.
class Executor {
public:
    virtual ~Executor() = default;
    virtual Result<RunResult> execute(unsigned slot, const RunPlan& plan) = 0;
    // Ends the runs under way soon, and all later ones: their execute() returns an Error. Does not
    // wait for that. For interrupts; may be called from any thread at any time.
    virtual void cancel() {}
    // What the user should know before the first run, one line each.
    virtual std::vector<std::string> warnings() const { return {}; }
};

} // namespace pctctl
