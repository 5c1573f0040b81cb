// SPDX-License-Identifier: GPL-2.0-only
// Abstract programs that a real process can execute, event for event
// (tests/programs/model_program.c), and the order of events that pctctl must produce for a policy's
// decisions.
#pragma once

#include "dispatch.h"
#include "program.h"
#include "programs.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pctctl::model {

// Which thread is whose child, and all that a real program has besides the abstract one: the first
// thread exists from the start, starts others by kFork, waits for them by kJoin, and its process
// ends with it.
struct Executable {
    // Events as in Program, without leave(). Reading is taking a lock for reading: it acquires. A
    // condition wait is its first half alone, the condition variable one that no other thread waits
    // for. Polling is trying to acquire a semaphore, kTries times at most. Objects of accesses,
    // mutexes, semaphores and condition variables have numbers of their own.
    static constexpr unsigned kTries =
        40; // as model_program.c; more than it mostly takes to be noticed
    std::vector<std::vector<Event>> threads;
    // The threads are processes with shared memory, all started by the first one before it does
    // anything else, which is no step: neither kFork nor kJoin.
    bool processes = false;

    std::string text() const; // as the program reads it
    // As the model reads it, with the beginnings of threads and what follows their creation as
    // steps, or without.
    Program program(bool begins) const;
    std::vector<std::uint64_t> identities() const;
    std::size_t nr_events() const;
    std::size_t most_steps() const;
};

// Random ones: 2 to 5 threads, started and joined here and there, with accesses, critical sections
// also within each other, semaphores, waited for or polled, and condition variables. Some deadlock.
Executable random_executable(Random& random, bool processes);

// Everything that can be left out of it, each by itself: smaller ones that still make sense.
std::vector<Executable> smaller(const Executable& executable);

struct Performance {
    // Two characters for each event: the thread's small letter when it arrives, the capital when it
    // goes on behind it.
    std::string marks;
    std::vector<EventId> events; // in the order that the order hash has
    std::uint64_t hash = 0;
    std::uint64_t steps = 0;
    std::uint64_t concurrent = 0; // see struct pct_policy_run
    std::uint64_t longest_phase = 0;
    std::uint64_t interventions = 0;
    bool deadlock = false;
};
Performance perform(const Executable& executable, const pct_policy_config& config);

// The kind of the step that an event is.
std::uint32_t step_kind(const Event& event);

} // namespace pctctl::model
