// SPDX-License-Identifier: GPL-2.0-only
//
// What is taken for granted
//
// T1. Times are of one clock on all CPUs. The kernel runs on clocks for which that holds.
// T2. A record's time is read at a point that its type fixes (pctctl/witness.h). A wake-up's is
//     read after the scheduler has got the thread, with the lock held under which the scheduler can
//     first run it; so it lies between the two. The thread's going to sleep before and its coming
//     to a CPU afterwards are ordered with it by the same locks.
// T3. The log tells for each step and demotion the time before the scheduler compares the thread
//     with the waiting ones. That comparison follows at once: in the probe, before the operation.
//     Demotions for yielding, polling, looping and at the end of a process belong to a step that
//     has been logged, or to none; a demotion for spinning comes with a timer interrupt, possibly
//     just before a step is logged.
// T4. The scheduler decides who is next after the one before has begun to leave its CPU for good.
//     At that time interrupts are off on this CPU, so whatever the witness has recorded on this CPU
//     lies before the decision.
// T5. The next thread is not let onto a CPU before the one before has left its own, or has begun to
//     exit.
//
// "Ready" is a thread that could execute if it had a CPU, whether it has one or not: from its
// wake-up to the record of leaving the CPU to sleep, and not after it has begun to exit. Priorities
// change only while their thread executes or wakes up, so those at the time of a check are those of
// the decision.
//
// Only turns with user code are judged, so that a turn in which a starved thread is sent away at
// once, and the way of an exiting thread through the kernel, are none of the rules' business.
//
// Rules
//
// A. Two turns with user code do not overlap (T5).
// B. When a turn with user code begins, and it is not just the continuation of the last such turn
//    after an interruption, no thread of higher priority has been ready since before the decision:
//    since before the last thing the witness or the log knows of the CPU on which the last turn
//    with user code was left (T4). One that became ready later may have been too late. In
//    particular the thread of the last turn is itself still ready if it was preempted.
// C. After a thread has compared itself with those waiting, at time t, and some thread of higher
//    priority had been ready since before t (T2, T3: the scheduler knew it), it does not go on as
//    long as that one is ready. Going on is: a turn with user code, another step, going to sleep (a
//    wait in the operation of that step), or exiting in the same turn. It compares itself at steps
//    and at demotions other than for spinning; such a demotion is due when the thread leaves the
//    CPU. So a thread woken by an interrupt or from outside does take over at the next step.
// D. A thread created in the run is in the log, with the right creator, and in sched_ext; in the
//    log or not, no other runs user code.
// E. The log is what the seed says: initial priorities, the priority after each step, steps
//    numbered without a gap, made by a thread that was on a CPU; each demotion below all before. Of
//    a step that is not counted for change points, no other thread was ready. Such a step begins a
//    phase, if the policy has phases; a thread that sleeps from one into the next counts, and has a
//    new priority, when it wakes.
//
// What it cannot see: user code that leaves no trace in registers and takes less than a timer tick;
// which of two threads woken from outside, while nobody executed, came first; threads that the
// kernel creates for io_uring, which never execute user code; whether the log omits steps.
#include "witness/strictness.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "pctctl/identity.h"
#include "plan/policies.h"
#include "witness/history.h"

namespace pctctl {
namespace {

constexpr std::size_t kMaxDetails = 10;
constexpr std::size_t kNone = History::none;

// A time and a priority with which a thread compared itself with the waiting ones.
struct Comparison {
    std::uint64_t time_ns = 0;
    std::uint64_t priority = ~0ULL; // none yet: nobody is higher
};

struct ThreadState {
    std::uint64_t identity = 0;
    std::uint64_t priority = 0;
    std::uint64_t phase = 0;          // of its last step or wake-up
    std::optional<std::uint32_t> cpu; // where it is
    std::size_t turn = kNone;         // and since when
    bool ready = false;
    bool exiting = false;
    bool reported = false;
    std::uint64_t ready_since_ns = 0;
    std::uint32_t woken_on = 0; // the CPU that made it ready
    Comparison last;
    Comparison due;                // takes the place of `last` when the thread leaves the CPU
    std::size_t last_turn = kNone; // in which `last` was made
};

class Checker {
public:
    explicit Checker(const StrictnessInput& input)
        : config_(policy_config(input.algorithm, input.seed, input.parameters)),
          parallel_(is_parallel(config_)), phases_(config_.options & PCT_OPTION_PHASES),
          unranked_(is_stepwise(config_) || pct_policy_enforcement(&config_) == PCT_ENFORCE_FREE),
          history_(read_history(input.log, input.records)) {}

    StrictnessReport run() {
        for (const std::string& flaw : history_.flaws)
            violation(flaw);
        if (!history_.flaws.empty())
            return std::move(report_);
        check_threads();
        for (const History::Moment& moment : history_.moments) {
            lower_low_set(moment.time_ns);
            if (moment.event)
                on_event(moment);
            else
                on_record(moment);
        }
        for (const History::Turn& turn : history_.turns)
            report_.turns += turn.user_code;
        return std::move(report_);
    }

private:
    void violation(std::string text) {
        report_.violations++;
        if (report_.details.size() < kMaxDetails)
            report_.details.push_back(std::move(text));
    }

    static std::string at(std::uint64_t time_ns) {
        return fmt::format("at {}.{:09} s:", time_ns / 1000000000, time_ns % 1000000000);
    }

    std::string thread_name(std::size_t thread) const {
        return fmt::format("thread {} (pid {})", thread, history_.threads[thread].pid);
    }

    bool logged(std::size_t thread) const { return history_.threads[thread].created; }
    bool user_code(std::size_t turn) const {
        return turn != kNone && history_.turns[turn].user_code;
    }

    // ---- Rule D and the first part of E: who there is ----

    void check_threads() {
        states_.resize(history_.threads.size());
        std::set<std::pair<std::uint32_t, std::uint32_t>> born;
        for (std::size_t i = 0; i < states_.size(); i++) {
            const History::Thread& thread = history_.threads[i];
            if (thread.creator != kNone && !thread.controlled)
                violation(fmt::format("{} was created outside sched_ext", thread_name(i)));
            if (!thread.created)
                continue;
            const pct_event& event = *thread.created;
            if (i > 0 && event.parent >= i) {
                violation(fmt::format("{} is said to be created by the later thread {}",
                                      thread_name(i), event.parent));
                continue;
            }
            if (i > 0 && !born.emplace(event.parent, event.ordinal).second)
                violation(fmt::format("{} is said to be child {} of thread {}, as another is",
                                      thread_name(i), event.ordinal, event.parent));
            if (thread.creator != kNone && thread.creator != event.parent)
                violation(fmt::format("{} is said to be created by thread {}, but thread {} did it",
                                      thread_name(i), event.parent, thread.creator));
            ThreadState& state = states_[i];
            state.identity =
                i == 0 ? PCT_ROOT_IDENTITY
                       : pct_child_identity(states_[event.parent].identity, event.ordinal);
            state.phase = phases_ ? static_cast<std::uint64_t>(event.code) : 0;
            state.priority = unranked_ ? event.priority : first_priority(state);
            if (event.identity != state.identity || event.priority != state.priority)
                violation(
                    fmt::format("{} has identity {:x} and initial priority {} by the log, {:x} "
                                "and {} by the seed",
                                thread_name(i), event.identity, event.priority, state.identity,
                                state.priority));
        }
        std::ranges::copy_if(history_.threads, std::back_inserter(unseen_),
                             [](const History::Thread& thread) { return thread.created; });
        std::ranges::sort(unseen_, std::greater{}, &History::Thread::not_before_ns);
        if (history_.threads[0].starts_on_cpu) {
            set_ready(0, 0, 0);
            running_.push_back(0);
        }
    }

    // Of a thread that is new to its phase.
    std::uint64_t first_priority(const ThreadState& state) const {
        return pct_initial_priority(config_.seed, state.identity, state.phase);
    }

    // ---- Ready threads by priority ----

    void set_ready(std::size_t thread, std::uint64_t time_ns, std::uint32_t cpu) {
        ThreadState& state = states_[thread];
        if (state.ready || state.exiting || !logged(thread))
            return;
        state.ready = true;
        state.ready_since_ns = time_ns;
        state.woken_on = cpu;
        ready_.emplace(state.priority, thread);
    }

    void set_not_ready(std::size_t thread) {
        ThreadState& state = states_[thread];
        if (!state.ready)
            return;
        state.ready = false;
        ready_.erase({state.priority, thread});
    }

    void set_priority(std::size_t thread, std::uint64_t priority) {
        ThreadState& state = states_[thread];
        if (state.ready)
            ready_.erase({state.priority, thread});
        state.priority = priority;
        if (state.ready)
            ready_.emplace(priority, thread);
    }

    // A thread of a priority above this for which `known` holds.
    template <typename Known>
    std::size_t ready_above(std::uint64_t priority, std::size_t except, Known known) const {
        for (const auto& [other, thread] : ready_) {
            if (other <= priority)
                break;
            if (thread != except && known(states_[thread]))
                return thread;
        }
        return kNone;
    }

    // ---- Rule C ----

    void compared(std::size_t thread, const History::Moment& moment) {
        ThreadState& state = states_[thread];
        state.last = {moment.time_ns, state.priority};
        state.due = {};
        state.last_turn = moment.turn;
    }

    // A new thread counts from when it may have been created: the scheduler knows of it before the
    // log.
    void lower_low_set(std::uint64_t time_ns) {
        for (; !unseen_.empty() && unseen_.back().not_before_ns < time_ns; unseen_.pop_back())
            low_ = std::min<std::uint64_t>(low_, unseen_.back().created->priority);
    }

    // In a parallel run others go on as soon as a thread sleeps for the kernel, before it has left
    // its CPU, which is all that the witness sees of it.
    bool may_sleep(const ThreadState& state, std::uint64_t time_ns) const {
        if (!parallel_ || state.turn == kNone)
            return false;
        const History::Turn& turn = history_.turns[state.turn];
        return turn.slept && turn.last_sign_ns < time_ns;
    }

    bool went_on(std::size_t thread, std::uint64_t time_ns, std::string_view how) {
        const Comparison& last = states_[thread].last;
        if (unranked_ || (parallel_ && last.priority > low_))
            return false;
        const std::size_t other = ready_above(last.priority, thread, [&](const ThreadState& state) {
            return state.ready_since_ns < last.time_ns && !may_sleep(state, time_ns);
        });
        if (other == kNone)
            return false;
        violation(
            fmt::format("{} {} {} though {}, of higher priority, was ready all the time since "
                        "before {:.6f} ms earlier",
                        at(time_ns), thread_name(thread), how, thread_name(other),
                        static_cast<double>(time_ns - last.time_ns) / 1e6));
        return true;
    }

    // ---- The log ----

    void on_event(const History::Moment& moment) {
        switch (moment.event->type) {
        case PCT_EVENT_THREAD:
            if (states_[moment.thread].phase != phase_)
                violation(fmt::format("{} {} appears in phase {}, not {}", at(moment.time_ns),
                                      thread_name(moment.thread), states_[moment.thread].phase,
                                      phase_));
            break;
        case PCT_EVENT_STEP:
            on_step(moment);
            break;
        case PCT_EVENT_PRIORITY:
            on_demotion(moment);
            break;
        default:
            break;
        }
    }

    // The priority that the change point at the step of this number gives, if there is one; of
    // several the last.
    std::optional<std::uint64_t> change_at(std::int32_t number) const {
        std::optional<std::uint64_t> priority;
        for (std::uint32_t i = 0; i < config_.nr_change_points; i++) {
            const struct pct_change_point point =
                phase_ == 0 ? config_.change_points[i]
                            : pct_change_point(config_.seed, i + 1, config_.change_range, phase_);
            if (point.step == static_cast<std::uint64_t>(number))
                priority = point.priority;
        }
        return priority;
    }

    // A thread in a phase that is new to it.
    void enter_phase(std::size_t thread) {
        ThreadState& state = states_[thread];
        if (state.phase == phase_)
            return;
        state.phase = phase_;
        set_priority(thread, first_priority(state));
    }

    // It wakes, and may be about to make a step of an earlier phase.
    void on_wake(const History::Moment& moment) {
        ThreadState& state = states_[moment.thread];
        if (logged(moment.thread) && !state.ready && !state.exiting && state.phase != phase_) {
            enter_phase(moment.thread);
            state.last = {}; // that was with the priority it had then
            if (const auto priority = change_at(++last_number_))
                set_priority(moment.thread, *priority);
        }
        set_ready(moment.thread, moment.time_ns, moment.record->cpu);
    }

    // Change points know a step by its number among all steps, or among those with another thread
    // enabled. The witness does not know what a thread sleeps for: so it only objects when a thread
    // was ready that should have made the step count.
    void check_number(const History::Moment& moment) {
        const pct_event& event = *moment.event;
        if (event.code != 0) {
            const std::int32_t before = std::exchange(last_number_, event.code);
            if (event.code != before + 1)
                violation(fmt::format("{} step {} has number {} for change points, after {}",
                                      at(moment.time_ns), event.step, event.code, before));
            return;
        }
        if (phases_ && last_number_ > 0) {
            phase_++;
            last_number_ = 0;
        }
        const std::size_t other =
            config_.options & PCT_OPTION_COUNT_CONCURRENT
                ? ready_above(0, moment.thread,
                              [&](const ThreadState& state) {
                                  return state.ready_since_ns < moment.time_ns;
                              })
                : moment.thread;
        if (other != kNone)
            violation(fmt::format("{} step {} is not counted for change points, though {} was "
                                  "enabled",
                                  at(moment.time_ns), event.step, thread_name(other)));
    }

    void on_step(const History::Moment& moment) {
        const pct_event& event = *moment.event;
        ThreadState& state = states_[moment.thread];
        report_.steps++;
        if (event.step != last_step_ + 1)
            violation(fmt::format("{} step {} follows step {}", at(moment.time_ns), event.step,
                                  last_step_));
        last_step_ = event.step;
        if (moment.turn == kNone)
            violation(fmt::format("{} {} made step {} without being on a CPU", at(moment.time_ns),
                                  thread_name(moment.thread), event.step));
        else if (state.cpu)
            last_on_cpu(*state.cpu) = moment.time_ns;

        went_on(moment.thread, moment.time_ns, fmt::format("made step {}", event.step));

        if (unranked_)
            return;
        check_number(moment);
        enter_phase(moment.thread);
        const std::uint64_t expected = change_at(event.code).value_or(state.priority);
        if (event.priority != expected)
            violation(fmt::format("{} {} has priority {} after step {}, but {} by the seed",
                                  at(moment.time_ns), thread_name(moment.thread), event.priority,
                                  event.step, expected));
        set_priority(moment.thread, event.priority);
        compared(moment.thread, moment);
    }

    void on_demotion(const History::Moment& moment) {
        const pct_event& event = *moment.event;
        ThreadState& state = states_[moment.thread];
        if (parallel_ && event.priority == PCT_PRIO_MAX) { // for one step
            state.last = {};
            return;
        }
        if (event.priority == 0 || event.priority >= lowest_demotion_)
            violation(fmt::format("{} {} was demoted to {}, which is not below all before ({})",
                                  at(moment.time_ns), thread_name(moment.thread), event.priority,
                                  lowest_demotion_));
        lowest_demotion_ = std::min<std::uint64_t>(lowest_demotion_, event.priority);
        set_priority(moment.thread, event.priority);
        if (event.code == PCT_DEMOTE_SPIN)
            state.due = {moment.time_ns, state.priority};
        else
            compared(moment.thread, moment);
    }

    // ---- The witness ----

    void on_record(const History::Moment& moment) {
        const pct_witness_record& record = *moment.record;
        switch (record.type) {
        case PCT_WITNESS_IN:
            on_in(moment);
            break;
        case PCT_WITNESS_OUT:
            on_out(moment);
            break;
        case PCT_WITNESS_WAKE:
            on_wake(moment);
            break;
        case PCT_WITNESS_NEW:
            set_ready(moment.thread, moment.time_ns, record.cpu);
            break;
        case PCT_WITNESS_EXIT:
            std::erase(running_, moment.thread);
            set_not_ready(moment.thread);
            states_[moment.thread].exiting = true;
            break;
        default:
            break;
        }
        last_on_cpu(record.cpu) = moment.time_ns;
    }

    std::uint64_t& last_on_cpu(std::uint32_t cpu) {
        if (cpu >= last_on_cpu_.size())
            last_on_cpu_.resize(cpu + 1);
        return last_on_cpu_[cpu];
    }

    void on_in(const History::Moment& moment) {
        const std::size_t thread = moment.thread;
        ThreadState& state = states_[thread];
        state.cpu = moment.record->cpu;
        state.turn = moment.turn;
        set_ready(thread, 0, 0); // only the first thread may have got ready unseen
        if (!user_code(moment.turn) || moment.record->exiting)
            return;
        if (!logged(thread)) {
            if (!std::exchange(state.reported, true))
                violation(fmt::format("{} {} ran user code, but is not in the log",
                                      at(moment.time_ns), thread_name(thread)));
            return;
        }

        if (!running_.empty() && !parallel_)
            violation(fmt::format("{} {} got CPU {} and ran user code while {} was running",
                                  at(moment.time_ns), thread_name(thread), moment.record->cpu,
                                  thread_name(running_.back())));
        else if (!went_on(thread, moment.time_ns, "ran user code again") &&
                 thread != last_thread_ && !unranked_ && !parallel_)
            check_choice(moment);
        running_.push_back(thread);
        last_thread_ = thread;
    }

    // Rule B.
    void check_choice(const History::Moment& moment) {
        // On the same CPU the order of records is certain even when the clock does not tell it.
        const auto known = [&](const ThreadState& state) {
            return state.ready_since_ns < decided_after_ns_ ||
                   (state.ready_since_ns == decided_after_ns_ && state.woken_on == decided_on_);
        };
        const std::size_t better =
            ready_above(states_[moment.thread].priority, moment.thread, known);
        if (better != kNone)
            violation(
                fmt::format("{} {} got CPU {} and ran user code though {}, of higher priority, "
                            "was ready",
                            at(moment.time_ns), thread_name(moment.thread), moment.record->cpu,
                            thread_name(better)));
    }

    void on_out(const History::Moment& moment) {
        const std::size_t thread = moment.thread;
        ThreadState& state = states_[thread];
        state.cpu.reset();
        state.turn = kNone;
        const bool executed = std::erase(running_, thread) > 0;
        // To sleep or end in the kernel is no passing through either.
        if (executed || !moment.record->ready) {
            decided_after_ns_ = last_on_cpu(moment.record->cpu);
            decided_on_ = moment.record->cpu;
        }
        if (!moment.record->ready) {
            if (!moment.record->exiting)
                went_on(thread, moment.time_ns, "went to sleep in an operation");
            else if (state.last_turn != kNone && state.last_turn == moment.turn)
                went_on(thread, moment.time_ns, "exited");
            last_thread_ = kNone;
        }
        state.exiting = moment.record->exiting;
        if (state.exiting || !moment.record->ready)
            set_not_ready(thread);
        if (state.due.time_ns)
            state.last = std::exchange(state.due, {});
    }

    const pct_policy_config config_;
    const bool parallel_; // rules A and B do not hold, rule C for the low set only
    const bool phases_;   // the policy has them
    const bool unranked_; // D and the numbers of the steps only
    const History history_;
    StrictnessReport report_;

    std::vector<ThreadState> states_;
    std::set<std::pair<std::uint64_t, std::size_t>, std::greater<>> ready_;
    std::vector<std::size_t> running_;       // in a turn with user code
    std::vector<std::uint64_t> last_on_cpu_; // time of the last record or step on each CPU
    std::size_t last_thread_ = kNone;    // of the last turn with user code; none: has slept since
    std::uint64_t decided_after_ns_ = 0; // lower bound of the decision who is next
    std::uint32_t decided_on_ = 0;       // and the CPU it is from
    std::uint64_t last_step_ = 0;
    std::uint64_t phase_ = 0;
    std::int32_t last_number_ = 0; // for change points, in this phase
    std::uint64_t lowest_demotion_ = PCT_PRIO_CHANGE;
    std::vector<History::Thread> unseen_; // not in low_ yet, the first one last
    std::uint64_t low_ = PCT_PRIO_MAX;    // upper end of the low set, which is that of ppct.h
};

} // namespace

StrictnessReport check_strictness(const StrictnessInput& input) {
    return Checker(input).run();
}

} // namespace pctctl
