// SPDX-License-Identifier: GPL-2.0-only
#include "exact.h"

#include <algorithm>
#include <numeric>

namespace pctctl::model {
namespace {

// Visits all schedules depth-first. Knowledge is what the algorithm knows besides the program's
// state. At each point there is a set of possible values with their weights. extend(before, next,
// thread, value, weight, after) adds to `after` the values that follow when the thread makes a
// step, weighted.
template <typename Knowledge, typename Extend>
void walk(State& state, Schedule& schedule, const std::map<Knowledge, Rational>& now,
          const Extend& extend,
          const std::function<void(const Schedule&, const State&, const Rational&)>& visit) {
    const std::vector<Thread> enabled = state.enabled_threads();
    if (enabled.empty()) {
        Rational sum;
        for (const auto& [knowledge, weight] : now)
            sum += weight;
        visit(schedule, state, sum);
        return;
    }
    for (const Thread t : enabled) {
        State next = state;
        next.execute(t);
        std::map<Knowledge, Rational> after;
        for (const auto& [knowledge, weight] : now)
            extend(state, next, t, knowledge, weight, after);
        if (after.empty())
            continue;
        schedule.push_back(t);
        walk(next, schedule, after, extend, visit);
        schedule.pop_back();
    }
}

using Visit = std::function<void(const Schedule&, const State&, const Rational&)>;

void walk_randomly(const Program& program, bool leave_last, const Visit& visit) {
    State state(program);
    Schedule schedule;
    const auto extend = [&](const State& before, const State&, Thread t, int last,
                            const Rational& weight, std::map<int, Rational>& after) {
        std::size_t choices = 0;
        bool may = false;
        const std::vector<Thread> enabled = before.enabled_threads();
        for (const Thread other : enabled) {
            const bool out = leave_last && enabled.size() > 1 && other == last;
            choices += !out;
            may = may || (!out && other == t);
        }
        if (may)
            after[leave_last ? t : 0] += weight * Rational(1, static_cast<long long>(choices));
    };
    walk<int>(state, schedule, {{-1, Rational(1)}}, extend, visit);
}

/*
 * What POS knows of its priorities: their relative order. A new priority is equally likely in each
 * place among all that were ever drawn, those of executed events included: what is known about the
 * living is how they compare with these. Only their number between two living ones matters.
 */
struct Priorities {
    std::vector<Thread> order; // the threads whose next event has a priority, highest first
    std::vector<unsigned>
        dead; // how many were drawn and dropped above order[0], order[1], .., below all
    friend auto operator<=>(const Priorities&, const Priorities&) = default;
};

void drop(Priorities& p, std::size_t at) {
    p.order.erase(p.order.begin() + static_cast<std::ptrdiff_t>(at));
    p.dead[at] += 1 + p.dead[at + 1];
    p.dead.erase(p.dead.begin() + static_cast<std::ptrdiff_t>(at) + 1);
}

void draw(const std::map<Priorities, Rational>& from, Thread t,
          std::map<Priorities, Rational>& to) {
    for (const auto& [p, weight] : from) {
        const unsigned drawn = static_cast<unsigned>(p.order.size()) +
                               std::accumulate(p.dead.begin(), p.dead.end(), 0u);
        const Rational each = weight * Rational(1, drawn + 1);
        for (std::size_t gap = 0; gap < p.dead.size(); gap++) {
            for (unsigned above = 0; above <= p.dead[gap]; above++) {
                Priorities next = p;
                next.order.insert(next.order.begin() + static_cast<std::ptrdiff_t>(gap), t);
                next.dead[gap] = above;
                next.dead.insert(next.dead.begin() + static_cast<std::ptrdiff_t>(gap) + 1,
                                 p.dead[gap] - above);
                to[next] += each;
            }
        }
    }
}

// Every enabled event that has no priority gets one.
void draw_missing(const State& state, Priorities p, const Rational& weight,
                  std::map<Priorities, Rational>& result) {
    std::map<Priorities, Rational> now{{std::move(p), weight}};
    for (const Thread t : state.enabled_threads()) {
        if (std::count(now.begin()->first.order.begin(), now.begin()->first.order.end(), t))
            continue;
        std::map<Priorities, Rational> next;
        draw(now, t, next);
        now = std::move(next);
    }
    for (const auto& [q, w] : now)
        result[q] += w;
}

void walk_pos(const Program& program, PosOptions options, const Visit& visit) {
    State state(program);
    Schedule schedule;
    const auto extend = [&](const State& before, const State& next, Thread t, const Priorities& p,
                            const Rational& weight, std::map<Priorities, Rational>& after) {
        // The highest among the enabled events: others may have a priority and be disabled by now.
        const auto highest = std::find_if(p.order.begin(), p.order.end(),
                                          [&](Thread x) { return before.enabled(x); });
        if (*highest != t)
            return;
        Priorities q = p;
        drop(q, static_cast<std::size_t>(highest - p.order.begin()));
        const Event& done = before.next(t);
        for (const Thread other : before.enabled_threads()) {
            if (other == t || !options.reassign)
                continue;
            const Event& event = before.next(other);
            const bool races = event.object && event.object == done.object &&
                               !(options.read_only && event.read_only && done.read_only);
            if (!races)
                continue;
            drop(q, static_cast<std::size_t>(std::find(q.order.begin(), q.order.end(), other) -
                                             q.order.begin()));
        }
        draw_missing(next, std::move(q), weight, after);
    };
    std::map<Priorities, Rational> start;
    draw_missing(state, {{}, {0}}, Rational(1), start);
    walk<Priorities>(state, schedule, start, extend, visit);
}

Rational sum_of(const Predicate& predicate, const std::function<void(const Visit&)>& walker) {
    Rational sum;
    walker([&](const Schedule& schedule, const State& state, const Rational& weight) {
        if (predicate(schedule, state))
            sum += weight;
    });
    return sum;
}

Schedules collect(const std::function<void(const Visit&)>& walker) {
    Schedules result;
    walker([&](const Schedule& schedule, const State&, const Rational& weight) {
        result[schedule] += weight;
    });
    return result;
}

} // namespace

void for_each_schedule(const Program& program,
                       const std::function<void(const Schedule&, const State&)>& visit) {
    State state(program);
    Schedule schedule;
    const auto extend = [](const State&, const State&, Thread, int, const Rational&,
                           std::map<int, Rational>& after) { after[0] = Rational(0); };
    walk<int>(state, schedule, {{0, Rational(0)}}, extend,
              [&](const Schedule& s, const State& end, const Rational&) { visit(s, end); });
}

Rational random_walk_probability(const Program& program, const Predicate& predicate) {
    return sum_of(predicate, [&](const Visit& visit) { walk_randomly(program, false, visit); });
}

Rational pos_probability(const Program& program, PosOptions options, const Predicate& predicate) {
    return sum_of(predicate, [&](const Visit& visit) { walk_pos(program, options, visit); });
}

void for_each_pct_randomness(unsigned n, unsigned k, unsigned d,
                             const std::function<void(const PctRandomness&)>& visit) {
    PctRandomness r{std::vector<unsigned>(n), std::vector<unsigned>(d - 1, 1)};
    std::iota(r.rank.begin(), r.rank.end(), 0u);
    do {
        for (bool more = true; more;) {
            visit(r);
            more = false;
            for (unsigned& point : r.change) {
                if (point++ < k) {
                    more = true;
                    break;
                }
                point = 1;
            }
        }
    } while (std::next_permutation(r.rank.begin(), r.rank.end()));
}

Execution pct_execution(const Program& program, const PctRandomness& randomness, ChangeAt at) {
    const unsigned d = static_cast<unsigned>(randomness.change.size()) + 1;
    Execution e{{}, State(program)};
    std::vector<unsigned> priority;
    for (const unsigned rank : randomness.rank)
        priority.push_back(d + rank);
    const auto change = [&](Thread t, std::size_t step) {
        for (unsigned j = 1; j < d; j++) { // Fig. 7 goes upwards, so the last one counts
            const unsigned i = at == ChangeAt::kCompletion ? j : d - j;
            if (randomness.change[i - 1] == step)
                priority[t] = d - i;
        }
    };
    std::vector<bool> arrived(program.threads.size());
    std::size_t arrivals = 0;
    for (;;) {
        // A thread that has not arrived at its next step can always execute: it is on its way
        // there.
        int best = -1;
        for (Thread t = 0; t < program.threads.size(); t++) {
            const bool can = e.state.alive(t) &&
                             ((at == ChangeAt::kArrival && !arrived[t]) || e.state.can_execute(t));
            if (can && (best < 0 || priority[t] > priority[static_cast<std::size_t>(best)]))
                best = t;
        }
        if (best < 0)
            return e;
        const Thread t = static_cast<Thread>(best);
        if (at == ChangeAt::kArrival && !arrived[t]) {
            arrived[t] = true;
            change(t, ++arrivals);
            continue;
        }
        e.state.execute(t);
        e.schedule.push_back(t);
        arrived[t] = false;
        if (at == ChangeAt::kCompletion)
            change(t, e.schedule.size());
    }
}

Rational pct_probability(const Program& program, unsigned k, unsigned d, ChangeAt at,
                         const Predicate& predicate) {
    long long all = 0, hits = 0;
    for_each_pct_randomness(static_cast<unsigned>(program.threads.size()), k, d,
                            [&](const PctRandomness& r) {
                                const Execution e = pct_execution(program, r, at);
                                all++;
                                hits += predicate(e.schedule, e.state);
                            });
    return {hits, all};
}

std::string partial_order(const Program& program, const Schedule& schedule, bool read_only) {
    struct Line {
        std::string text;
        std::vector<EventId> reads;
        void end_reads() {
            std::sort(reads.begin(), reads.end(), [](const EventId& a, const EventId& b) {
                return std::pair(a.thread, a.index) < std::pair(b.thread, b.index);
            });
            for (const EventId& e : reads)
                add(e);
            reads.clear();
        }
        void add(const EventId& e) {
            text += static_cast<char>('A' + e.thread);
            text += static_cast<char>('0' + e.index);
        }
    };
    std::vector<Line> lines(program.nr_objects() + std::size_t{1});
    for (const EventId& e : events_of(schedule)) {
        const Event& event = program.threads[e.thread][e.index];
        Line& line = lines[event.object];
        if (!event.object)
            continue;
        if (read_only && event.read_only) {
            line.reads.push_back(e);
            continue;
        }
        line.end_reads();
        line.add(e);
    }
    std::string result;
    for (Line& line : lines) {
        line.end_reads();
        result += line.text + '.';
    }
    return result;
}

Schedules random_walk_schedules(const Program& program) {
    return collect([&](const Visit& visit) { walk_randomly(program, false, visit); });
}

Schedules preempt_always_schedules(const Program& program) {
    return collect([&](const Visit& visit) { walk_randomly(program, true, visit); });
}

Schedules pos_schedules(const Program& program, PosOptions options) {
    return collect([&](const Visit& visit) { walk_pos(program, options, visit); });
}

Schedules stride_schedules(const Program& program, unsigned stride_max) {
    using Knowledge = std::pair<int, unsigned>; // the last thread, and the steps that it has left
    const auto extend = [&](const State& before, const State&, Thread t, const Knowledge& known,
                            const Rational& weight, std::map<Knowledge, Rational>& after) {
        const auto& [last, left] = known;
        if (left > 0 && before.enabled(static_cast<Thread>(last))) {
            if (t == last)
                after[{last, left - 1}] += weight;
            return;
        }
        const auto choices = static_cast<long long>(before.enabled_threads().size());
        for (unsigned s = 1; s <= stride_max; s++)
            after[{t, s - 1}] += weight * Rational(1, choices * stride_max);
    };
    return collect([&](const Visit& visit) {
        State state(program);
        Schedule schedule;
        walk<Knowledge>(state, schedule, {{{0, 0}, Rational(1)}}, extend, visit);
    });
}

// Schedules in which a thread goes on until it blocks, ends or is preempted. Then the choice is
// uniform; after a preemption, among the other threads. Extra is what the algorithm knows.
// preempted(state, extra, thread): does it preempt this thread, which is about to go on?
// advance(before, next, thread, extra): what it knows after a step.
template <typename Extra, typename Preempted, typename Advance>
Schedules going_on(const Program& program, const std::map<Extra, Rational>& start,
                   const Preempted& preempted, const Advance& advance) {
    using Knowledge = std::pair<int, Extra>;
    const auto extend = [&](const State& before, const State& next, Thread t,
                            const Knowledge& known, const Rational& weight,
                            std::map<Knowledge, Rational>& after) {
        const int last = known.first;
        std::vector<Thread> choices = before.enabled_threads();
        if (last >= 0 && before.enabled(static_cast<Thread>(last))) {
            if (!preempted(before, known.second, static_cast<Thread>(last)))
                choices = {static_cast<Thread>(last)};
            else if (choices.size() > 1)
                std::erase(choices, static_cast<Thread>(last));
        }
        if (std::find(choices.begin(), choices.end(), t) != choices.end())
            after[{t, advance(before, next, t, known.second)}] +=
                weight * Rational(1, static_cast<long long>(choices.size()));
    };
    return collect([&](const Visit& visit) {
        State state(program);
        Schedule schedule;
        std::map<Knowledge, Rational> now;
        for (const auto& [extra, weight] : start)
            now[{-1, extra}] = weight;
        walk<Knowledge>(state, schedule, now, extend, visit);
    });
}

Schedules preempt_bound_schedules(const Program& program, unsigned preemptions, unsigned k) {
    struct Extra {
        unsigned arrivals;
        bool now;
        std::vector<unsigned> points;
        auto operator<=>(const Extra&) const = default;
    };
    std::map<Extra, Rational> start;
    long long all = 1;
    for (unsigned i = 0; i < preemptions; i++)
        all *= k;
    for_each_pct_randomness(1, k, preemptions + 1, [&](const PctRandomness& r) {
        start[{static_cast<unsigned>(program.threads.size()), false, r.change}] = Rational(1, all);
    });
    return going_on<Extra>(
        program, start, [](const State&, const Extra& extra, Thread) { return extra.now; },
        [](const State&, const State& next, Thread t, Extra extra) {
            extra.now = false;
            if (next.alive(t)) {
                extra.arrivals++;
                extra.now =
                    std::count(extra.points.begin(), extra.points.end(), extra.arrivals) > 0;
            }
            return extra;
        });
}

Schedules atom_fuzzer_schedules(const Program& program) {
    using Held = std::vector<std::pair<Thread, Object>>;
    const auto reacquires = [](const State& state, const Held& held, Thread t) {
        return state.next(t).op == Op::kLock &&
               std::count(held.begin(), held.end(), std::pair(t, state.next(t).object)) > 0;
    };
    return going_on<Held>(program, {{Held{}, Rational(1)}}, reacquires,
                          [&](const State& before, const State&, Thread t, Held held) {
                              if (before.next(t).op == Op::kLock && !reacquires(before, held, t))
                                  held.emplace_back(t, before.next(t).object);
                              std::sort(held.begin(), held.end());
                              return held;
                          });
}

PartialOrders partial_orders(const Program& program, const Schedules& schedules, bool read_only) {
    PartialOrders result;
    for (const auto& [schedule, probability] : schedules)
        result[partial_order(program, schedule, read_only)] += probability;
    return result;
}

namespace {

bool depend(const Event& a, const Event& b, bool read_only) {
    return a.object && a.object == b.object && !(read_only && a.read_only && b.read_only);
}

void walk_rapos(const Program& program, bool read_only, const State& state,
                std::vector<Thread> schedulable, Schedule& schedule, const Rational& weight,
                PartialOrders& result) {
    const std::vector<Thread> enabled = state.enabled_threads();
    if (enabled.empty()) {
        result[partial_order(program, schedule, read_only)] += weight;
        return;
    }
    if (schedulable.empty())
        schedulable = enabled;
    // All orders in which the threads may be asked, and all results of the coins.
    std::map<std::vector<Thread>, Rational> batches;
    const auto ask = [&](const auto& self, std::size_t at, std::vector<Thread> batch,
                         const Rational& w) -> void {
        if (at == schedulable.size()) {
            std::sort(batch.begin(), batch.end());
            batches[batch] += w;
            return;
        }
        const Thread t = schedulable[at];
        const bool independent = std::none_of(batch.begin(), batch.end(), [&](Thread other) {
            return depend(state.next(t), state.next(other), read_only);
        });
        if (batch.empty() || !independent) {
            if (batch.empty())
                batch.push_back(t);
            self(self, at + 1, batch, w);
            return;
        }
        self(self, at + 1, batch, w * Rational(1, 2));
        batch.push_back(t);
        self(self, at + 1, batch, w * Rational(1, 2));
    };
    long long permutations = 1;
    for (std::size_t i = 2; i <= schedulable.size(); i++)
        permutations *= static_cast<long long>(i);
    std::sort(schedulable.begin(), schedulable.end());
    do
        ask(ask, 0, {}, Rational(1, permutations));
    while (std::next_permutation(schedulable.begin(), schedulable.end()));

    for (const auto& [batch, w] : batches) {
        State next = state;
        for (const Thread t : batch) {
            next.execute(t);
            schedule.push_back(t);
        }
        std::vector<Thread> then;
        for (const Thread t : next.enabled_threads()) {
            const bool executed = std::count(batch.begin(), batch.end(), t) > 0;
            const bool was_enabled = std::count(enabled.begin(), enabled.end(), t) > 0;
            if (executed || !was_enabled ||
                std::any_of(batch.begin(), batch.end(), [&](Thread other) {
                    return depend(next.next(t), state.next(other), read_only);
                }))
                then.push_back(t);
        }
        walk_rapos(program, read_only, next, then, schedule, weight * w, result);
        schedule.resize(schedule.size() - batch.size());
    }
}

} // namespace

PartialOrders rapos_partial_orders(const Program& program, bool read_only) {
    PartialOrders result;
    Schedule schedule;
    walk_rapos(program, read_only, State(program), {}, schedule, Rational(1), result);
    return result;
}

} // namespace pctctl::model
