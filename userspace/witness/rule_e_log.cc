// SPDX-License-Identifier: GPL-2.0-only
//
// Rule E. The log is what the seed says. Each class below is one part of it. The scheduler computes
// what it logs from the same seed, with the same code (policies/), so any difference is a fault.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>

#include "witness/rules.h"

namespace pctctl {
namespace {

// A thread's identity is a function of its creator's and of its ordinal there; its first priority
// is a function of the seed, its identity and the phase. It appears in the phase that the run is
// in.
class InitialPriorities : public Rule {
public:
    void on_thread(std::size_t index, const SchedulerState& state, Violations& found) override {
        if (!state.has_identity(index))
            return;
        const pct_event& event = *state.history().threads[index].created;
        const SchedulerState::Thread& thread = state.thread(index);
        if (event.identity != thread.identity || event.priority != thread.priority)
            found.push_back(fmt::format(
                "{} has identity {:x} and initial priority {} by the log, {:x} and {} by the seed",
                state.history().name(index), event.identity, event.priority, thread.identity,
                thread.priority));
    }

    void on_moment(const History::Moment& moment, const SchedulerState& before,
                   Violations& found) override {
        if (!moment.event || moment.event->type != PCT_EVENT_THREAD)
            return;
        const std::uint64_t phase = before.thread(moment.thread).phase;
        if (phase != before.phase())
            found.push_back(fmt::format("{} appears in phase {}, not {}",
                                        before.history().name(moment.thread), phase,
                                        before.phase()));
    }
};

// A rule about steps.
class StepRule : public Rule {
public:
    void on_moment(const History::Moment& moment, const SchedulerState& before,
                   Violations& found) override {
        if (moment.event && moment.event->type == PCT_EVENT_STEP)
            on_step(moment, before, found);
    }

private:
    virtual void on_step(const History::Moment& moment, const SchedulerState& before,
                         Violations& found) = 0;
};

// Steps are numbered without a gap. Each is made by a thread that is on a CPU, or, a thread's
// beginning, by its creator.
class StepOrder : public StepRule {
    void on_step(const History::Moment& moment, const SchedulerState& before,
                 Violations& found) override {
        const std::uint64_t step = moment.event->step;
        if (step != last_step_ + 1)
            found.push_back(fmt::format("step {} follows step {}", step, last_step_));
        last_step_ = step;
        if (moment.turn == History::kNone)
            found.push_back(fmt::format("{} made step {} without being on a CPU",
                                        before.history().name(moment.thread), step));
    }

    std::uint64_t last_step_ = 0;
};

// Change points know a step by its number among all steps of its phase, or, if the policy says so,
// among those steps with another thread enabled. Other steps have the number 0: "not counted". The
// counted ones are numbered without a gap.
//
// The witness cannot tell whether a sleeping thread counts as enabled, because it does not know
// what the thread sleeps for. So it objects to a step that is not counted only when a thread was
// ready.
class CountedSteps : public StepRule {
public:
    explicit CountedSteps(const Setting& setting)
        : skips_some_(setting.config.options & PCT_OPTION_COUNT_CONCURRENT) {}

private:
    void on_step(const History::Moment& moment, const SchedulerState& before,
                 Violations& found) override {
        const pct_event& event = *moment.event;
        if (event.code != 0) {
            if (event.code != before.last_number() + 1)
                found.push_back(fmt::format("step {} has number {} for change points, after {}",
                                            event.step, event.code, before.last_number()));
            return;
        }
        const std::size_t other = reason_to_count(moment, before);
        if (other != History::kNone)
            found.push_back(
                fmt::format("step {} is not counted for change points, though {} was enabled",
                            event.step, before.history().name(other)));
    }

    // A thread because of which the step had to be counted.
    std::size_t reason_to_count(const History::Moment& moment, const SchedulerState& before) const {
        if (!skips_some_)
            return moment.thread;
        return before.ready_above(0, moment.thread, [&](const SchedulerState::Thread& thread) {
            return thread.ready_since_ns < moment.time_ns;
        });
    }

    const bool skips_some_;
};

// A step leaves its thread's priority as it was, or gives it that of the change point at the step.
// If the policy has phases, a step that is not counted begins a new one, and in a new phase each
// thread has a new priority.
class StepPriorities : public StepRule {
    void on_step(const History::Moment& moment, const SchedulerState& before,
                 Violations& found) override {
        const pct_event& event = *moment.event;
        const std::uint64_t expected = before.priority_after(moment);
        if (event.priority != expected)
            found.push_back(fmt::format("{} has priority {} after step {}, but {} by the seed",
                                        before.history().name(moment.thread), event.priority,
                                        event.step, expected));
    }
};

// Each demotion goes below all demotions before, and below all change points.
class Demotions : public Rule {
public:
    void on_moment(const History::Moment& moment, const SchedulerState& before,
                   Violations& found) override {
        if (!moment.event || moment.event->type != PCT_EVENT_PRIORITY || before.is_bump(moment))
            return;
        const std::uint64_t priority = moment.event->priority;
        if (priority == 0 || priority >= lowest_)
            found.push_back(fmt::format("{} was demoted to {}, which is not below all before ({})",
                                        before.history().name(moment.thread), priority, lowest_));
        lowest_ = std::min(lowest_, priority);
    }

private:
    std::uint64_t lowest_ = PCT_PRIO_CHANGE;
};

} // namespace

std::unique_ptr<Rule> rule_initial_priorities(const Setting&, const History&) {
    return std::make_unique<InitialPriorities>();
}

std::unique_ptr<Rule> rule_step_order(const Setting&, const History&) {
    return std::make_unique<StepOrder>();
}

std::unique_ptr<Rule> rule_counted_steps(const Setting& setting, const History&) {
    return std::make_unique<CountedSteps>(setting);
}

std::unique_ptr<Rule> rule_step_priorities(const Setting&, const History&) {
    return std::make_unique<StepPriorities>();
}

std::unique_ptr<Rule> rule_demotions(const Setting&, const History&) {
    return std::make_unique<Demotions>();
}

} // namespace pctctl
