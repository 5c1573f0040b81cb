// SPDX-License-Identifier: GPL-2.0-only
#include "wait_queues.h"

#include <algorithm>

namespace pctctl::model {

WaitQueues::WaitQueues(const Program& program)
    : queues_(program.nr_objects() + std::size_t{1}), contended_(queues_.size()),
      had_to_wait_(program.threads.size()), joiner_(program.threads.size(), kNobody) {}

void WaitQueues::reset() {
    for (auto& queue : queues_)
        queue.clear();
    std::fill(contended_.begin(), contended_.end(), 0);
    std::fill(had_to_wait_.begin(), had_to_wait_.end(), 0);
    std::fill(joiner_.begin(), joiner_.end(), kNobody);
}

void WaitQueues::wait(Thread t, const Event& event, bool signalled) {
    had_to_wait_[t] = 1;
    if (event.op == Op::kJoin) {
        joiner_[event.other] = t;
        return;
    }
    const bool woken = event.op == Op::kCondResume && signalled;
    const Object object = woken ? event.other : event.object;
    queues_[object].push_back(t);
    if (woken || event.op == Op::kLock)
        contended_[object] = 1;
}

Thread WaitQueues::unlocked(Object mutex) {
    if (!contended_[mutex])
        return kNobody;
    contended_[mutex] = 0;
    return first_of(queues_[mutex]);
}

Thread WaitQueues::first_of(std::deque<Thread>& queue) {
    if (queue.empty())
        return kNobody;
    const Thread first = queue.front();
    queue.pop_front();
    return first;
}

Thread WaitQueues::executed(Thread t, const Event& event) {
    const bool had_to_wait = had_to_wait_[t];
    had_to_wait_[t] = 0;
    switch (event.op) {
    case Op::kLock:
        contended_[event.object] = had_to_wait;
        return kNobody;
    case Op::kUnlock:
        return unlocked(event.object);
    case Op::kCondSleep:
        return unlocked(event.other);
    case Op::kCondResume: // it cannot tell whether others wait, and so assumes it
        contended_[event.other] = 1;
        return kNobody;
    case Op::kSignal:
    case Op::kBroadcast:
    case Op::kRelease:
        return first_of(queues_[event.object]);
    default:
        return kNobody;
    }
}

Thread WaitQueues::ended(Thread t) {
    const Thread joiner = joiner_[t];
    joiner_[t] = kNobody;
    return joiner;
}

} // namespace pctctl::model
