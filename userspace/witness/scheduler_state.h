// SPDX-License-Identifier: GPL-2.0-only
// Who is ready and who has which priority, recomputed from the seed while a run's history is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "witness/history.h"
#include "witness/setting.h"

namespace pctctl {

class SchedulerState {
public:
    static constexpr std::size_t kNone = History::kNone;

    struct Thread {
        std::uint64_t identity = 0;
        std::uint64_t priority = 0;
        std::uint64_t phase = 0;          // of its last step or wake-up
        std::optional<std::uint32_t> cpu; // the CPU that it is on
        std::size_t turn = kNone;         // its turn there
        // It could execute if it had a CPU, whether it has one or not: from its wake-up to the
        // record that it leaves the CPU to sleep. Never again once it has begun to exit.
        bool ready = false;
        std::uint64_t ready_since_ns = 0;
        std::uint32_t woken_on = 0; // the CPU on which it became ready
        bool exiting = false;
    };

    // The state before the first moment. Both must outlive it.
    SchedulerState(const Setting& setting, const History& history);

    // Takes in a moment. The questions below are about the state before it.
    void advance(const History::Moment& moment);

    const History& history() const { return history_; }
    const Thread& thread(std::size_t index) const { return threads_[index]; }
    bool logged(std::size_t thread) const { return history_.threads[thread].created; }
    // The log tells by whom it was created, so that its identity is known.
    bool has_identity(std::size_t thread) const;
    // The threads in a turn with user code, in the order in which they began it.
    const std::vector<std::size_t>& executing() const { return executing_; }
    bool executes(std::size_t thread) const;
    std::uint64_t phase() const { return phase_; }
    // The number by which change points know the last step, in this phase.
    std::int32_t last_number() const { return last_number_; }

    // A ready thread of higher priority than this for which is_meant holds; kNone: there is none.
    template <typename Predicate>
    std::size_t ready_above(std::uint64_t priority, std::size_t except, Predicate is_meant) const {
        for (const auto& [other, thread] : ready_) {
            if (other <= priority)
                break;
            if (thread != except && is_meant(threads_[thread]))
                return thread;
        }
        return kNone;
    }

    // ---- What a moment will do ----

    // A thread gets a CPU and executes user code there.
    bool brings_user_code(const History::Moment& moment) const;
    // The same for a thread of the log. Others are rule D's business only.
    bool begins_execution(const History::Moment& moment) const;
    // A thread wakes that has slept from an earlier phase into this one. It gets a new priority.
    bool wakes_into_new_phase(const History::Moment& moment) const;
    // A thread of the low set may make one step above all others (PCT_REACT_BUMP).
    bool is_bump(const History::Moment& moment) const;
    // The priority of the thread after its step, by the seed.
    std::uint64_t priority_after(const History::Moment& step) const;

private:
    bool begins_phase(const pct_event& step) const;
    void enter_phase(std::size_t thread);
    void set_priority(std::size_t thread, std::uint64_t priority);
    void set_ready(std::size_t thread, std::uint64_t time_ns, std::uint32_t cpu);
    void set_not_ready(std::size_t thread);
    void on_event(const History::Moment& moment);
    void on_record(const History::Moment& moment);
    void on_in(const History::Moment& moment);
    void on_out(const History::Moment& moment);
    void on_wake(const History::Moment& moment);
    void on_step(const History::Moment& moment);

    const Setting& setting_;
    const History& history_;
    std::vector<Thread> threads_;
    std::set<std::pair<std::uint64_t, std::size_t>, std::greater<>> ready_; // priority, thread
    std::vector<std::size_t> executing_;
    std::uint64_t phase_ = 0;
    std::int32_t last_number_ = 0;
};

} // namespace pctctl
