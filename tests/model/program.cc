// SPDX-License-Identifier: GPL-2.0-only
#include "program.h"

#include <algorithm>

namespace pctctl::model {

Object Program::nr_objects() const {
    Object highest = 0;
    for (const auto& thread : threads)
        for (const Event& event : thread)
            highest = std::max({highest, event.object,
                                event.op == Op::kCondSleep || event.op == Op::kCondResume
                                    ? static_cast<Object>(event.other)
                                    : Object{0}});
    return highest;
}

std::size_t Program::nr_events() const {
    std::size_t sum = 0;
    for (const auto& thread : threads)
        sum += thread.size();
    return sum;
}

bool Program::may_block() const {
    for (const auto& thread : threads)
        for (const Event& event : thread)
            if (event.op == Op::kLock || event.op == Op::kAcquire || event.op == Op::kCondResume ||
                event.op == Op::kJoin)
                return true;
    return false;
}

State::State(const Program& program) : program_(&program) {
    reset();
}

void State::reset() {
    const std::size_t objects = program_->nr_objects() + std::size_t{1};
    const std::size_t threads = program_->threads.size();
    variables = program_->variables;
    pc_.assign(threads, 0);
    started_.assign(threads, 1);
    for (const Thread t : program_->forked)
        started_[t] = 0;
    value_.assign(objects, 0);
    std::copy(program_->semaphores.begin(), program_->semaphores.end(), value_.begin());
    sleepers_.resize(objects);
    for (auto& list : sleepers_)
        list.clear();
    signalled_.assign(threads, 0);
}

bool State::can_execute(Thread t) const {
    const Event& event = next(t);
    switch (event.op) {
    case Op::kLock:
        return value_[event.object] == 0;
    case Op::kAcquire:
        return value_[event.object] > 0;
    case Op::kCondResume:
        return signalled_[t] && value_[event.other] == 0;
    case Op::kJoin:
        return ended(event.other);
    default:
        return true;
    }
}

void State::execute(Thread t) {
    const Event& event = next(t);
    switch (event.op) {
    case Op::kLock:
        value_[event.object] = t + 1;
        break;
    case Op::kUnlock:
        value_[event.object] = 0;
        break;
    case Op::kAcquire:
        value_[event.object]--;
        break;
    case Op::kRelease:
        value_[event.object]++;
        break;
    case Op::kCondSleep:
        value_[event.other] = 0;
        signalled_[t] = 0;
        sleepers_[event.object].push_back(t);
        break;
    case Op::kCondResume:
        value_[event.other] = t + 1;
        break;
    case Op::kSignal:
        if (!sleepers_[event.object].empty()) {
            signalled_[sleepers_[event.object].front()] = 1;
            sleepers_[event.object].erase(sleepers_[event.object].begin());
        }
        break;
    case Op::kBroadcast:
        for (const Thread sleeper : sleepers_[event.object])
            signalled_[sleeper] = 1;
        sleepers_[event.object].clear();
        break;
    case Op::kFork:
        started_[event.other] = 1;
        break;
    case Op::kEndProcess:
        for (Thread other = 0; other < nr_threads(); other++) {
            started_[other] = 1;
            pc_[other] = static_cast<std::uint32_t>(program_->threads[other].size());
        }
        return;
    default:
        break;
    }
    const int target = event.effect ? event.effect(*this) : kNext;
    pc_[t] = target == kNext ? pc_[t] + 1 : static_cast<std::uint32_t>(target);
}

bool State::any_enabled() const {
    for (Thread t = 0; t < nr_threads(); t++)
        if (enabled(t))
            return true;
    return false;
}

std::vector<Thread> State::enabled_threads() const {
    std::vector<Thread> result;
    for (Thread t = 0; t < nr_threads(); t++)
        if (enabled(t))
            result.push_back(t);
    return result;
}

bool State::deadlocked() const {
    bool waiting = false;
    for (Thread t = 0; t < nr_threads(); t++) {
        if (enabled(t))
            return false;
        waiting = waiting || alive(t);
    }
    return waiting;
}

std::vector<EventId> events_of(const Schedule& schedule) {
    std::vector<EventId> events;
    std::vector<std::uint32_t> next;
    for (const Thread t : schedule) {
        if (t >= next.size())
            next.resize(t + std::size_t{1});
        events.push_back({t, next[t]++});
    }
    return events;
}

std::function<bool(const Schedule&, const State&)> bug_of(std::vector<Ordering> orderings) {
    return [orderings = std::move(orderings)](const Schedule& schedule, const State&) {
        const std::vector<EventId> events = events_of(schedule);
        return std::all_of(orderings.begin(), orderings.end(), [&](const Ordering& o) {
            const auto first = std::find(events.begin(), events.end(), o.first);
            const auto second = std::find(events.begin(), events.end(), o.second);
            return second != events.end() && first < second;
        });
    };
}

Event access(Object object) {
    return {.object = object};
}

Event read(Object object) {
    return {.object = object, .read_only = true};
}

Event local() {
    return {};
}

Event lock(Object object) {
    return {.op = Op::kLock, .object = object};
}

Event unlock(Object object) {
    return {.op = Op::kUnlock, .object = object};
}

Event acquire(Object object) {
    return {.op = Op::kAcquire, .object = object};
}

Event release(Object object) {
    return {.op = Op::kRelease, .object = object};
}

Event fork(Thread thread) {
    return {.op = Op::kFork, .other = thread};
}

Event join(Thread thread) {
    return {.op = Op::kJoin, .other = thread};
}

Event leave() {
    return {.step = false};
}

Event begin() {
    return {.op = Op::kBegin};
}

Event created() {
    return {.op = Op::kCreated};
}

Event end_process() {
    return {.op = Op::kEndProcess, .step = false};
}

} // namespace pctctl::model
