// SPDX-License-Identifier: GPL-2.0-only
//
// The proof reads the run's history once, in order of time. A shared state (scheduler_state.h)
// knows who is ready and with what priority; the rules in the table below look at each moment.
//
// Assumptions
//
// T1. All times are read from one clock, which all CPUs agree on. The kernel runs on clocks for
//     which that holds.
// T2. Each record's time is read at a fixed point of what it records (pctctl/witness.h). A
// wake-up's
//     time is read after the scheduler has been given the thread, under the lock that the scheduler
//     needs to first run it. So it lies between the two. The same locks order it with the thread's
//     going to sleep before, and with its coming to a CPU afterwards.
// T3. The log's time of a step or a demotion lies before the scheduler compares the thread with the
//     waiting ones. That comparison follows at once: in the probe, before the operation. A demotion
//     for yielding, polling or looping, or at the end of a process, belongs to a step that has been
//     logged, or to none. A demotion for spinning comes with a timer interrupt, possibly just
//     before a step is logged.
// T4. The scheduler decides who is next after the thread before has begun to leave its CPU for
// good.
//     Interrupts are off on that CPU at the time. So whatever has been recorded on that CPU lies
//     before the decision.
// T5. The next thread is not let onto a CPU before the one before has left its own, or has begun to
//     exit.
//
// Priorities change only while their thread executes or wakes up. So the priorities at the time of
// a check are those with which the scheduler decided.
//
// Rules judge only turns (times on a CPU) in which user code ran. So it does not matter when a
// starved thread gets a CPU and is sent away at once, nor how an exiting thread makes its way
// through the kernel.
//
// What the proof cannot see:
// - user code that leaves no trace in registers and takes less than a timer tick;
// - which of two threads came first that were woken from outside while nobody executed;
// - threads that the kernel creates for io_uring, which never execute user code;
// - steps that the scheduler neither counts nor logs.
#include "witness/strictness.h"

#include <memory>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "witness/history.h"
#include "witness/rules.h"
#include "witness/scheduler_state.h"
#include "witness/setting.h"

namespace pctctl {
namespace {

constexpr std::size_t kMaxDetails = 10;

bool always(const Setting&) {
    return true;
}
bool ranked(const Setting& setting) {
    return setting.ranked;
}
bool serial(const Setting& setting) {
    return !setting.parallel;
}
bool ranked_serial(const Setting& setting) {
    return setting.ranked && !setting.parallel;
}

// In the order in which violations of one moment are reported.
struct TableEntry {
    MakeRule* make;
    bool (*applies)(const Setting&);
};
constexpr TableEntry kRules[] = {
    {rule_membership, always},            // D
    {rule_initial_priorities, always},    // E
    {rule_step_order, always},            // E
    {rule_one_at_a_time, serial},         // A
    {rule_gives_way, ranked},             // C
    {rule_best_is_chosen, ranked_serial}, // B
    {rule_counted_steps, ranked},         // E
    {rule_step_priorities, ranked},       // E
    {rule_demotions, always},             // E
};

class Checker {
public:
    explicit Checker(const StrictnessInput& input)
        : setting_(input), history_(read_history(input.log, input.records)),
          state_(setting_, history_) {
        for (const TableEntry& entry : kRules)
            if (entry.applies(setting_))
                rules_.push_back(entry.make(setting_, history_));
    }

    StrictnessReport run() {
        for (const std::string& flaw : history_.flaws)
            report(flaw);
        if (!history_.flaws.empty())
            return std::move(report_);
        check_threads();
        for (const History::Moment& moment : history_.moments)
            check_moment(moment);
        for (const History::Turn& turn : history_.turns)
            report_.turns += turn.user_code;
        return std::move(report_);
    }

private:
    void check_threads() {
        Violations found;
        for (std::size_t i = 0; i < history_.threads.size(); i++)
            for (const auto& rule : rules_)
                rule->on_thread(i, state_, found);
        for (std::string& text : found)
            report(std::move(text));
    }

    void check_moment(const History::Moment& moment) {
        Violations found;
        for (const auto& rule : rules_)
            rule->on_moment(moment, state_, found);
        state_.advance(moment);
        report_.steps += moment.event && moment.event->type == PCT_EVENT_STEP;
        // A turn that should not have begun may break several rules. It is one fault.
        if (moment.record && found.size() > 1)
            found.resize(1);
        for (const std::string& text : found)
            report(fmt::format("at {}.{:09} s: {}", moment.time_ns / 1000000000,
                               moment.time_ns % 1000000000, text));
    }

    void report(std::string text) {
        report_.violations++;
        if (report_.details.size() < kMaxDetails)
            report_.details.push_back(std::move(text));
    }

    const Setting setting_;
    const History history_;
    SchedulerState state_;
    std::vector<std::unique_ptr<Rule>> rules_;
    StrictnessReport report_;
};

} // namespace

StrictnessReport check_strictness(const StrictnessInput& input) {
    return Checker(input).run();
}

} // namespace pctctl
