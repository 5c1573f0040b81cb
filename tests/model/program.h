// SPDX-License-Identifier: GPL-2.0-only
// Abstract concurrent programs. A thread is a sequence of events on objects, and every event is a
// step of the program. A thread whose next event would have to wait is not enabled. This is the
// machine of the papers (PCT section 3.1, POS section 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace pctctl::model {

using Thread = std::uint16_t;
using Object = std::uint16_t;         // 1, 2, ...; 0: the event touches nothing shared
using Schedule = std::vector<Thread>; // the thread of each step

enum class Op : std::uint8_t {
    kAccess, // reads or changes memory: never waits
    kLock,   // waits until the mutex is free
    kUnlock,
    kAcquire,    // waits until the semaphore is above 0, and decrements it
    kRelease,    // increments it
    kCondSleep,  // first half of a condition wait: gives up the mutex `other`, sleeps on the object
    kCondResume, // second half, the same step: waits for a signal, then for the mutex `other`
    kSignal,
    kBroadcast,
    kFork,       // starts thread `other`
    kJoin,       // waits until thread `other` has ended
    kYield,      // a sign of no progress
    kPoll,       // likewise when repeated; the effect decides whether it is
    kBegin,      // of a thread that is forked: it arrives there at once
    kCreated,    // its creator's next event: they compete from here on
    kEndProcess, // all threads end, as when main returns
};

class State;

struct Event {
    Op op = Op::kAccess;
    Object object = 0;
    std::uint16_t other = 0;
    bool read_only = false;
    bool acquires = false; // takes a lock that nobody waits for; kLock always acquires
    bool step = true;      // false: between steps, without a decision of the policy
    // Executed with the event. Returns the index of the event at which the thread goes on, or
    // kNext.
    std::function<int(State&)> effect = nullptr;
};

inline constexpr int kNext = -1;

struct Program {
    std::string name;
    std::vector<std::vector<Event>> threads{};
    std::vector<Thread> forked{};          // threads that do not exist before kFork
    std::vector<std::int64_t> variables{}; // initial values; effects work on them
    std::vector<int> semaphores{};         // initial value by object; 0 if missing
    // Does a complete schedule, with the state at its end, show the bug? Unset: there is none.
    std::function<bool(const Schedule&, const State&)> bug = nullptr;

    Object nr_objects() const;
    std::size_t nr_events() const; // of all threads, as written: loops count once
    bool may_block() const;
};

// The state of an execution: where each thread is, and the values of all objects.
class State {
public:
    explicit State(const Program& program);

    void reset();
    // The thread exists and has an event left. It may have to wait for it.
    bool alive(Thread t) const { return started_[t] && pc_[t] < program_->threads[t].size(); }
    bool ended(Thread t) const { return started_[t] && pc_[t] >= program_->threads[t].size(); }
    bool can_execute(Thread t) const; // t is alive
    bool enabled(Thread t) const { return alive(t) && can_execute(t); }
    const Event& next(Thread t) const { return program_->threads[t][pc_[t]]; }
    std::uint32_t next_index(Thread t) const { return pc_[t]; }
    void execute(Thread t); // t is enabled

    std::size_t nr_threads() const { return pc_.size(); }
    bool any_enabled() const;
    std::vector<Thread> enabled_threads() const;
    bool deadlocked() const; // no thread is enabled, and one has not ended
    bool signalled(Thread t) const { return signalled_[t]; } // since its last kCondSleep
    int& value(Object object) { return value_[object]; }     // see value_

    std::vector<std::int64_t> variables;

private:
    const Program* program_;
    std::vector<std::uint32_t> pc_;
    std::vector<std::uint8_t> started_;
    std::vector<int> value_; // by object: a mutex's holder + 1, a semaphore's count
    std::vector<std::vector<Thread>> sleepers_; // by object, a condition variable
    std::vector<std::uint8_t> signalled_;       // by thread
};

// Event `index` of a thread.
struct EventId {
    Thread thread;
    std::uint32_t index;
    friend bool operator==(const EventId&, const EventId&) = default;
};

// The first event is executed before the second.
struct Ordering {
    EventId first, second;
};

// A bug that shows when all of these orderings hold, and only then. For programs without jumps.
std::function<bool(const Schedule&, const State&)> bug_of(std::vector<Ordering> orderings);

// The events in the order of the schedule. For programs without jumps.
std::vector<EventId> events_of(const Schedule& schedule);

// Short notation for programs.
Event access(Object object);
Event read(Object object);
Event local();
Event lock(Object object);
Event unlock(Object object);
Event acquire(Object object);
Event release(Object object);
Event fork(Thread thread);
Event join(Thread thread);
// What a thread does after its last step until it has ended. Without it a thread ends with its last
// step, as in the papers.
Event leave();
// The first event of a thread that is forked, and the one behind the fork, under stepwise policies.
// Nobody else sees them.
Event begin();
Event created();
// Main returns: that is no step, and ends all.
Event end_process();

} // namespace pctctl::model
