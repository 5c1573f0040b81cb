// SPDX-License-Identifier: GPL-2.0-only
// The policies by name, and what they are told before a run.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dispatch.h"
#include "parameters.h"
#include "run.h"

namespace pctctl {

struct PolicyInfo {
    pct_policy id;
    std::string_view name;
    pct_enforcement enforcement;
    std::string_view summary;
    std::string_view guarantee;
};

// Those that the scheduler can enforce.
std::span<const PolicyInfo> known_policies();

// Null when it is unknown.
const PolicyInfo* find_policy(std::string_view name);

// --depth means something to it.
bool uses_depth(pct_policy policy);

// Its configuration for a run of that seed.
pct_policy_config policy_config(const PolicyInfo& policy, const RunSeed& seed, unsigned depth,
                                const PolicyParameters& parameters = {});

// Error of usage: a parameter is set that this policy does not have.
Status check_parameters(const PolicyParameters& set, const PolicyInfo& policy);

// Decisions are made only when every enabled thread has arrived at a step (policies/policy.h).
bool is_stepwise(const pct_policy_config& config);

// The bound of PCT's Theorem 9 holds for it.
bool has_bound(std::string_view policy);

// What `pctctl policies` prints.
std::string policies_text();

} // namespace pctctl
