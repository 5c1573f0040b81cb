// SPDX-License-Identifier: GPL-2.0-only
#include "witness/setting.h"

#include "pctctl/identity.h"
#include "plan/policies.h"

namespace pctctl {

Setting::Setting(const StrictnessInput& input)
    : config(policy_config(input.algorithm, input.seed, input.parameters)),
      parallel(is_parallel(config)), phases(config.options & PCT_OPTION_PHASES),
      ranked(!is_stepwise(config) && pct_policy_enforcement(&config) != PCT_ENFORCE_FREE) {}

std::uint64_t Setting::initial_priority(std::uint64_t identity, std::uint64_t phase) const {
    return pct_initial_priority(config.seed, identity, phase);
}

// Of several change points at one step the last counts. Its priority is the highest.
std::optional<std::uint64_t> Setting::change_at(std::int32_t number, std::uint64_t phase) const {
    std::optional<std::uint64_t> priority;
    for (std::uint32_t i = 0; i < config.nr_change_points; i++) {
        const struct pct_change_point point =
            phase == 0 ? config.change_points[i]
                       : pct_change_point(config.seed, i + 1, config.change_range, phase);
        if (point.step == static_cast<std::uint64_t>(number))
            priority = point.priority;
    }
    return priority;
}

} // namespace pctctl
