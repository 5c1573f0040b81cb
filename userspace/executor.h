// SPDX-License-Identifier: GPL-2.0-only
// What an executor needs to know once, before any run, and the one that schedules through the
// kernel.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "depth.h"
#include "parameters.h"
#include "pctctl/points.h"
#include "result.h"
#include "run.h"

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

// Loads the scheduler into the running kernel; it is gone again when the executor is destroyed or
// the process ends. An Error says what this machine lacks.
Result<std::unique_ptr<Executor>> make_kernel_executor(const ExecutorOptions& options);

} // namespace pctctl
