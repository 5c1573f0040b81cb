// SPDX-License-Identifier: GPL-2.0-only
// The interface of what carries out runs, and the options that are the same for all of them.
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
    // The program and its arguments, verbatim. Looked up in PATH as execvp does. Never empty.
    std::vector<std::string> command;
    // The cgroup (v2) that holds the runs, relative to the mount point, without "." and "..". If it
    // does not exist it is made, and removed at the end. Not set: we choose a name.
    std::optional<std::string> cgroup;
    // Depth d of the bugs looked for, 1 .. PCT_MAX_DEPTH: d - 1 change points a run; or kDepthAuto.
    unsigned depth = kDepthAuto;
    // One scheduling algorithm of known_policies(), or several with commas, see portfolio(). A
    // run's plan says which of them it has, and which depth.
    std::string policy = "pct";
    // The policies' own options.
    PolicyParameters parameters;
    // In a replay: the strides of the repeated run (Algorithm). A campaign measures its own.
    Strides strides;
    // Which steps count. A campaign learns names to those given here; in a replay: of that run.
    Focus focus;
    // Scheduling points: PCT_POINTS_*, at least one bit.
    unsigned points = PCT_POINTS_PTHREAD | PCT_POINTS_SYSCALL;
    // How many runs are under way at once, each in a slot: 1 .. PCT_MAX_RUNS.
    unsigned jobs = 1;
    // The time limit of every run, > 0. Not set: it follows from earlier runs, see
    // campaign/time_limit.h. A run's plan says which it has.
    std::optional<std::chrono::nanoseconds> timeout;
    // A thread that uses this much CPU time without a step is taken to spin. 0: never.
    std::chrono::nanoseconds spin_limit = std::chrono::milliseconds(500);
    // Run the program as this user (name or numeric id). Not set: as ourselves.
    std::optional<std::string> user;
    // Load the witness, so that RunPlan::verify can be asked for.
    bool verify = false;
    // pids.max of a run's cgroup, which bounds a program that forks without end: 1 .. kMostPids.
    std::uint64_t pids_limit = 4096;
};

// The options that repeat a run of a campaign with these options.
inline ExecutorOptions options_for(ExecutorOptions options, const RunResult& run) {
    options.policy = run.algorithm.policy;
    options.depth = run.algorithm.depth;
    options.strides = run.algorithm.strides;
    options.focus = run.focus;
    return options;
}

// Carries out runs. Several threads may call execute() at once, each with its own slot (0 <= slot <
// jobs). An Error means that there is no result, and that no further run will succeed.
class Executor {
public:
    virtual ~Executor() = default;
    virtual Result<RunResult> execute(unsigned slot, const RunPlan& plan) = 0;
    // For interrupts: soon ends the runs under way and all later ones, whose execute() then returns
    // an Error. Does not wait for that. Any thread may call it at any time.
    virtual void cancel() {}
    // Warnings to print before the first run, one line each.
    virtual std::vector<std::string> warnings() const { return {}; }
};

} // namespace pctctl
