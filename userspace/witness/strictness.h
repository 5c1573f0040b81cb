// SPDX-License-Identifier: GPL-2.0-only
// Proves on one run that the scheduler did what it says: strict priorities, recomputed from the
// seed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pctctl/run.h"
#include "pctctl/witness.h"
#include "plan/parameters.h"
#include "plan/run_plan.h"

namespace pctctl {

struct StrictnessInput {
    RunSeed seed;
    // Of a stepwise one, whose priorities change while threads wait, only rules A and D and the
    // numbers of steps are looked at.
    Algorithm algorithm = {};
    PolicyParameters parameters = {};
    // The run's log, complete, made with pct_run_config.trace.
    std::span<const pct_event> log;
    // Witness::Watch::take(log's first thread).
    std::span<const pct_witness_record> records;
};

struct StrictnessReport {
    std::uint64_t violations = 0;
    std::vector<std::string> details; // a line for each of the first ten
    // What has been looked at: with none of either, no violation means nothing.
    std::uint64_t turns = 0; // uninterrupted times on a CPU in which user code ran
    std::uint64_t steps = 0;
};

// Rules, reasons and limits: strictness.cc.
StrictnessReport check_strictness(const StrictnessInput& input);

} // namespace pctctl
