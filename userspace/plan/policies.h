// SPDX-License-Identifier: GPL-2.0-only
// The policies by name, and what they are told before a run.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch.h"
#include "plan/bound.h"
#include "plan/parameters.h"
#include "plan/run_plan.h"

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

std::string_view name_of(pct_policy policy);

// The policies of a comma-separated list, at least one, each once. Error of usage.
Result<std::vector<std::string>> portfolio(std::string_view list);
// The same as ids, for a list known to be right.
std::vector<pct_policy> portfolio_ids(std::string_view list);

// --depth means something to it.
bool uses_depth(pct_policy policy);

// Its change points are among the steps with another thread enabled: its k is k_eff.
bool skips_sequential(pct_policy policy, const PolicyParameters& parameters);

// It has priorities and change points for each phase.
bool has_phases(pct_policy policy, const PolicyParameters& parameters);

// Of a run, by the parameters of pct: its longest phase's, or all steps with another thread
// enabled.
std::uint64_t k_eff(const RunResult& run, const PolicyParameters& parameters);

// A run's strides as Strides::text() has them, of policy stride.
std::optional<std::string> strides_text(const Algorithm& algorithm);

// What the scheduler is told before a run of that seed; the policy must be known.
pct_policy_config policy_config(const Algorithm& algorithm, const RunSeed& seed,
                                const PolicyParameters& parameters = {});

// Error of usage: a parameter is set that none of these policies (see portfolio()) has.
Status check_parameters(const PolicyParameters& set, std::string_view policies);

// Decisions are made only when every enabled thread has arrived at a step (policies/policy.h).
bool is_stepwise(const pct_policy_config& config);

// Several threads of a run execute at a time.
bool is_parallel(const pct_policy_config& config);

// What is known about its chances, see bound.h.
Promise promise_of(pct_policy policy);

// What `pctctl policies` prints.
std::string policies_text();

} // namespace pctctl
