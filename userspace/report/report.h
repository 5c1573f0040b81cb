// SPDX-License-Identifier: GPL-2.0-only
// What a campaign found, for people and as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "campaign/campaign.h"
#include "campaign/tally.h"
#include "plan/executor.h"
#include "plan/run_plan.h"

namespace pctctl {

// How the user called us, for command lines to be copied.
struct Caller {
    std::string name = "pctctl";
    bool sudo = false;
    bool vm = false;
};

// How a replay compares with the run it repeats; see replay.h.
struct ReplayVerdict {
    bool has_reference = false; // there is a kept run to compare with; else the first try is taken
    std::uint64_t tries = 0;
    std::uint64_t failed = 0;
    std::uint64_t same_outcome = 0;
    std::uint64_t same_order = 0; // order_hash and number of steps
};

struct Report {
    CampaignResult campaign;
    Tally tally;
    ExecutorOptions options;
    std::uint32_t planned = 0;                  // runs asked for
    std::optional<std::uint64_t> campaign_seed; // absent in a replay
    Caller caller;
    std::map<std::uint32_t, std::string> kept; // run number -> OUT/run-N
    std::optional<ReplayVerdict> replay;
};

// "signal SIGSEGV: process app (thread 2) ...", one line, safe for a terminal.
std::string outcome_text(const RunResult& run);

// The command line that repeats a run: from the directory it is kept in, or from its seed.
std::string replay_command(const Caller& caller, std::string_view kept_in);
std::string replay_command(const Caller& caller, const RunSeed& seed,
                           const ExecutorOptions& options);

// Lines about everything, the failures first; with `brief` only about failures and what casts doubt
// on the results (empty when there is neither).
std::string summary_text(const Report& report, bool brief = false);

// For stderr, whatever the verbosity; empty when something was controlled.
std::string uncontrolled_warning(const Report& report);

// One JSON object, "schema": 1, as documented in docs/results.md, with a newline at the end.
std::string summary_json(const Report& report);

// Writes text to `file`, by way of a temporary file where `file` is or becomes a regular one, so
// that nobody reads half of it.
Status write_report(const std::string& file, std::string_view text);

} // namespace pctctl
