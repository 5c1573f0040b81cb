// SPDX-License-Identifier: GPL-2.0-only
// Which of several waiting threads does an event wake? The one that the GNU C library wakes
// (lowlevellock, new semaphores, joining), with the kernel's futex queues: first come, first
// served. Only one thread may wait for a condition variable. Which of several a signal would wake
// depends on the library's version, and on how far each has come on its way to sleep.
#pragma once

#include "program.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace pctctl::model {

inline constexpr Thread kNobody = 0xffff;

class WaitQueues {
public:
    explicit WaitQueues(const Program& program);

    void reset();
    // The thread has attempted the event and goes to sleep. `signalled`: the event is a condition
    // wait that has been signalled, so the thread waits for the mutex.
    void wait(Thread t, const Event& event, bool signalled);
    // The thread has executed the event. Returns whom that wakes, or kNobody.
    Thread executed(Thread t, const Event& event);
    // The thread has ended. Returns whom that wakes, or kNobody.
    Thread ended(Thread t);

private:
    Thread first_of(std::deque<Thread>& queue);
    Thread unlocked(Object mutex);

    std::vector<std::deque<Thread>> queues_; // by object
    // By object, for mutexes: unlocking it wakes a waiting thread. Set by a thread that has to
    // wait, and again when it gets the lock after waiting: it does not know whether others still
    // wait. A thread that comes back from a condition wait sets it, too.
    std::vector<std::uint8_t> contended_;
    std::vector<std::uint8_t> had_to_wait_; // by thread: it has waited for its event
    std::vector<Thread> joiner_;            // by thread: the one that joins it
};

} // namespace pctctl::model
