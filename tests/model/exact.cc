// SPDX-License-Identifier: GPL-2.0-only
#include "exact.h"

#include <algorithm>
#include <numeric>

namespace pctctl::model {
namespace {

// Depth-first over all schedules. Rule: what the algorithm knows besides the program's state. It is
// given with its weight and returns its successors for a step of the thread, weighted.
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
    std::vector<Thread> order; // of the events that have a priority, highest first
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

// Every enabled event without a priority gets one.
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
        // The highest priority among the enabled events: others may have one and be disabled by
        // now.
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

Rational preempt_always_probability(const Program& program, const Predicate& predicate) {
    return sum_of(predicate, [&](const Visit& visit) { walk_randomly(program, true, visit); });
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
        for (unsigned i = 1; i < d; i++)
            if (randomness.change[i - 1] == step)
                priority[t] = d - i;
    };
    std::vector<bool> arrived(program.threads.size());
    std::size_t arrivals = 0;
    for (;;) {
        // A thread not yet at its next step is on its way there, so it can always go on.
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

std::map<std::string, Rational> random_walk_partial_orders(const Program& program, bool read_only) {
    std::map<std::string, Rational> result;
    walk_randomly(program, false,
                  [&](const Schedule& schedule, const State&, const Rational& weight) {
                      result[partial_order(program, schedule, read_only)] += weight;
                  });
    return result;
}

std::map<std::string, Rational> pos_partial_orders(const Program& program, PosOptions options,
                                                   bool read_only) {
    std::map<std::string, Rational> result;
    walk_pos(program, options, [&](const Schedule& schedule, const State&, const Rational& weight) {
        result[partial_order(program, schedule, read_only)] += weight;
    });
    return result;
}

} // namespace pctctl::model
