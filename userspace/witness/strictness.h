// SPDX-License-Identifier: GPL-2.0-only
// Proves for one run that the scheduler did what it says: that at each time the thread of highest
// priority executed. The priorities are recomputed from the seed.
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
    // Which rules are checked depends on the policy. Under a stepwise one, for instance, priorities
    // change while threads wait; there it is checked that one thread executes at a time, who
    // created whom, and that steps are numbered without a gap.
    Algorithm algorithm = {};
    PolicyParameters parameters = {};
    // The run's complete log, made with pct_run_config.trace.
    std::span<const pct_event> log;
    // Witness::Watch::take(log's first thread).
    std::span<const pct_witness_record> records;
};

struct StrictnessReport {
    std::uint64_t violations = 0;
    std::vector<std::string> details; // a line for each of the first ten
    // How much was checked. If either is 0, "no violation" means nothing.
    std::uint64_t turns = 0; // uninterrupted times on a CPU in which user code ran
    std::uint64_t steps = 0;
};

// Assumptions and limits: strictness.cc. Rules and reasons: rules.h and the rules' files.
StrictnessReport check_strictness(const StrictnessInput& input);

} // namespace pctctl
