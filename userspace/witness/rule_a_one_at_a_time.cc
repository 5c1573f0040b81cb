// SPDX-License-Identifier: GPL-2.0-only
//
// Rule A. Two turns with user code do not overlap.
//
// For the next thread is not let onto a CPU before the one before has left its own (T5). This holds
// for the serial policies; under a parallel one several threads execute on purpose.
#include <spdlog/fmt/fmt.h>

#include "witness/rules.h"

namespace pctctl {
namespace {

class OneAtATime : public Rule {
public:
    void on_moment(const History::Moment& moment, const SchedulerState& before,
                   Violations& found) override {
        if (!before.begins_execution(moment) || before.executing().empty())
            return;
        const History& history = before.history();
        found.push_back(fmt::format("{} got CPU {} and ran user code while {} was running",
                                    history.name(moment.thread), moment.record->cpu,
                                    history.name(before.executing().back())));
    }
};

} // namespace

std::unique_ptr<Rule> rule_one_at_a_time(const Setting&, const History&) {
    return std::make_unique<OneAtATime>();
}

} // namespace pctctl
