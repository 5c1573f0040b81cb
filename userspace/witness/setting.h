// SPDX-License-Identifier: GPL-2.0-only
// What the seed and the policy say about a run before it begins.
#pragma once

#include <cstdint>
#include <optional>

#include "witness/strictness.h"

namespace pctctl {

struct Setting {
    explicit Setting(const StrictnessInput& input);

    // Of a thread that is new to a phase.
    std::uint64_t initial_priority(std::uint64_t identity, std::uint64_t phase) const;
    // The priority that the change point at the step of this number gives, if there is one.
    std::optional<std::uint64_t> change_at(std::int32_t number, std::uint64_t phase) const;

    pct_policy_config config;
    bool parallel; // several threads of the run may execute at a time
    bool phases;   // each phase has its own priorities and change points (policies/pct.h)
    // The seed gives all priorities, and they decide who executes. Not so for stepwise policies,
    // whose priorities change while threads wait, and for policies that enforce nothing.
    bool ranked;
};

} // namespace pctctl
