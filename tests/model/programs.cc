// SPDX-License-Identifier: GPL-2.0-only
#include "programs.h"

#include "pctctl/random.h"

#include <algorithm>

namespace pctctl::model {

std::uint64_t Random::next() {
    return pct_mix(seed_ ^ pct_mix(++count_));
}

Program pos_running_example() {
    constexpr Object x = 1, y = 2, w = 3, z = 4;
    Program p{.name = "POS Fig. 2"};
    p.threads = {
        {access(x), access(y), release(w), access(z)},                       // A1 .. A4
        {access(x), access(x), access(y), acquire(w), access(y), access(z)}, // B1 .. B6
    };
    // B1 A1 B2 B3 A2 A3 B4 B5 B6 A4
    p.bug = [order = Schedule{1, 0, 1, 1, 0, 0, 1, 1, 1, 0}](const Schedule& s, const State&) {
        return s == order;
    };
    return p;
}

Program just_created(Program program) {
    for (auto& thread : program.threads)
        thread.insert(thread.begin(), local());
    program.bug = [bug = program.bug](const Schedule& schedule, const State& end) {
        Schedule without;
        std::vector<bool> begun(end.nr_threads());
        for (const Thread t : schedule) {
            if (begun[t])
                without.push_back(t);
            begun[t] = true;
        }
        return bug(without, end);
    };
    return program;
}

Program cuzz_example(unsigned r, unsigned s) {
    constexpr Object flag = 1, x = 2;
    Program p{.name = "Cuzz r=" + std::to_string(r) + " s=" + std::to_string(s)};
    std::vector<Event> first(r - 2, local()), second{read(flag), read(x)};
    first.push_back(access(flag));
    first.push_back(access(x));
    second.insert(second.end(), s - 2, local());
    p.threads = {std::move(first), std::move(second)};
    p.bug = bug_of({{{0, r - 2}, {1, 0}}, {{1, 1}, {0, r - 1}}});
    return p;
}

DirectedProgram tight_program(unsigned n, unsigned d) {
    DirectedProgram result;
    Program& p = result.program;
    p.name = "tight n=" + std::to_string(n) + " d=" + std::to_string(d);
    p.threads.resize(n);
    // d + 1 segments of two events: of thread 0, 1, 0, ... The last one has no change point.
    Schedule order;
    for (unsigned segment = 0; segment <= d; segment++) {
        const Thread t = segment % 2;
        for (int i = 0; i < 2; i++) {
            p.threads[t].push_back(access(1));
            order.push_back(t);
        }
    }
    for (Thread t = 2; t < n; t++)
        p.threads[t] = {access(t), access(t)};

    Directive& directive = result.directive;
    directive.before.resize(d);
    for (unsigned i = 0; i < d; i++) { // b_(i+1) begins segment i + 1, A_(i+1) ends segment i
        const Thread t = (i + 1) % 2;
        directive.events.push_back({t, i / 2 * 2 + (t == 0 ? 2u : 0u)});
        directive.before[i].push_back({static_cast<Thread>(i % 2), i / 2 * 2 + 1});
    }
    for (Thread t = 2; t < n; t++)
        directive.before[0].push_back({t, 1});
    p.bug = [directive](const Schedule& schedule, const State&) {
        return satisfies(directive, schedule);
    };
    return result;
}

Program abba_deadlock(unsigned before, unsigned between) {
    constexpr Object a = 1, b = 2;
    Program p{.name = "deadlock"};
    for (const auto& [first, second] : {std::pair{a, b}, std::pair{b, a}}) {
        std::vector<Event> thread(before, local());
        thread.push_back(lock(first));
        thread.insert(thread.end(), between, local());
        thread.push_back(lock(second));
        thread.push_back(unlock(second));
        thread.push_back(unlock(first));
        p.threads.push_back(std::move(thread));
    }
    p.bug = [](const Schedule&, const State& end) { return end.deadlocked(); };
    return p;
}

Program random_program(const RandomProgramOptions& o, Random& random) {
    Program p{.name = "random"};
    p.threads.resize(o.threads);
    for (auto& thread : p.threads) {
        while (thread.size() < o.events) {
            const auto object = static_cast<Object>(1 + random.below(o.objects));
            const bool reads = random.below(100) < o.read_percent;
            if (o.locks && thread.size() + 3 <= o.events && random.below(2)) {
                const auto mutex = static_cast<Object>(o.objects + 1 + random.below(2));
                thread.push_back(lock(mutex));
                thread.push_back(reads ? read(object) : access(object));
                thread.push_back(unlock(mutex));
            } else {
                thread.push_back(reads ? read(object) : access(object));
            }
        }
    }
    if (o.forks) {
        for (Thread t = 1; t < o.threads; t++) {
            auto& main = p.threads[0];
            const auto at = static_cast<std::ptrdiff_t>(random.below(main.size() + 1));
            main.insert(main.begin() + at, fork(t));
            p.forked.push_back(t);
        }
    }
    return p;
}

std::optional<Directive> random_directive(const Program& program, unsigned d, bool first_events,
                                          Random& random) {
    State state(program);
    Schedule schedule;
    for (std::vector<Thread> enabled; !(enabled = state.enabled_threads()).empty();) {
        const Thread t = enabled[random.below(enabled.size())];
        state.execute(t);
        schedule.push_back(t);
    }
    const std::vector<EventId> events = events_of(schedule);
    std::vector<std::size_t> places;
    for (std::size_t i = 1; i < events.size(); i++)
        if (first_events || events[i].index > 0)
            places.push_back(i);
    if (places.size() < d)
        return std::nullopt;
    while (places.size() > d)
        places.erase(places.begin() + static_cast<std::ptrdiff_t>(random.below(places.size())));
    Directive directive;
    for (const std::size_t place : places) {
        directive.events.push_back(events[place]);
        directive.before.emplace_back();
        for (std::size_t sources = 1 + random.below(2); sources > 0; sources--)
            directive.before.back().push_back(events[random.below(place)]);
    }
    return directive;
}

DirectedProgram crowded_program(unsigned n, unsigned d, Random& random) {
    for (;;) {
        const unsigned inside = n == 2 ? 2 : 2 + static_cast<unsigned>(random.below(2));
        Program p = random_program({.threads = inside,
                                    .events = inside == 2 ? 4u : 3u,
                                    .objects = 2,
                                    .read_percent = 0,
                                    .locks = random.below(2) == 1,
                                    .forks = random.below(3) == 0},
                                   random);
        std::optional<Directive> directive = random_directive(p, d, true, random);
        if (!directive || !guarantees(p, *directive))
            continue;
        const auto mutex = static_cast<Object>(p.nr_objects() + 1);
        while (p.threads.size() < n)
            p.threads.push_back({lock(mutex), unlock(mutex)});
        p.name = "crowd n=" + std::to_string(n) + " d=" + std::to_string(d);
        p.bug = [directive = *directive](const Schedule& schedule, const State&) {
            return satisfies(directive, schedule);
        };
        return {std::move(p), std::move(*directive)};
    }
}

} // namespace pctctl::model
