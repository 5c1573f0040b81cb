// SPDX-License-Identifier: GPL-2.0-only
#include "executable.h"

#include "mechanism.h"
#include "pctctl/identity.h"
#include "pctctl/points.h"

#include <algorithm>
#include <stdexcept>

namespace pctctl::model {
namespace {

// All creations and joins act on one object, the processes (points.h, PCT_POINT_PROCESS).
Object processes_object(const std::vector<std::vector<Event>>& threads) {
    Object highest = 0;
    for (const auto& thread : threads)
        for (const Event& event : thread)
            highest = std::max(highest, event.object);
    return static_cast<Object>(highest + 1);
}

// How the program's text has an event, and what a step it is.
struct Spelling {
    Op op;
    bool read_only;
    char letter;
    pct_libc_point point;
};

constexpr Spelling kSpellings[] = {
    {Op::kAccess, false, 'a', PCT_LIBC_pthread_cond_signal},
    {Op::kAccess, true, 'r', PCT_LIBC_pthread_rwlock_rdlock},
    {Op::kLock, false, 'l', PCT_LIBC_pthread_mutex_lock},
    {Op::kUnlock, false, 'u', PCT_LIBC_pthread_mutex_unlock},
    {Op::kAcquire, false, 'p', PCT_LIBC_sem_wait},
    {Op::kRelease, false, 'v', PCT_LIBC_sem_post},
    {Op::kPoll, false, 't', PCT_LIBC_sem_trywait},
    {Op::kCondSleep, false, 'w', PCT_LIBC_pthread_cond_wait},
    {Op::kSignal, false, 's', PCT_LIBC_pthread_cond_signal},
    {Op::kBroadcast, false, 'b', PCT_LIBC_pthread_cond_broadcast},
    {Op::kFork, false, 'f', PCT_LIBC_pthread_create},
    {Op::kJoin, false, 'j', PCT_LIBC_pthread_join},
};

const Spelling& spelling(const Event& event) {
    for (const Spelling& one : kSpellings)
        if (one.op == event.op && one.read_only == event.read_only)
            return one;
    throw std::invalid_argument("a model's event that no program executes");
}

bool stepwise(const pct_policy_config& config) {
    return config.policy != PCT_POLICY_PCT && config.policy != PCT_POLICY_RPRO;
}

using Events = std::vector<Event>;

// Objects: accesses, mutexes, semaphores, and each thread's condition variable, in this order.
struct Objects {
    unsigned accesses, mutexes, semaphores;

    Object access(std::size_t i) const { return static_cast<Object>(1 + i); }
    Object mutex(std::size_t i) const { return static_cast<Object>(1 + accesses + i); }
    Object semaphore(std::size_t i) const {
        return static_cast<Object>(1 + accesses + mutexes + i);
    }
    Object condition(Thread t) const {
        return static_cast<Object>(1 + accesses + mutexes + semaphores + t);
    }
};

// What one thread does, but for starting others.
class Body {
public:
    Body(Random& random, const Objects& objects, Thread self)
        : random_(random), objects_(objects), self_(self) {}

    Events make(std::size_t events) {
        Events body;
        while (body.size() < events)
            item(body, 0);
        return body;
    }

private:
    void item(Events& body, unsigned first_mutex) {
        const std::size_t kind = random_.below(20);
        if (kind < 7 && first_mutex < objects_.mutexes) {
            // Mostly in one order; not always, which is how programs deadlock.
            const auto mutex = static_cast<unsigned>(
                random_.below(8) ? first_mutex + random_.below(objects_.mutexes - first_mutex) : 0);
            if (held_ & 1U << mutex)
                return;
            held_ |= 1U << mutex;
            body.push_back(lock(objects_.mutex(mutex)));
            for (std::size_t inner = random_.below(3); inner > 0; inner--)
                item(body, mutex + 1);
            if (random_.below(6) == 0)
                body.push_back({.op = Op::kCondSleep,
                                .object = objects_.condition(self_),
                                .other = objects_.mutex(mutex)});
            body.push_back(unlock(objects_.mutex(mutex)));
            held_ &= ~(1U << mutex);
        } else if (kind < 12 && objects_.semaphores > 0) {
            const Object semaphore = objects_.semaphore(random_.below(objects_.semaphores));
            const std::size_t what = random_.below(4);
            if (what < 1)
                body.push_back(acquire(semaphore));
            else if (what < 3)
                body.push_back(release(semaphore));
            else
                body.push_back({.op = Op::kPoll, .object = semaphore});
        } else {
            const Object object = objects_.access(random_.below(objects_.accesses));
            Event event = random_.below(2) ? read(object) : access(object);
            event.acquires = event.read_only;
            body.push_back(event);
        }
    }

    Random& random_;
    const Objects& objects_;
    const Thread self_;
    unsigned held_ = 0;
};

void insert(Events& events, std::size_t at, const Event& event) {
    events.insert(events.begin() + static_cast<std::ptrdiff_t>(at), event);
}

// There is a post for each wait, although it may come too late.
void balance(std::vector<Events>& threads, Random& random) {
    std::vector<int> missing;
    for (const Events& thread : threads)
        for (const Event& event : thread) {
            if (event.object >= missing.size())
                missing.resize(event.object + std::size_t{1});
            missing[event.object] += (event.op == Op::kAcquire) - (event.op == Op::kRelease);
        }
    for (Object object = 0; object < missing.size(); object++)
        for (int i = 0; i < missing[object]; i++) {
            Events& thread = threads[random.below(threads.size())];
            insert(thread, random.below(thread.size() + 1), release(object));
        }
}

// There are signals of others for each condition wait, rather late than early: one that comes
// before it is lost.
void balance_waits(std::vector<Events>& threads, Random& random) {
    constexpr unsigned kSignals = 3;
    std::vector<std::pair<Thread, Object>> waits;
    for (Thread t = 0; t < threads.size(); t++)
        for (const Event& event : threads[t])
            if (event.op == Op::kCondSleep)
                waits.insert(waits.end(), kSignals, {t, event.object});
    for (const auto& [waiting, condition] : waits) {
        const std::size_t other = (waiting + 1 + random.below(threads.size() - 1)) % threads.size();
        Events& thread = threads[other];
        const std::size_t late = (thread.size() + 1) / 2;
        const std::size_t at = late + random.below(thread.size() + 1 - late);
        const Op op = random.below(2) ? Op::kSignal : Op::kBroadcast;
        insert(thread, at, {.op = op, .object = condition});
    }
}

// Tries again until it has got it, or often enough. The number of tries so far is a variable.
Event polling(Object semaphore, std::size_t variable, std::size_t index) {
    return {.op = Op::kPoll, .object = semaphore, .effect = [=](State& state) {
                std::int64_t& tries = state.variables[variable];
                if (state.value(semaphore) > 0)
                    state.value(semaphore)--;
                else if (++tries < Executable::kTries)
                    return static_cast<int>(index);
                return kNext;
            }};
}

} // namespace

std::uint32_t step_kind(const Event& event) {
    if (event.op == Op::kBegin)
        return PCT_KIND_BEGIN;
    if (event.op == Op::kCreated)
        return PCT_KIND_CREATED;
    return PCT_KIND_LIBC + spelling(event).point;
}

std::string Executable::text() const {
    std::string text = processes ? "P" : "T";
    for (std::size_t t = 0; t < threads.size(); t++) {
        text += t == 0 ? " " : " / ";
        for (const Event& event : threads[t]) {
            const bool about_thread = event.op == Op::kFork || event.op == Op::kJoin;
            text +=
                spelling(event).letter + std::to_string(about_thread ? event.other : event.object);
            if (event.op == Op::kCondSleep)
                text += "," + std::to_string(event.other);
        }
    }
    return text;
}

Program Executable::program(bool begins) const {
    Program p{.name = text()};
    const Object all_processes = processes_object(threads);
    p.threads.resize(threads.size());
    for (Thread t = 1; t < threads.size(); t++) {
        p.forked.push_back(t);
        if (processes) {
            Event starts = fork(t);
            starts.step = false;
            p.threads[0].push_back(starts);
            if (begins)
                p.threads[0].push_back(created());
        }
        if (begins)
            p.threads[t].push_back(begin());
    }
    for (Thread t = 0; t < threads.size(); t++) {
        Events& real = p.threads[t];
        for (Event event : threads[t]) {
            if (event.op == Op::kFork || event.op == Op::kJoin)
                event.object = all_processes;
            if (event.op == Op::kPoll) {
                event = polling(event.object, p.variables.size(), real.size());
                p.variables.push_back(0);
            }
            real.push_back(event);
            if (begins && event.op == Op::kFork)
                real.push_back(created());
            if (event.op == Op::kCondSleep) {
                event.op = Op::kCondResume;
                event.step = false;
                real.push_back(event);
            }
        }
        real.push_back(leave());
    }
    return p;
}

std::vector<std::uint64_t> Executable::identities() const {
    std::vector<std::uint64_t> identities(threads.size(), PCT_ROOT_IDENTITY);
    if (processes) {
        for (Thread t = 1; t < threads.size(); t++)
            identities[t] = pct_child_identity(PCT_ROOT_IDENTITY, t);
        return identities;
    }
    for (std::size_t t = 0; t < threads.size(); t++) { // creators have smaller numbers
        std::uint32_t ordinal = 0;
        for (const Event& event : threads[t])
            if (event.op == Op::kFork)
                identities[event.other] = pct_child_identity(identities[t], ++ordinal);
    }
    return identities;
}

std::size_t Executable::nr_events() const {
    std::size_t events = 0;
    for (const Events& thread : threads)
        events += thread.size();
    return events;
}

std::size_t Executable::most_steps() const {
    std::size_t steps = 0;
    for (const Events& thread : threads)
        for (const Event& event : thread)
            steps += event.op == Op::kPoll ? kTries : 1;
    return steps;
}

Executable random_executable(Random& random, bool processes) {
    Executable result{.threads = {}, .processes = processes};
    const auto nr_threads = static_cast<Thread>(2 + random.below(4));
    const Objects objects{.accesses = static_cast<unsigned>(1 + random.below(3)),
                          .mutexes = static_cast<unsigned>(1 + random.below(2)),
                          .semaphores = static_cast<unsigned>(random.below(3))};
    for (Thread t = 0; t < nr_threads; t++)
        result.threads.push_back(Body(random, objects, t).make(random.below(7)));
    balance(result.threads, random);
    balance_waits(result.threads, random);
    if (processes)
        return result;
    for (Thread t = 1; t < nr_threads; t++) {
        Events& creator = result.threads[random.below(4) ? 0 : random.below(t)];
        const std::size_t start = random.below(creator.size() + 1);
        insert(creator, start, fork(t));
        const std::size_t rest = creator.size() - start - 1;
        insert(creator, random.below(3) ? creator.size() : start + 1 + random.below(rest + 1),
               join(t));
    }
    return result;
}

std::vector<Executable> smaller(const Executable& executable) {
    std::vector<Executable> found;
    for (Thread gone = 1; gone < executable.threads.size(); gone++) {
        const Events& thread = executable.threads[gone];
        if (std::any_of(thread.begin(), thread.end(),
                        [](const Event& event) { return event.op == Op::kFork; }))
            continue;
        Executable without = executable;
        without.threads.erase(without.threads.begin() + gone);
        for (Events& events : without.threads) {
            const auto about_thread = [](const Event& event) {
                return event.op == Op::kFork || event.op == Op::kJoin;
            };
            std::erase_if(events, [&](const Event& event) {
                return about_thread(event) && event.other == gone;
            });
            for (Event& event : events)
                if (about_thread(event) && event.other > gone)
                    event.other--;
        }
        found.push_back(std::move(without));
    }
    for (std::size_t t = 0; t < executable.threads.size(); t++) {
        const Events& thread = executable.threads[t];
        for (std::size_t i = 0; i < thread.size(); i++) {
            const Event& event = thread[i];
            if (event.op == Op::kFork || event.op == Op::kJoin || event.op == Op::kUnlock)
                continue; // the process would end too early; goes with its lock
            Executable without = executable;
            Events& rest = without.threads[t];
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
            if (event.op == Op::kLock) {
                const auto from = rest.begin() + static_cast<std::ptrdiff_t>(i);
                const auto end = rest.erase(std::find_if(from, rest.end(), [&](const Event& other) {
                    return other.op == Op::kUnlock && other.object == event.object;
                }));
                rest.erase(std::remove_if(from, end,
                                          [&](const Event& other) {
                                              return other.op == Op::kCondSleep &&
                                                     other.other == event.object;
                                          }),
                           end);
            }
            found.push_back(std::move(without));
        }
    }
    return found;
}

Performance perform(const Executable& executable, const pct_policy_config& config) {
    const Program program = executable.program(stepwise(config));
    const std::vector<std::uint64_t> identities = executable.identities();
    Mechanism mechanism(program, Waiting::kQueues);
    mechanism.set_identities(identities);
    mechanism.set_marks(true);
    mechanism.run(config);

    Performance result;
    const Moment in_hash = stepwise(config) ? Moment::kSelected : Moment::kArrives;
    for (const Mark& mark : mechanism.marks()) {
        const Event& event = program.threads[mark.thread][mark.index];
        if (mark.moment == Moment::kArrives && event.op != Op::kBegin)
            result.marks += static_cast<char>('a' + mark.thread);
        else if (mark.moment == Moment::kOver)
            result.marks += static_cast<char>('A' + mark.thread);
        if (mark.moment == in_hash) {
            result.events.push_back({mark.thread, mark.index});
            result.hash = pct_order_hash(result.hash, identities[mark.thread], step_kind(event));
        }
    }
    result.steps = mechanism.policy_run().steps;
    result.concurrent = mechanism.policy_run().concurrent;
    result.longest_phase = mechanism.policy_run().longest_phase;
    result.interventions = mechanism.interventions();
    result.deadlock = mechanism.state().deadlocked();
    return result;
}

} // namespace pctctl::model
