// SPDX-License-Identifier: GPL-2.0-only
//
// Rule C. A thread that has compared itself with the waiting ones, at time t, does not go on while
// a thread of higher priority is ready that had been ready since before t.
//
// For the scheduler knew that other thread (T2) when it compared them (T3), and it lets none go on
// that loses the comparison. "Going on" is: a turn with user code; another step; going to sleep,
// which is a wait in the operation of that step; exiting in the same turn. For example: thread 1 is
// preempted by its step 7. Until the better thread 2 sleeps, a step 8 of thread 1 breaks the rule.
//
// A thread compares itself at its steps and when it is demoted. A demotion for spinning is
// different: it comes with a timer interrupt, possibly just before a step is logged (T3), and takes
// effect only when the thread leaves the CPU.
//
// It follows that a thread woken by an interrupt, or from outside the run, takes over at the next
// step. It need not take over earlier.
//
// Under a parallel policy only the threads of the low set give way.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "witness/rules.h"

namespace pctctl {
namespace {

// The upper end of the low set of policies/ppct.h: the lowest initial priority so far. A new thread
// counts from the time when it may have been created, for the scheduler knows of it before the log.
class LowSet {
public:
    explicit LowSet(const History& history) {
        std::ranges::copy_if(history.threads, std::back_inserter(to_come_),
                             [](const History::Thread& thread) { return thread.created; });
        std::ranges::sort(to_come_, std::greater{}, &History::Thread::not_before_ns);
    }

    void advance(std::uint64_t time_ns) {
        for (; !to_come_.empty() && to_come_.back().not_before_ns < time_ns; to_come_.pop_back())
            upper_end_ = std::min<std::uint64_t>(upper_end_, to_come_.back().created->priority);
    }

    bool contains(std::uint64_t priority) const { return priority <= upper_end_; }

private:
    std::vector<History::Thread> to_come_; // the first one last
    std::uint64_t upper_end_ = PCT_PRIO_MAX;
};

class GivesWay : public Rule {
public:
    GivesWay(const Setting& setting, const History& history)
        : parallel_(setting.parallel), low_set_(history), threads_(history.threads.size()) {}

    void on_moment(const History::Moment& moment, const SchedulerState& before,
                   Violations& found) override {
        low_set_.advance(moment.time_ns);
        if (moment.event)
            on_event(moment, before, found);
        else if (moment.record->type == PCT_WITNESS_OUT)
            on_out(moment, before, found);
        else if (before.begins_execution(moment))
            check(moment, before, "ran user code again", found);
        else if (before.wakes_into_new_phase(moment))
            threads_[moment.thread].last = {}; // that was with the priority of the phase before
    }

private:
    // With what a thread compared itself with the waiting ones.
    struct Comparison {
        std::uint64_t time_ns = 0;
        std::uint64_t priority = ~0ULL; // it has not yet: nobody is higher
    };
    struct Thread {
        Comparison last;
        Comparison due;                         // becomes `last` when it leaves the CPU
        std::size_t last_turn = History::kNone; // in which `last` was made
    };

    void on_event(const History::Moment& moment, const SchedulerState& before, Violations& found) {
        const pct_event& event = *moment.event;
        Thread& thread = threads_[moment.thread];
        const Comparison now{moment.time_ns, event.priority};
        if (event.type == PCT_EVENT_STEP)
            check(moment, before, fmt::format("made step {}", event.step), found);
        else if (event.type != PCT_EVENT_PRIORITY)
            return;
        if (before.is_bump(moment))
            thread.last = {};
        else if (event.type == PCT_EVENT_PRIORITY && event.code == PCT_DEMOTE_SPIN)
            thread.due = now;
        else
            thread = {.last = now, .due = {}, .last_turn = moment.turn};
    }

    void on_out(const History::Moment& moment, const SchedulerState& before, Violations& found) {
        const pct_witness_record& record = *moment.record;
        Thread& thread = threads_[moment.thread];
        if (!record.ready && !record.exiting)
            check(moment, before, "went to sleep in an operation", found);
        else if (!record.ready && thread.last_turn != History::kNone &&
                 thread.last_turn == moment.turn)
            check(moment, before, "exited", found);
        if (thread.due.time_ns)
            thread.last = std::exchange(thread.due, {});
    }

    void check(const History::Moment& moment, const SchedulerState& before, std::string_view how,
               Violations& found) const {
        const Comparison& last = threads_[moment.thread].last;
        if (parallel_ && !low_set_.contains(last.priority))
            return;
        const std::size_t better = before.ready_above(
            last.priority, moment.thread, [&](const SchedulerState::Thread& other) {
                return other.ready_since_ns < last.time_ns &&
                       !may_sleep(other, before.history(), moment.time_ns);
            });
        if (better == SchedulerState::kNone)
            return;
        found.push_back(
            fmt::format("{} {} though {}, of higher priority, had been ready for more than {:.6f} "
                        "ms",
                        before.history().name(moment.thread), how, before.history().name(better),
                        static_cast<double>(moment.time_ns - last.time_ns) / 1e6));
    }

    // Under a parallel policy others go on as soon as a thread sleeps for the kernel. That is
    // before it leaves its CPU, which is all that the witness sees.
    bool may_sleep(const SchedulerState::Thread& thread, const History& history,
                   std::uint64_t time_ns) const {
        if (!parallel_ || thread.turn == History::kNone)
            return false;
        const History::Turn& turn = history.turns[thread.turn];
        return turn.slept && turn.last_sign_ns < time_ns;
    }

    const bool parallel_;
    LowSet low_set_;
    std::vector<Thread> threads_;
};

} // namespace

std::unique_ptr<Rule> rule_gives_way(const Setting& setting, const History& history) {
    return std::make_unique<GivesWay>(setting, history);
}

} // namespace pctctl
