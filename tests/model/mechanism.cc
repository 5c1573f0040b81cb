// SPDX-License-Identifier: GPL-2.0-only
#include "mechanism.h"

#include <algorithm>

#include "pctctl/identity.h"

namespace pctctl::model {

Mechanism::Mechanism(const Program& program, Waiting waiting)
    : program_(program), waiting_(waiting), may_block_(program.may_block()),
      forks_(!program.forked.empty()), state_(program), threads_(program.threads.size()),
      queues_(program) {}

std::uint64_t Mechanism::identity(Thread t) {
    return pct_child_identity(PCT_ROOT_IDENTITY, t + 1u);
}

const Schedule& Mechanism::run(const pct_policy_config& config) {
    start(config);
    for (std::span<const Thread> threads; !(threads = admissible()).empty();) {
        if (schedule_.size() >= max_steps_) {
            cut_short_ = true;
            break;
        }
        go_on(threads[choice_ && threads.size() > 1 ? choice_(threads) : 0]);
    }
    return schedule_;
}

void Mechanism::start(const pct_policy_config& config) {
    config_ = &config;
    state_.reset();
    run_ = {};
    schedule_.clear();
    marks_.clear();
    queues_.reset();
    demotions_ = 0;
    interventions_ = 0;
    cut_short_ = false;
    for (ThreadState& thread : threads_)
        thread = {};
    for (Thread t = 0; t < threads_.size(); t++)
        if (state_.alive(t))
            appear(t, 0);
}

void Mechanism::go_on(Thread t) {
    if (threads_[t].dying)
        threads_[t].dying = false;
    else if (threads_[t].arrived)
        execute(t);
    else if (state_.next(t).step)
        arrive(t);
    else if (begins_final_wait(t))
        begin_final_wait(t);
    else
        pass(t);
}

Thread Mechanism::best() const {
    Thread best = static_cast<Thread>(threads_.size());
    for (Thread t = 0; t < threads_.size(); t++)
        if ((enabled(t) || threads_[t].dying) &&
            (best == threads_.size() ||
             threads_[t].policy.priority > threads_[best].policy.priority))
            best = t;
    return best;
}

std::span<const Thread> Mechanism::admissible() {
    const pct_enforcement kind = pct_policy_enforcement(config_);
    candidates_.clear();
    for (Thread t = 0; !pct_is_serial(kind) && t < threads_.size(); t++)
        if (enabled(t) && (kind == PCT_ENFORCE_FREE || threads_[t].policy.priority > run_.low))
            candidates_.push_back(t);
    if (candidates_.empty()) {
        const Thread highest = best();
        if (highest < threads_.size())
            candidates_.push_back(highest);
    }
    return candidates_;
}

void Mechanism::appear(Thread t, std::uint64_t creators_priority) {
    ThreadState& thread = threads_[t];
    thread.exists = true;
    thread.policy.identity = t < identities_.size() ? identities_[t] : identity(t);
    thread.policy.priority = creators_priority;
    pct_policy_appear(config_, &run_, &thread.policy);
}

// The step before is over.
void Mechanism::finish_step(Thread t) {
    ThreadState& thread = threads_[t];
    if (!thread.executed)
        return;
    thread.executed = false;
    const pct_pending done = thread.policy.event;
    react(pct_policy_executed(config_, &run_, &thread.policy), t, &done);
}

void Mechanism::arrive(Thread t) {
    ThreadState& thread = threads_[t];
    if (state_.next(t).op != Op::kCreated) { // that is before the thread goes on behind the fork
        mark_over(t);
        mark(t, state_.next_index(t), Moment::kArrives);
    }
    finish_step(t);
    const Event& event = state_.next(t);
    thread.policy.event = {
        .object = event.object,
        .more = {},
        .kind = static_cast<__u32>(event.op),
        .flags = (event.read_only ? PCT_PENDING_READ_ONLY : 0) |
                 (event.acquires || event.op == Op::kLock ? PCT_PENDING_ACQUIRES : 0),
    };
    pct_policy_view view{};
    for (Thread other = 0; other < threads_.size(); other++) {
        if (!enabled(other))
            continue;
        view.enabled++;
        if (other != t && threads_[other].policy.priority > view.other)
            view.other = threads_[other].policy.priority;
    }
    pct_policy_arrive(config_, &run_, &thread.policy, &view);
    thread.arrived = true;
    thread.selected_before = false;
    notice_no_progress(t, view);
    if (begins_final_wait(t))
        begin_final_wait(t);
    update_waiting();
}

// It is about to end a process in which there are others, and has not waited for them yet.
bool Mechanism::begins_final_wait(Thread t) const {
    if (!(config_->options & PCT_OPTION_FINAL_WAIT) || threads_[t].final ||
        state_.next(t).op != Op::kEndProcess)
        return false;
    for (Thread other = 0; other < threads_.size(); other++)
        if (other != t && state_.alive(other))
            return true;
    return false;
}

void Mechanism::begin_final_wait(Thread t) {
    mark_over(t);
    finish_step(t);
    threads_[t].final = true;
    demote(t);
    threads_[t].last = threads_[t].arrived;
}

void Mechanism::demote(Thread t) {
    threads_[t].policy.priority = pct_demoted_priority(++demotions_);
    threads_[t].yields = 0;
    threads_[t].polls = 0;
}

// The kernel's part of it: a stepwise policy does not let a thread in its final wait go on.
bool Mechanism::no_progress(Thread t, pct_demotion sign, std::uint64_t count) const {
    return pct_policy_enforcement(config_) == PCT_ENFORCE_STEPWISE &&
           std::ranges::any_of(threads_, &ThreadState::final) &&
           pct_no_progress(config_->seed, threads_[t].policy.identity, sign, count);
}

void Mechanism::notice_no_progress(Thread t, const pct_policy_view& view) {
    ThreadState& thread = threads_[t];
    const Op op = state_.next(t).op;
    if (op != Op::kYield && op != Op::kPoll)
        return;
    const auto dying = std::count_if(threads_.begin(), threads_.end(),
                                     [](const ThreadState& other) { return other.dying; });
    if (view.enabled + dying <= 1)
        return;
    const std::uint64_t before = thread.policy.priority;
    const pct_demotion sign = op == Op::kYield ? PCT_DEMOTE_YIELD : PCT_DEMOTE_POLL;
    const std::uint64_t count = op == Op::kYield ? ++thread.yields : ++thread.polls;
    if (no_progress(t, sign, count)) {
        demote(t);
        thread.last = true;
        interventions_++;
        return;
    }
    const pct_reaction reaction =
        pct_policy_stuck(config_, &run_, &thread.policy, &view, sign, count);
    interventions_ += reaction != PCT_REACT_NONE || thread.policy.priority != before;
    react(reaction, t, nullptr);
}

void Mechanism::execute(Thread t) {
    ThreadState& thread = threads_[t];
    if (!thread.selected) { // else it is in the middle of a condition wait
        thread.selected = true;
        thread.last = false;
        if (!thread.selected_before)
            mark(t, state_.next_index(t), Moment::kSelected);
        thread.selected_before = true;
        react(pct_policy_select(config_, &run_, &thread.policy), t, nullptr);
    }
    if (!state_.can_execute(t)) { // only if threads attempt what has to wait
        thread.blocked = true;
        thread.selected = false;
        thread.yields = 0;
        thread.polls = 0;
        pct_policy_block(config_, &run_, &thread.policy);
        if (waiting_ == Waiting::kQueues)
            queues_.wait(t, state_.next(t), state_.signalled(t));
        return;
    }
    const Event& event = state_.next(t);
    const std::uint32_t index = state_.next_index(t);
    state_.execute(t);
    if (event.op != Op::kCondSleep) { // that is half of its step
        schedule_.push_back(t);
        thread.arrived = false;
        thread.selected = false;
        thread.executed = true;
        if (event.op != Op::kBegin && event.op != Op::kCreated)
            thread.unmarked = index;
        if (!state_.alive(t))
            finish_step(t);
        appear_forked(t);
    }
    if (waiting_ == Waiting::kQueues)
        wake(queues_.executed(t, event));
    update_waiting();
}

// An event between steps.
void Mechanism::pass(Thread t) {
    mark_over(t);
    state_.execute(t);
    appear_forked(t);
    if (state_.alive(t))
        return;
    if (waiting_ == Waiting::kQueues) { // before others are told of its last step, as in the kernel
        const Thread joiner = queues_.ended(t);
        wake(joiner);
        // A higher one takes the CPU from it before it is gone.
        threads_[t].dying = joiner != kNobody &&
                            pct_policy_enforcement(config_) == PCT_ENFORCE_SERIAL &&
                            threads_[joiner].policy.priority > threads_[t].policy.priority;
    }
    update_waiting();
    finish_step(t);
}

void Mechanism::appear_forked(Thread creator) {
    if (!forks_)
        return;
    for (Thread t = 0; t < threads_.size(); t++) {
        if (threads_[t].exists || !state_.alive(t))
            continue;
        appear(t, threads_[creator].policy.priority);
        if (state_.next(t).op == Op::kBegin)
            arrive(t);
    }
}

void Mechanism::wake(Thread t) {
    if (t == kNobody)
        return;
    threads_[t].blocked = false;
    pct_policy_wake(config_, &run_, &threads_[t].policy);
}

void Mechanism::mark(Thread t, std::uint32_t index, Moment moment) {
    if (wants_marks_)
        marks_.push_back({t, index, moment});
}

void Mechanism::mark_over(Thread t) {
    if (threads_[t].unmarked)
        mark(t, *threads_[t].unmarked, Moment::kOver);
    threads_[t].unmarked.reset();
}

// Threads at their step that can, or cannot, execute it since the last change.
void Mechanism::update_waiting() {
    if (!may_block_ || waiting_ == Waiting::kQueues)
        return;
    for (Thread t = 0; t < threads_.size(); t++) {
        ThreadState& thread = threads_[t];
        if (!thread.exists || !thread.arrived || !state_.alive(t))
            continue;
        const bool can = state_.can_execute(t);
        if (thread.blocked && can) {
            thread.blocked = false;
            pct_policy_wake(config_, &run_, &thread.policy);
        } else if (!thread.blocked && !can && waiting_ == Waiting::kDisabled) {
            thread.blocked = true;
            thread.selected = false;
            pct_policy_block(config_, &run_, &thread.policy);
        }
    }
}

void Mechanism::react(pct_reaction reaction, Thread actor, const pct_pending* by) {
    switch (reaction) {
    case PCT_REACT_CONFLICTS:
    case PCT_REACT_ALL:
        candidates_.clear();
        for (Thread t = 0; t < threads_.size(); t++)
            if (enabled(t) && threads_[t].arrived && !threads_[t].selected && !threads_[t].last)
                candidates_.push_back(t);
        std::sort(candidates_.begin(), candidates_.end(), [&](Thread a, Thread b) {
            return threads_[a].policy.priority > threads_[b].policy.priority;
        });
        for (const Thread t : candidates_)
            pct_policy_disturbed(config_, &run_, &threads_[t].policy,
                                 reaction == PCT_REACT_ALL ? nullptr : by);
        break;
    case PCT_REACT_DEMOTE:
        demote(actor);
        break;
    case PCT_REACT_BUMP: {
        Thread chosen = static_cast<Thread>(threads_.size());
        std::uint64_t highest = 0;
        for (Thread t = 0; t < threads_.size(); t++) {
            pct_policy_thread& thread = threads_[t].policy;
            if (t == actor || !enabled(t) || thread.priority > run_.low)
                continue;
            const std::uint64_t key = pct_policy_bump_key(config_, &run_, &thread);
            if (key >= highest) {
                highest = key;
                chosen = t;
            }
        }
        if (chosen != threads_.size())
            pct_policy_bump(&threads_[chosen].policy);
        break;
    }
    case PCT_REACT_NONE:
        break;
    }
}

} // namespace pctctl::model
