// SPDX-License-Identifier: GPL-2.0-only
//
// Rule B. When a turn with user code begins, no thread of higher priority has been ready since
// before the scheduler decided who is next.
//
// When it decided is not recorded. But it decides after the thread of the last turn with user code
// has begun to leave its CPU (T4), so the decision is later than the last thing which the witness
// or the log knows of that CPU. A thread that was ready at that time was known to the scheduler.
// One that became ready later may have been too late, and does not count. For example: thread 1
// leaves CPU 0 at 500 ns, after a step at 480 ns. Thread 3, the best, wakes on CPU 1. If it woke at
// 470 ns, then thread 2 must not be next. If it woke at 490 ns, nobody can tell.
//
// The thread of the last turn is itself still ready when it was preempted, so a lower one must not
// follow it. A turn that merely continues the last one after an interruption needs no decision, and
// is not looked at.
#include <spdlog/fmt/fmt.h>

#include <cstdint>
#include <vector>

#include "witness/rules.h"

namespace pctctl {
namespace {

class BestIsChosen : public Rule {
public:
    void on_moment(const History::Moment& moment, const SchedulerState& before,
                   Violations& found) override {
        if (moment.event) {
            const auto cpu = before.thread(moment.thread).cpu;
            if (moment.event->type == PCT_EVENT_STEP && moment.turn != History::kNone && cpu)
                last_on_cpu(*cpu) = moment.time_ns;
            return;
        }
        if (before.begins_execution(moment)) {
            if (moment.thread != last_thread_)
                check(moment, before, found);
            last_thread_ = moment.thread;
        }
        if (moment.record->type == PCT_WITNESS_OUT)
            leaves(moment, before);
        last_on_cpu(moment.record->cpu) = moment.time_ns;
    }

private:
    void check(const History::Moment& moment, const SchedulerState& before, Violations& found) {
        // On one CPU the order of records is certain even when two have the same time.
        const auto known = [&](const SchedulerState::Thread& thread) {
            return thread.ready_since_ns < decided_after_ns_ ||
                   (thread.ready_since_ns == decided_after_ns_ && thread.woken_on == decided_on_);
        };
        const std::size_t better =
            before.ready_above(before.thread(moment.thread).priority, moment.thread, known);
        if (better == SchedulerState::kNone)
            return;
        const History& history = before.history();
        found.push_back(
            fmt::format("{} got CPU {} and ran user code though {}, of higher priority, was ready",
                        history.name(moment.thread), moment.record->cpu, history.name(better)));
    }

    void leaves(const History::Moment& moment, const SchedulerState& before) {
        // A thread that sleeps or ends in the kernel has used its turn, even without user code.
        if (before.executes(moment.thread) || !moment.record->ready) {
            decided_after_ns_ = last_on_cpu(moment.record->cpu);
            decided_on_ = moment.record->cpu;
        }
        if (!moment.record->ready)
            last_thread_ = History::kNone;
    }

    std::uint64_t& last_on_cpu(std::uint32_t cpu) {
        if (cpu >= last_on_cpu_.size())
            last_on_cpu_.resize(cpu + 1);
        return last_on_cpu_[cpu];
    }

    std::vector<std::uint64_t> last_on_cpu_; // time of the last record or step on each CPU
    std::uint64_t decided_after_ns_ = 0;     // the decision who is next is later than this
    std::uint32_t decided_on_ = 0;           // the CPU of which that is known
    // Of the last turn with user code. None: it has gone to sleep, so that it has to be chosen
    // anew.
    std::size_t last_thread_ = History::kNone;
};

} // namespace

std::unique_ptr<Rule> rule_best_is_chosen(const Setting&, const History&) {
    return std::make_unique<BestIsChosen>();
}

} // namespace pctctl
