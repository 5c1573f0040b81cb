// SPDX-License-Identifier: GPL-2.0-only
// A campaign: many runs of one program, each with its own seed, on one executor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "plan/executor.h"
#include "plan/parameters.h"
#include "plan/run_plan.h"

namespace pctctl {

struct CampaignPlan {
    std::uint64_t seed = 0; // of the campaign; run r's stream is a function of it and r
    std::vector<std::string> policies = {"pct"}; // run r has the ((r-1) mod size)-th
    unsigned depth = 2;                          // or kDepthAuto
    std::uint32_t runs = 100;                    // >= 1
    unsigned jobs = 1;                           // runs under way at once, 1 .. PCT_MAX_RUNS
    bool keep_going = false;                     // after the first failure
    std::optional<RunSeed> fixed;                // a replay: every run has this seed
    PolicyParameters parameters;
    Focus focus;                    // at the start; in a replay, of all runs
    std::optional<Strides> strides; // for policy stride. Not set: from the lengths in earlier runs
    double stride_ratio = 1;        // and this ratio, see stride_ratio()
    std::optional<std::chrono::nanoseconds> timeout; // of a run; not set: see time_limit.h
    bool live_output = false;
    bool verify = false;
};

struct CampaignResult {
    std::vector<RunResult> runs; // those that ended, ascending by number; of their output only the
                                 // end of `err` is left
    std::optional<Error> error;  // why the executor failed; the runs before that are kept
    bool interrupted = false;    // asked to stop before all runs were done
    double elapsed_s = 0;
};

// Run `run` takes its k, the threads' lengths for strides, and its time limit from the runs 1 ..
// this. With one job these are all earlier runs. With J > 1 jobs this lags behind by 2 J (but is at
// least 1, the measuring run), so that all these runs are sure to have ended. So the seeds are a
// function of the campaign's seed, J and the program's step counts, and not of which run happened
// to end first. 0: there is no k yet (run 1).
std::uint32_t measured_before(std::uint32_t run, unsigned jobs);

// Bytes of a run's stderr that a CampaignResult keeps.
inline constexpr std::size_t kKeptOutput = 1024;

class Campaign {
public:
    // Called once for every run that ended, with all its output. From any thread, one call at a
    // time.
    using OnFinished = std::function<void(const RunResult&)>;

    Campaign(const CampaignPlan& plan, Executor& executor, OnFinished on_finished);

    // Returns when the last run under way has ended. After a stop request no run is started. Those
    // under way are cancelled and are not part of the result.
    CampaignResult run(std::stop_token stop);

private:
    CampaignPlan plan_;
    Executor& executor_;
    OnFinished on_finished_;
};

} // namespace pctctl
