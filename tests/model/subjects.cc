// SPDX-License-Identifier: GPL-2.0-only
#include "subjects.h"

namespace pctctl::model {
namespace {

using Effect = std::function<int(State&)>;

Event reads(Object object, Effect effect) {
    return {.object = object, .read_only = true, .effect = std::move(effect)};
}

Event writes(Object object, Effect effect) {
    return {.object = object, .effect = std::move(effect)};
}

// Thread 0 starts all others, in order.
void add_main(Program& p) {
    std::vector<Event> main;
    for (Thread t = 1; t <= p.threads.size(); t++) {
        main.push_back(fork(t));
        p.forked.push_back(t);
    }
    p.threads.insert(p.threads.begin(), std::move(main));
}

Effect set(std::size_t variable, std::int64_t value) {
    return [=](State& s) {
        s.variables[variable] = value;
        return kNext;
    };
}

} // namespace

Program work_stealing_queue(unsigned items, unsigned thieves) {
    constexpr std::size_t kHead = 0, kTail = 1, kSeenHead = 2, kTaken = 3;
    constexpr Object head = 1, tail = 2, mutex = 3;
    Program p{.name = "work-stealing queue, " + std::to_string(thieves) + " thieves"};
    const auto taken = [=](std::int64_t item) { return kTaken + static_cast<std::size_t>(item); };
    p.variables.assign(kTaken + items, 0);

    std::vector<Event> owner;
    for (unsigned i = 0; i < items; i++) {
        owner.push_back(access(static_cast<Object>(mutex + 1 + i)));
        owner.push_back(writes(tail, [](State& s) { return s.variables[kTail]++, kNext; }));
    }
    for (unsigned i = 0; i < items; i++) {
        const int after = static_cast<int>(owner.size()) + 3;
        owner.push_back(reads(
            head, [](State& s) { return s.variables[kSeenHead] = s.variables[kHead], kNext; }));
        owner.push_back(reads(tail, [=](State& s) { // the queue is empty: the next attempt
            return s.variables[kSeenHead] < s.variables[kTail] ? kNext : after;
        }));
        owner.push_back(writes(tail, [=](State& s) {
            s.variables[taken(--s.variables[kTail])]++;
            return kNext;
        }));
    }
    p.threads.push_back(std::move(owner));

    for (unsigned i = 0; i < thieves; i++) {
        std::vector<Event> thief;
        for (int attempt = 0; attempt < 2; attempt++) {
            const int give_back = static_cast<int>(thief.size()) + 4;
            thief.push_back(lock(mutex));
            thief.push_back(writes(head, [](State& s) { return s.variables[kHead]++, kNext; }));
            thief.push_back(reads(tail, [=](State& s) {
                return s.variables[kHead] > s.variables[kTail] ? give_back : kNext;
            }));
            thief.push_back(writes(head, [=](State& s) { // takes the item; skips giving it back
                s.variables[taken(s.variables[kHead] - 1)]++;
                return give_back + 1;
            }));
            thief.push_back(writes(head, [](State& s) { return s.variables[kHead]--, kNext; }));
            thief.push_back(unlock(mutex));
        }
        p.threads.push_back(std::move(thief));
    }
    add_main(p);
    p.bug = [=](const Schedule&, const State& end) {
        for (unsigned i = 0; i < items; i++)
            if (end.variables[taken(i)] > 1)
                return true;
        return false;
    };
    return p;
}

Program reorder(unsigned n) {
    constexpr std::size_t kA = 0, kB = 1, kSeen = 2, kBad = 3;
    constexpr Object a = 1, b = 2;
    Program p{.name = "reorder_" + std::to_string(n)};
    p.variables.assign(4, 0);
    for (unsigned i = 1; i < n; i++)
        p.threads.push_back({writes(a, set(kA, 1)), writes(b, set(kB, -1))});
    p.threads.push_back(
        {reads(a, [](State& s) { return s.variables[kSeen] = s.variables[kA], kNext; }),
         reads(b, [](State& s) {
             s.variables[kBad] = s.variables[kSeen] != -s.variables[kB];
             return kNext;
         })});
    add_main(p);
    p.bug = [](const Schedule&, const State& end) { return end.variables[kBad] != 0; };
    return p;
}

Program twostage(unsigned n) {
    constexpr std::size_t kFirst = 0, kSecond = 1, kSeen = 2, kBad = 3;
    constexpr Object lock1 = 1, lock2 = 2, data1 = 3, data2 = 4;
    Program p{.name = "twostage_" + std::to_string(n)};
    p.variables.assign(4, 0);
    for (unsigned i = 1; i < n; i++)
        p.threads.push_back({lock(lock1), writes(data1, set(kFirst, 1)), unlock(lock1), lock(lock2),
                             writes(data2, set(kSecond, 2)), unlock(lock2)});
    p.threads.push_back(
        {lock(lock1),
         reads(data1, [](State& s) { return s.variables[kSeen] = s.variables[kFirst], kNext; }),
         {.op = Op::kUnlock,
          .object = lock1,
          .effect = [](State& s) { return s.variables[kSeen] ? kNext : 6; }},
         lock(lock2),
         reads(data2,
               [](State& s) {
                   s.variables[kBad] = s.variables[kSecond] != 2;
                   return kNext;
               }),
         unlock(lock2)});
    add_main(p);
    p.bug = [](const Schedule&, const State& end) { return end.variables[kBad] != 0; };
    return p;
}

} // namespace pctctl::model
