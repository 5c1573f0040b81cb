// SPDX-License-Identifier: GPL-2.0-only
// Does over abstract programs what the kernel's scheduler does for a policy (policies/policy.h). It
// calls the policies' own code, the one that the kernel executes, and makes the steps that they
// decide.
#pragma once

#include "dispatch.h"
#include "program.h"
#include "wait_queues.h"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace pctctl::model {

// What becomes of a thread whose next event would have to wait.
enum class Waiting {
    kDisabled, // it is not enabled, as in the papers
    kAttempts, // it can be chosen, and only then finds out: as in the kernel
    kQueues,   // the same; if several wait, the same one is woken as by the C library
};

// What a thread does at an event, for comparisons with what a real program notes.
enum class Moment : std::uint8_t {
    kArrives,  // is about to execute it
    kSelected, // goes on to execute it, for the first time
    kOver,     // goes on behind it
};
struct Mark {
    Thread thread;
    std::uint32_t index;
    Moment moment;
};

class Mechanism {
public:
    // Picks one of several threads that may go on.
    using Choice = std::function<std::size_t(std::span<const Thread>)>;

    Mechanism(const Program& program, Waiting waiting = Waiting::kDisabled);

    // One execution of the program. The schedule is valid until the next call. max_steps ends those
    // that do not end by themselves.
    const Schedule& run(const pct_policy_config& config);

    // The same move by move: to its next step, or of that step. The configuration must last.
    void start(const pct_policy_config& config);
    // Of whom the policy lets any make the next move; nobody: it is over. Valid until that.
    std::span<const Thread> admissible();
    void go_on(Thread t);

    // Those of `identity()` if none are set.
    void set_identities(std::vector<std::uint64_t> identities) {
        identities_ = std::move(identities);
    }
    void set_marks(bool wanted) { wants_marks_ = wanted; }
    void set_choice(Choice choice) { choice_ = std::move(choice); }
    void set_max_steps(std::size_t steps) { max_steps_ = steps; }

    const State& state() const { return state_; }
    const Schedule& schedule() const { return schedule_; }
    const std::vector<Mark>& marks() const { return marks_; } // if they were wanted
    const pct_policy_run& policy_run() const { return run_; }
    bool found_bug() const { return program_.bug && program_.bug(schedule_, state_); }
    bool cut_short() const { return cut_short_; }
    // How often the policy did something about a thread that made no progress.
    std::uint64_t interventions() const { return interventions_; }
    // Steps of each thread, its present priority, and its identity.
    std::uint64_t steps(Thread t) const { return threads_[t].policy.steps; }
    std::uint64_t priority(Thread t) const { return threads_[t].policy.priority; }
    static std::uint64_t identity(Thread t);

private:
    struct ThreadState {
        pct_policy_thread policy;
        bool exists, arrived, selected, blocked, executed;
        bool selected_before;
        bool dying; // has ended, and still has to get the CPU once more, see pass()
        bool last;  // its step comes behind those of all others, whatever the policy says
        bool final; // it has begun its final wait
        std::optional<std::uint32_t> unmarked; // the event executed last, until it is marked kOver
        std::uint64_t yields, polls;           // in a row
    };

    void appear(Thread t, std::uint64_t creators_priority);
    void arrive(Thread t);
    void execute(Thread t);
    void pass(Thread t);
    void mark(Thread t, std::uint32_t index, Moment moment);
    void mark_over(Thread t);
    void appear_forked(Thread creator);
    void wake(Thread t);
    void finish_step(Thread t);
    bool begins_final_wait(Thread t) const;
    void begin_final_wait(Thread t);
    void demote(Thread t);
    bool no_progress(Thread t, pct_demotion sign, std::uint64_t count) const;
    void notice_no_progress(Thread t, const pct_policy_view& view);
    void react(pct_reaction reaction, Thread actor, const pct_pending* by);
    void update_waiting();
    bool enabled(Thread t) const {
        return threads_[t].exists && state_.alive(t) && !threads_[t].blocked;
    }
    // Of the threads that can use the CPU; nr_threads(): none.
    Thread best() const;

    const Program& program_;
    const Waiting waiting_;
    const bool may_block_;
    bool forks_;
    const pct_policy_config* config_ = nullptr;
    State state_;
    pct_policy_run run_{};
    std::vector<ThreadState> threads_;
    Schedule schedule_;
    std::vector<std::uint64_t> identities_;
    std::vector<Mark> marks_;
    bool wants_marks_ = false;
    WaitQueues queues_;
    std::vector<Thread> candidates_;
    Choice choice_;
    std::size_t max_steps_ = 1'000'000;
    std::uint64_t demotions_ = 0;
    std::uint64_t interventions_ = 0;
    bool cut_short_ = false;
};

} // namespace pctctl::model
