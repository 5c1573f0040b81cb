// SPDX-License-Identifier: GPL-2.0-only
// The policies by name, and their configuration for a run.
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

// All policies, in the order of pct_policy.
std::span<const PolicyInfo> known_policies();

// Null if there is no policy of that name.
const PolicyInfo* find_policy(std::string_view name);

std::string_view name_of(pct_policy policy);

// The policies of a comma-separated list. Error of usage if one is unknown or comes twice, or if
// there is none.
Result<std::vector<std::string>> portfolio(std::string_view list);
// The same as ids, for a list that is known to be right.
std::vector<pct_policy> portfolio_ids(std::string_view list);

// Does the policy use --depth?
bool uses_depth(pct_policy policy);

// Are its change points only among the steps with another thread enabled? Then its k is k_eff.
bool skips_sequential(pct_policy policy, const PolicyParameters& parameters);

// Does it draw priorities and change points for each phase?
bool has_phases(pct_policy policy, const PolicyParameters& parameters);

// A run's number of steps with another thread enabled; with phases, that of its longest phase.
// Which of the two, the parameters of pct say.
std::uint64_t k_eff(const RunResult& run, const PolicyParameters& parameters);

// A run's strides as Strides::text() writes them. Nothing for other policies than stride.
std::optional<std::string> strides_text(const Algorithm& algorithm);

// The configuration that the scheduler gets before a run with that seed. The policy must be known.
pct_policy_config policy_config(const Algorithm& algorithm, const RunSeed& seed,
                                const PolicyParameters& parameters = {});

// Error of usage if a parameter is set that none of these policies (see portfolio()) has.
Status check_parameters(const PolicyParameters& set, std::string_view policies);

// Does it decide only when every enabled thread has arrived at a step (policies/policy.h)?
bool is_stepwise(const pct_policy_config& config);

// Do several threads of a run execute at a time?
bool is_parallel(const pct_policy_config& config);

// What it promises something about, see bound.h.
Promise promise_of(pct_policy policy);

// What `pctctl policies` prints.
std::string policies_text();

} // namespace pctctl
