// SPDX-License-Identifier: GPL-2.0-only
// What a history must keep to, one class a rule. Each rule's file says why a correct scheduler can
// never break it; T1 to T5 there are the assumptions in strictness.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "witness/history.h"
#include "witness/scheduler_state.h"
#include "witness/setting.h"

namespace pctctl {

// A line for each; who collects them adds the time.
using Violations = std::vector<std::string>;

class Rule {
public:
    virtual ~Rule() = default;
    // Called for each thread of the history, before the first moment.
    virtual void on_thread(std::size_t /*thread*/, const SchedulerState&, Violations&) {}
    // Called for each moment, in order of time. The state is that before the moment. What else a
    // rule has to remember, it keeps itself.
    virtual void on_moment(const History::Moment&, const SchedulerState&, Violations&) {}
};

// Makes a rule for one history. Both arguments outlive it.
using MakeRule = std::unique_ptr<Rule>(const Setting&, const History&);

MakeRule rule_one_at_a_time;      // A
MakeRule rule_best_is_chosen;     // B
MakeRule rule_gives_way;          // C
MakeRule rule_membership;         // D
MakeRule rule_initial_priorities; // E, as all below
MakeRule rule_step_order;
MakeRule rule_counted_steps;
MakeRule rule_step_priorities;
MakeRule rule_demotions;

} // namespace pctctl
