// SPDX-License-Identifier: GPL-2.0-only
#include "directive.h"

#include <algorithm>

namespace pctctl::model {
namespace {

bool holds_in(const Directive& d, std::span<const EventId> done) {
    const auto contains = [&](const EventId& e) {
        return std::find(done.begin(), done.end(), e) != done.end();
    };
    for (std::size_t i = 0; i < d.size(); i++) {
        if (!contains(d.events[i]))
            continue;
        for (std::size_t earlier = 0; earlier < i; earlier++)
            if (!contains(d.events[earlier]))
                return false;
        if (!std::all_of(d.before[i].begin(), d.before[i].end(), contains))
            return false;
    }
    return true;
}

bool guarantees_from(const Program& program, const Directive& directive, const State& state,
                     Schedule& schedule) {
    const std::vector<Thread> enabled = state.enabled_threads();
    if (enabled.empty())
        return satisfies(directive, schedule);
    bool some = false, all = true;
    for (const Thread t : enabled) {
        schedule.push_back(t);
        if (!violates(directive, schedule)) {
            State next = state;
            next.execute(t);
            some = true;
            all = all && guarantees_from(program, directive, next, schedule);
        }
        schedule.pop_back();
    }
    return some && all;
}

} // namespace

// A schedule violates a directive if one of its prefixes breaks a constraint. That cannot be made
// good later: the second event of the constraint has been executed first.
bool violates(const Directive& directive, const Schedule& schedule) {
    const std::vector<EventId> events = events_of(schedule);
    for (std::size_t length = 1; length <= events.size(); length++)
        if (!holds_in(directive, std::span(events).first(length)))
            return true;
    return false;
}

bool satisfies(const Directive& directive, const Schedule& schedule) {
    const std::vector<EventId> events = events_of(schedule);
    return !violates(directive, schedule) &&
           std::all_of(directive.events.begin(), directive.events.end(), [&](const EventId& e) {
               return std::find(events.begin(), events.end(), e) != events.end();
           });
}

bool guarantees(const Program& program, const Directive& directive) {
    Schedule schedule;
    return guarantees_from(program, directive, State(program), schedule);
}

DirectedExecution directed_execution(const Program& program, const Directive& directive,
                                     const PctRandomness& randomness, ChangeAt at,
                                     const Choose& choose) {
    const unsigned d = static_cast<unsigned>(directive.size());
    const std::size_t n = program.threads.size();
    State state(program);
    DirectedExecution e;
    e.asserted.assign(d - 1, 0);
    std::vector<unsigned> priority;
    for (const unsigned rank : randomness.rank)
        priority.push_back(d + rank);
    if (priority[directive.events[0].thread] != d) {
        e.broken = Broken::kAssertion;
        return e;
    }
    std::vector<bool> arrived(n, at == ChangeAt::kCompletion);
    std::size_t arrivals = 0;
    const auto at_label = [&](Thread t, const EventId& label) {
        return label.thread == t && arrived[t] && state.alive(t) &&
               state.next_index(t) == label.index;
    };
    const auto emitted = [&](const EventId& label) {
        const auto events = events_of(e.schedule);
        return std::find(events.begin(), events.end(), label) != events.end();
    };
    // Lines 12 to 17.
    const auto peek = [&](Thread t, std::size_t length) {
        for (unsigned i = 1; i < d; i++) {
            if (!at_label(t, directive.events[i]) || priority[t] == d - i)
                continue;
            priority[t] = d - i;
            if (++e.asserted[i - 1] > 1)
                e.broken = Broken::kLemma15;
            else if (randomness.change[i - 1] != length)
                e.broken = Broken::kAssertion;
        }
    };
    std::vector<Thread> admissible;
    for (;;) {
        for (Thread t = 0; t < n; t++) {
            if (priority[t] >= d)
                continue;
            const EventId& label = directive.events[d - priority[t]];
            if (!emitted(label) && !at_label(t, label)) {
                e.broken = Broken::kLemma14;
                return e;
            }
        }
        admissible.clear();
        int best = -1;
        for (Thread t = 0; t < n; t++) {
            if (!state.alive(t) || (arrived[t] && !state.can_execute(t)))
                continue;
            if (choose && priority[t] > d)
                admissible.push_back(t);
            if (best < 0 || priority[t] > priority[static_cast<std::size_t>(best)])
                best = t;
        }
        if (best < 0)
            return e;
        if (admissible.empty())
            admissible.push_back(static_cast<Thread>(best));
        const Thread t = admissible[admissible.size() > 1 ? choose(admissible) : 0];
        if (!arrived[t]) {
            arrived[t] = true;
            peek(t, ++arrivals);
        } else {
            for (unsigned j = 1; j <= d; j++)
                if (at_label(t, directive.events[j - 1]) && !violates(directive, e.schedule) &&
                    priority[t] != d - j + 1)
                    e.broken = Broken::kLemma13;
            if (!e.succeeds())
                return e;
            state.execute(t);
            e.schedule.push_back(t);
            if (at == ChangeAt::kArrival)
                arrived[t] = false;
            else
                peek(t, e.schedule.size());
        }
        if (!e.succeeds())
            return e;
    }
}

} // namespace pctctl::model
