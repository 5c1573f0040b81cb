// SPDX-License-Identifier: GPL-2.0-only
// PPCT's theorem (PLDI 2012, Theorem 9): PCT's bound holds whichever of the admissible threads is
// chosen.
#include "decisions.h"
#include "directive.h"
#include "exact.h"
#include "programs.h"
#include "sampling.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pctctl::model {
namespace {

/*
 * The worst that a choice can do which knows the program, the bug, the schedule so far and all
 * present priorities, but not the change points still to come: the share of all random decisions
 * with which the bug is found. (A choice that knew the change points could avoid any of them: Lemma
 * 10 needs that they are independent of the schedule.)
 *
 * Executions are those of the policy's code, one for each choice of change points; an adversary
 * cannot tell them apart as long as all priorities have been the same.
 */
class Adversary {
public:
    Adversary(const Program& program, const Directive& directive, unsigned k)
        : program_(program), directive_(directive), k_(k),
          d_(static_cast<unsigned>(directive.size())) {}

    Rational value() const {
        const unsigned n = static_cast<unsigned>(program_.threads.size());
        const Decisions decisions(PCT_POLICY_PPCT, n, k_, d_);
        long long hits = 0, all = 0;
        for_each_pct_randomness(n, 1, 1, [&](const PctRandomness& permutation) {
            std::vector<Mechanism> executions;
            for_each_pct_randomness(1, k_, d_, [&](const PctRandomness& points) {
                executions.emplace_back(program_);
                executions.back().set_identities(decisions.identities(permutation.rank));
                executions.back().start(decisions.config(points.change));
            });
            all += static_cast<long long>(executions.size());
            hits += worst(executions);
        });
        return {hits, all};
    }

private:
    long long worst(std::vector<Mechanism>& same) const {
        const Schedule& schedule = same.front().schedule();
        if (violates(directive_, schedule))
            return 0;
        const auto span = same.front().admissible();
        const std::vector<Thread> choices(span.begin(), span.end());
        if (choices.empty())
            return satisfies(directive_, schedule) ? static_cast<long long>(same.size()) : 0;
        long long lowest = static_cast<long long>(same.size());
        for (const Thread t : choices) {
            std::map<std::vector<std::uint64_t>, std::vector<Mechanism>> seen;
            for (const Mechanism& before : same) {
                Mechanism after = before;
                after.go_on(t);
                std::vector<std::uint64_t> priorities;
                for (Thread other = 0; other < program_.threads.size(); other++)
                    priorities.push_back(after.priority(other));
                seen[std::move(priorities)].push_back(std::move(after));
            }
            long long value = 0;
            for (auto& [priorities, executions] : seen)
                value += worst(executions);
            lowest = std::min(lowest, value);
        }
        return lowest;
    }

    const Program& program_;
    const Directive& directive_;
    const unsigned k_, d_;
};

// The same for the algorithm of the paper's Fig. 4, with change points that act before their step.
class AdversaryOfTheAlgorithm {
public:
    AdversaryOfTheAlgorithm(const Program& program, const Directive& directive, unsigned k)
        : program_(program), directive_(directive), k_(k),
          d_(static_cast<unsigned>(directive.size())) {}

    Rational value() {
        const unsigned n = static_cast<unsigned>(program_.threads.size());
        std::vector<std::vector<unsigned>> points;
        for_each_pct_randomness(1, k_, d_,
                                [&](const PctRandomness& r) { points.push_back(r.change); });
        long long hits = 0, all = 0;
        for_each_pct_randomness(n, 1, 1, [&](const PctRandomness& r) {
            Node node{State(program_), {}, std::vector<bool>(n), {}, 0, points};
            for (const unsigned rank : r.rank)
                node.priority.push_back(d_ + rank);
            hits += worst(node);
            all += static_cast<long long>(points.size());
        });
        return {hits, all};
    }

private:
    struct Node {
        State state;
        std::vector<unsigned> priority;
        std::vector<bool> arrived;
        Schedule schedule;
        unsigned arrivals;
        std::vector<std::vector<unsigned>>
            possible; // change points that the adversary cannot rule out yet
    };

    long long worst(const Node& node) {
        if (violates(directive_, node.schedule))
            return 0;
        std::vector<Thread> admissible;
        int best = -1;
        for (Thread t = 0; t < node.priority.size(); t++) {
            if (!node.state.alive(t) || (node.arrived[t] && !node.state.can_execute(t)))
                continue;
            if (node.priority[t] > d_)
                admissible.push_back(t);
            if (best < 0 || node.priority[t] > node.priority[static_cast<std::size_t>(best)])
                best = t;
        }
        if (best < 0)
            return satisfies(directive_, node.schedule)
                       ? static_cast<long long>(node.possible.size())
                       : 0;
        if (admissible.empty())
            admissible.push_back(static_cast<Thread>(best));
        long long lowest = -1;
        for (const Thread t : admissible) {
            const long long value = after(node, t);
            if (lowest < 0 || value < lowest)
                lowest = value;
        }
        return lowest;
    }

    long long after(const Node& node, Thread t) {
        Node next = node;
        if (node.arrived[t]) {
            next.state.execute(t);
            next.schedule.push_back(t);
            next.arrived[t] = false;
            return worst(next);
        }
        next.arrived[t] = true;
        next.arrivals++;
        // What the adversary learns about the change points at this arrival: the thread's new
        // priority.
        long long sum = 0;
        std::map<unsigned, std::vector<std::vector<unsigned>>> seen;
        for (const auto& change : node.possible) {
            unsigned priority = node.priority[t];
            for (unsigned i = d_ - 1; i >= 1; i--) // of several the highest priority counts
                if (change[i - 1] == next.arrivals)
                    priority = d_ - i;
            seen[priority].push_back(change);
        }
        for (const auto& [priority, possible] : seen) {
            next.priority[t] = priority;
            next.possible = possible;
            sum += worst(next);
        }
        return sum;
    }

    const Program& program_;
    const Directive& directive_;
    const unsigned k_, d_;
};

Rational bound(unsigned n, unsigned k, unsigned d) {
    Rational result(1, n);
    for (unsigned i = 1; i < d; i++)
        result = result * Rational(1, k);
    return result;
}

TEST(Ppct, NoAdversaryGetsBelowTheBound) {
    Random random(12);
    unsigned checked = 0;
    while (checked < (long_tests() ? 300u : 30u)) {
        const unsigned d = 1 + static_cast<unsigned>(random.below(3));
        const Program p = random_program({.threads = 3,
                                          .events = d == 3 ? 2u : 3u,
                                          .objects = 2,
                                          .read_percent = 0,
                                          .locks = d < 3 && random.below(2),
                                          .forks = random.below(3) == 0},
                                         random);
        const auto directive = random_directive(p, d, true, random);
        if (!directive || !guarantees(p, *directive))
            continue;
        const unsigned k = static_cast<unsigned>(p.nr_events());
        const Rational value = Adversary(p, *directive, k).value();
        EXPECT_FALSE(value < bound(3, k, d));
        const Rational algorithm = AdversaryOfTheAlgorithm(p, *directive, k).value();
        EXPECT_FALSE(value < algorithm);
        if (p.forked.empty()) { // otherwise see ppct.h: it has fewer threads to choose from
            EXPECT_EQ(value, algorithm);
        }
        checked++;
    }
}

TEST(Ppct, AdversaryReachesTheBoundOfTheTightProgram) {
    for (const auto& [n, d] : {std::pair{2u, 2u}, {3u, 2u}, {2u, 3u}, {3u, 1u}, {4u, 1u}}) {
        const DirectedProgram tight = tight_program(n, d);
        const unsigned k = static_cast<unsigned>(tight.program.nr_events());
        EXPECT_EQ(Adversary(tight.program, tight.directive, k).value(), bound(n, k, d))
            << tight.program.name;
    }
}

// DirS and the policy's code make the same schedule under the same choices, and the lemmas hold.
TEST(Ppct, DirectedSchedulerAgrees) {
    Random random(77);
    unsigned checked = 0;
    while (checked < (long_tests() ? 500u : 50u)) {
        const unsigned d = 1 + static_cast<unsigned>(random.below(3));
        const Program p = random_program({.threads = 3,
                                          .events = 3,
                                          .objects = 2,
                                          .read_percent = 0,
                                          .locks = random.below(2) == 1,
                                          .forks = false},
                                         random);
        const auto directive = random_directive(p, d, true, random);
        if (!directive || !guarantees(p, *directive))
            continue;
        checked++;
        Mechanism mechanism(p);
        const unsigned k = static_cast<unsigned>(p.nr_events());
        const Decisions decisions(PCT_POLICY_PPCT, 3, k, d);
        long long successes = 0, all = 0;
        for_each_pct_randomness(3, k, d, [&](const PctRandomness& r) {
            // The choices are the same for both, and for all random decisions, of which they are
            // independent.
            std::uint64_t calls = 0;
            const auto choose = [&](std::span<const Thread> threads) {
                return static_cast<std::size_t>(pct_mix(checked * 1000 + ++calls) % threads.size());
            };
            const DirectedExecution directed =
                directed_execution(p, *directive, r, ChangeAt::kArrival, choose);
            ASSERT_TRUE(directed.succeeds() || directed.broken == Broken::kAssertion);
            calls = 0;
            mechanism.set_choice(choose);
            mechanism.set_identities(decisions.identities(r.rank));
            const Schedule& schedule = mechanism.run(decisions.config(r.change));
            all++;
            if (!directed.succeeds())
                return;
            successes++;
            ASSERT_EQ(directed.schedule, schedule);       // Lemma 11
            ASSERT_TRUE(satisfies(*directive, schedule)); // Lemma 12
        });
        EXPECT_FALSE(Rational(successes, all) < // Lemma 10
                     bound(3, k, d));
    }
}

// At the start all threads but one are admissible; each is that one with the same probability.
TEST(Ppct, AllButOneAreAdmissible) {
    constexpr unsigned n = 5;
    Program p{.name = "independent"};
    p.threads.assign(n, {local()});
    Mechanism mechanism(p);
    bool first = true;
    unsigned sum = 0; // of the numbers of the threads admissible at first
    mechanism.set_choice([&](std::span<const Thread> threads) -> std::size_t {
        if (first) {
            EXPECT_EQ(threads.size(), n - 1);
            for (const Thread t : threads)
                sum += t;
        }
        first = false;
        return 0;
    });
    std::vector<std::uint64_t> low(n);
    sample(
        mechanism, config_for(PCT_POLICY_PPCT), 100'000, 8,
        [&](pct_policy_config&) {
            first = true;
            sum = 0;
        },
        [&](const Mechanism& m) {
            const unsigned missing = n * (n - 1) / 2 - sum;
            low[missing]++;
            EXPECT_EQ(m.schedule().back(), missing); // so it comes last
            return true;
        });
    EXPECT_TRUE(chi_square(std::vector<double>(n, 1.0 / n), low).fits());
}

// Section 5.5: a high thread that waits in a loop for a low one does not hang the program.
TEST(Ppct, StarvationEnds) {
    Program p{.name = "spin"};
    p.variables = {0};
    p.threads.resize(3);
    for (const Thread t : {Thread{0}, Thread{1}})
        p.threads[t] = {{.op = Op::kYield, .object = 1, .effect = [](State& s) {
                             return s.variables[0] ? kNext : 0;
                         }}};
    p.threads[2] = {{.object = 1, .effect = [](State& s) {
                         s.variables[0] = 1;
                         return kNext;
                     }}};
    Mechanism mechanism(p);
    mechanism.set_max_steps(10'000);
    Random random(5);
    mechanism.set_choice(
        [&](std::span<const Thread> threads) { return random.below(threads.size()); });
    for (const pct_policy policy : {PCT_POLICY_PPCT, PCT_POLICY_PCT, PCT_POLICY_RANDOM_WALK,
                                    PCT_POLICY_POS, PCT_POLICY_BASIC_POS, PCT_POLICY_NONE}) {
        const Share share = sample(
            mechanism, config_for(policy), 1000, 3,
            [&](pct_policy_config& config) { draw_change_points(config, 2, 10); },
            [](const Mechanism& m) { return m.cut_short(); });
        EXPECT_EQ(share.hits, 0u) << policy;
    }
}

// RPro's change points: the earliest is any of them, at a step uniform in 1 .. k. The others lie
// within the radius after it.
TEST(Rpro, PointsLieWithinTheRadius) {
    constexpr unsigned k = 50, radius = 7, depth = 4;
    constexpr std::uint64_t samples = 100'000;
    Share at_k, first_is_two, farthest;
    for (; at_k.samples < samples; at_k.samples++) {
        const std::uint64_t seed = pct_random(6, PCT_RAND_RUN_SEED, at_k.samples);
        std::uint64_t step[depth];
        for (unsigned i = 1; i < depth; i++) {
            const struct pct_change_point point = rpro_change_point(seed, i, depth, k, radius);
            EXPECT_EQ(point.priority, PCT_PRIO_CHANGE + i);
            step[i] = point.step;
        }
        const std::uint64_t lowest = *std::min_element(step + 1, step + depth);
        const std::uint64_t highest = *std::max_element(step + 1, step + depth);
        ASSERT_GE(lowest, 1u);
        ASSERT_LE(lowest, k);
        ASSERT_GT(highest, lowest);
        ASSERT_LE(highest - lowest, radius);
        at_k.hits += lowest == k;
        first_is_two.hits += lowest == step[2];
        farthest.hits += highest - lowest == radius;
    }
    first_is_two.samples = farthest.samples = samples;
    EXPECT_TRUE(interval(at_k).contains(1.0 / k));
    EXPECT_TRUE(interval(first_is_two).contains(1.0 / 3));
    EXPECT_TRUE(interval(farthest).contains(1 - 36.0 / 49));
}

// A bug of depth 4 whose steps are close together, in a long program. RPro stays above its bound,
// which is far above PCT's.
TEST(Rpro, StaysAboveItsBound) {
    DirectedProgram tight = tight_program(2, 4);
    auto& threads = tight.program.threads;
    const std::size_t padding = 30;
    threads[0].insert(threads[0].begin(), padding, local());
    for (auto& set : tight.directive.before)
        for (EventId& e : set)
            e.index += e.thread == 0 ? padding : 0;
    for (EventId& e : tight.directive.events)
        e.index += e.thread == 0 ? padding : 0;
    const unsigned k = static_cast<unsigned>(tight.program.nr_events()), radius = 8;
    PolicyParameters parameters;
    parameters.set(Parameter::radius, radius);
    Mechanism mechanism(tight.program);
    const Share share = sample(
        mechanism, config_for(PCT_POLICY_RPRO), 1'000'000, 4,
        [&](pct_policy_config& config) { draw_change_points(config, 4, k, parameters); },
        [&](const Mechanism& m) { return satisfies(tight.directive, m.schedule()); });
    const double bound = 1.0 / (2.0 * k * 3 * radius * radius);
    EXPECT_TRUE(interval(share).contains(bound)) << share.hits << " bound " << bound;
    EXPECT_GT(interval(share).low, 5 / (2.0 * k * k * k)); // PCT's bound is 8.3 times lower
}

} // namespace
} // namespace pctctl::model
