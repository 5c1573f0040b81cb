// SPDX-License-Identifier: GPL-2.0-only
#include "witness/scheduler_state.h"

#include <algorithm>

#include "pctctl/identity.h"

namespace pctctl {

SchedulerState::SchedulerState(const Setting& setting, const History& history)
    : setting_(setting), history_(history), threads_(history.threads.size()) {
    for (std::size_t i = 0; i < threads_.size(); i++) {
        if (!has_identity(i))
            continue;
        const pct_event& event = *history_.threads[i].created;
        Thread& thread = threads_[i];
        thread.identity = i == 0
                              ? PCT_ROOT_IDENTITY
                              : pct_child_identity(threads_[event.parent].identity, event.ordinal);
        thread.phase = setting_.phases ? static_cast<std::uint64_t>(event.code) : 0;
        thread.priority = setting_.ranked ? setting_.initial_priority(thread.identity, thread.phase)
                                          : event.priority;
    }
    if (!threads_.empty() && history_.threads[0].starts_on_cpu) {
        set_ready(0, 0, 0);
        executing_.push_back(0);
    }
}

bool SchedulerState::has_identity(std::size_t thread) const {
    const pct_event* created = history_.threads[thread].created;
    return created && (thread == 0 || created->parent < thread);
}

bool SchedulerState::executes(std::size_t thread) const {
    return std::ranges::find(executing_, thread) != executing_.end();
}

// ---- What a moment will do ----

bool SchedulerState::brings_user_code(const History::Moment& moment) const {
    return moment.record && moment.record->type == PCT_WITNESS_IN && !moment.record->exiting &&
           moment.turn != kNone && history_.turns[moment.turn].user_code;
}

bool SchedulerState::begins_execution(const History::Moment& moment) const {
    return brings_user_code(moment) && logged(moment.thread);
}

bool SchedulerState::wakes_into_new_phase(const History::Moment& moment) const {
    if (!moment.record || moment.record->type != PCT_WITNESS_WAKE || !logged(moment.thread))
        return false;
    const Thread& thread = threads_[moment.thread];
    return !thread.ready && !thread.exiting && thread.phase != phase_;
}

bool SchedulerState::is_bump(const History::Moment& moment) const {
    return setting_.parallel && moment.event && moment.event->type == PCT_EVENT_PRIORITY &&
           moment.event->priority == PCT_PRIO_MAX;
}

std::uint64_t SchedulerState::priority_after(const History::Moment& step) const {
    const Thread& thread = threads_[step.thread];
    const std::uint64_t phase = begins_phase(*step.event) ? phase_ + 1 : phase_;
    const std::uint64_t before =
        thread.phase == phase ? thread.priority : setting_.initial_priority(thread.identity, phase);
    return setting_.change_at(step.event->code, phase).value_or(before);
}

// A step that is not counted ends a phase in which there have been counted ones.
bool SchedulerState::begins_phase(const pct_event& step) const {
    return setting_.phases && step.code == 0 && last_number_ > 0;
}

// ---- Moments ----

void SchedulerState::advance(const History::Moment& moment) {
    moment.event ? on_event(moment) : on_record(moment);
}

void SchedulerState::on_event(const History::Moment& moment) {
    if (moment.event->type == PCT_EVENT_STEP)
        on_step(moment);
    else if (moment.event->type == PCT_EVENT_PRIORITY && !is_bump(moment))
        set_priority(moment.thread, moment.event->priority);
}

// The log's priority is taken even when it is wrong, so that one fault is reported once.
void SchedulerState::on_step(const History::Moment& moment) {
    if (!setting_.ranked)
        return;
    const pct_event& event = *moment.event;
    if (begins_phase(event)) {
        phase_++;
        last_number_ = 0;
    } else if (event.code != 0) {
        last_number_ = event.code;
    }
    enter_phase(moment.thread);
    set_priority(moment.thread, event.priority);
}

void SchedulerState::on_record(const History::Moment& moment) {
    switch (moment.record->type) {
    case PCT_WITNESS_IN:
        return on_in(moment);
    case PCT_WITNESS_OUT:
        return on_out(moment);
    case PCT_WITNESS_WAKE:
        return on_wake(moment);
    case PCT_WITNESS_NEW:
        return set_ready(moment.thread, moment.time_ns, moment.record->cpu);
    case PCT_WITNESS_EXIT:
        std::erase(executing_, moment.thread);
        set_not_ready(moment.thread);
        threads_[moment.thread].exiting = true;
        return;
    default:
        return;
    }
}

void SchedulerState::on_in(const History::Moment& moment) {
    Thread& thread = threads_[moment.thread];
    thread.cpu = moment.record->cpu;
    thread.turn = moment.turn;
    set_ready(moment.thread, 0, 0); // only the first thread may have become ready unseen
    if (begins_execution(moment))
        executing_.push_back(moment.thread);
}

void SchedulerState::on_out(const History::Moment& moment) {
    Thread& thread = threads_[moment.thread];
    thread.cpu.reset();
    thread.turn = kNone;
    std::erase(executing_, moment.thread);
    thread.exiting = moment.record->exiting;
    if (thread.exiting || !moment.record->ready)
        set_not_ready(moment.thread);
}

void SchedulerState::on_wake(const History::Moment& moment) {
    if (wakes_into_new_phase(moment)) {
        enter_phase(moment.thread);
        // The wake-up counts as a step, for the thread may be about to make one of the old phase.
        if (const auto priority = setting_.change_at(++last_number_, phase_))
            set_priority(moment.thread, *priority);
    }
    set_ready(moment.thread, moment.time_ns, moment.record->cpu);
}

void SchedulerState::enter_phase(std::size_t thread) {
    Thread& entering = threads_[thread];
    if (entering.phase == phase_)
        return;
    entering.phase = phase_;
    set_priority(thread, setting_.initial_priority(entering.identity, phase_));
}

void SchedulerState::set_priority(std::size_t thread, std::uint64_t priority) {
    Thread& changed = threads_[thread];
    if (changed.ready)
        ready_.erase({changed.priority, thread});
    changed.priority = priority;
    if (changed.ready)
        ready_.emplace(priority, thread);
}

void SchedulerState::set_ready(std::size_t thread, std::uint64_t time_ns, std::uint32_t cpu) {
    Thread& woken = threads_[thread];
    if (woken.ready || woken.exiting || !logged(thread))
        return;
    woken.ready = true;
    woken.ready_since_ns = time_ns;
    woken.woken_on = cpu;
    ready_.emplace(woken.priority, thread);
}

void SchedulerState::set_not_ready(std::size_t thread) {
    Thread& sleeper = threads_[thread];
    if (!sleeper.ready)
        return;
    sleeper.ready = false;
    ready_.erase({sleeper.priority, thread});
}

} // namespace pctctl
