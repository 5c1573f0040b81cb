// SPDX-License-Identifier: GPL-2.0-only
// What a campaign or a replay has found: what summary.h and json.h write down.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "campaign/campaign.h"
#include "campaign/tally.h"
#include "plan/executor.h"
#include "plan/run_plan.h"

namespace pctctl {

// How the user called us. Command lines for the user to copy look the same.
struct Caller {
    std::string name = "pctctl";
    bool sudo = false;
    bool vm = false;
};

// How a replay compares with the run it repeats; see replay.h.
struct ReplayVerdict {
    bool has_reference = false; // compares with a kept run; else with the first try
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

} // namespace pctctl
