// SPDX-License-Identifier: GPL-2.0-only
// When several threads wait for the same thing, which of them does an event wake? The same as the
// GNU C library's algorithms do (lowlevellock, new semaphores, joining), with the kernel's futex
// queues, first come first served. Only one thread may ever wait for a condition variable. Of
// several, which one a signal wakes depends on the library's version, and on how far each has come
// on the way to sleep.
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
    // The thread has attempted the event, and goes to sleep. `signalled` matters to a condition
    // wait: it has been woken from that and waits for the mutex.
    void wait(Thread t, const Event& event, bool signalled);
    // It has executed the event; who wakes up of it.
    Thread executed(Thread t, const Event& event);
    // The thread has ended; who wakes up of it.
    Thread ended(Thread t);

private:
    Thread first_of(std::deque<Thread>& queue);
    Thread unlocked(Object mutex);

    std::vector<std::deque<Thread>> queues_; // by object
    // Of mutexes: unlocking them wakes somebody. Set by those that have to wait and by those that
    // had to, when they get the lock: they do not know whether they were the only ones. So do those
    // that come back from a condition wait.
    std::vector<std::uint8_t> contended_;
    std::vector<std::uint8_t> had_to_wait_; // by thread, for its event
    std::vector<Thread> joiner_;            // by thread waited for
};

} // namespace pctctl::model
