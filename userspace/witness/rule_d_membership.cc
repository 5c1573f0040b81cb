// SPDX-License-Identifier: GPL-2.0-only
//
// Rule D. A thread created in the run is in sched_ext, and in the log with the right creator. One
// that is not in the log runs no user code.
//
// For a thread inherits its scheduling class, and the scheduler logs it when the kernel presents
// it, before it can run. A thread that is missing in the log may still have been created and ended
// without executing anything: a fork that failed late.
#include <spdlog/fmt/fmt.h>

#include <cstdint>
#include <set>
#include <utility>

#include "witness/rules.h"

namespace pctctl {
namespace {

class Membership : public Rule {
public:
    void on_thread(std::size_t index, const SchedulerState& state, Violations& found) override {
        const History& history = state.history();
        const History::Thread& thread = history.threads[index];
        if (thread.creator != History::kNone && !thread.controlled)
            found.push_back(fmt::format("{} was created outside sched_ext", history.name(index)));
        if (!thread.created)
            return;
        const pct_event& event = *thread.created;
        if (!state.has_identity(index)) {
            found.push_back(fmt::format("{} is said to be created by the later thread {}",
                                        history.name(index), event.parent));
            return;
        }
        if (index > 0 && !born_.emplace(event.parent, event.ordinal).second)
            found.push_back(fmt::format("{} is said to be child {} of thread {}, as another is",
                                        history.name(index), event.ordinal, event.parent));
        if (thread.creator != History::kNone && thread.creator != event.parent)
            found.push_back(fmt::format("{} is said to be created by thread {}, but thread {} did "
                                        "it",
                                        history.name(index), event.parent, thread.creator));
    }

    void on_moment(const History::Moment& moment, const SchedulerState& before,
                   Violations& found) override {
        if (before.brings_user_code(moment) && !before.logged(moment.thread) &&
            reported_.insert(moment.thread).second)
            found.push_back(fmt::format("{} ran user code, but is not in the log",
                                        before.history().name(moment.thread)));
    }

private:
    std::set<std::pair<std::uint32_t, std::uint32_t>> born_; // creator and ordinal
    std::set<std::size_t> reported_;
};

} // namespace

std::unique_ptr<Rule> rule_membership(const Setting&, const History&) {
    return std::make_unique<Membership>();
}

} // namespace pctctl
