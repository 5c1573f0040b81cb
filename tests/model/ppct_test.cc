// SPDX-License-Identifier: GPL-2.0-only
// PPCT's theorem (PLDI 2012, Theorem 9): the bound of PCT, whatever is chosen from the admissible
// threads.
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
 * present priorities, but not the change points still to come: the number of change points'
 * valuations with which the bug is found, for one permutation. (A choice that knew them could avoid
 * any of them: Lemma 10 needs that they are independent of the schedule.)
 */
class Adversary {
public:
    Adversary(const Program& program, const Directive& directive, unsigned k)
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
            possible; // change points that agree with all seen so far
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
        // What is seen of the change points at this arrival.
        long long sum = 0;
        std::map<unsigned, std::vector<std::vector<unsigned>>> seen;
        for (const auto& change : node.possible) {
            unsigned priority = node.priority[t];
            for (unsigned i = 1; i < d_; i++)
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
        EXPECT_FALSE(Adversary(p, *directive, k).value() < bound(3, k, d));
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

// DirS with choices agrees with the policy's code under the same choices, and the lemmas hold.
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
        long long successes = 0, all = 0;
        for_each_pct_randomness(
            3, static_cast<unsigned>(p.nr_events()), d, [&](const PctRandomness& r) {
                // The same choices for both, and for all valuations: they are independent of it.
                std::uint64_t calls = 0;
                const auto choose = [&](std::span<const Thread> threads) {
                    return static_cast<std::size_t>(pct_mix(checked * 1000 + ++calls) %
                                                    threads.size());
                };
                const DirectedExecution directed =
                    directed_execution(p, *directive, r, ChangeAt::kArrival, choose);
                ASSERT_TRUE(directed.succeeds() || directed.broken == Broken::kAssertion);
                calls = 0;
                mechanism.set_choice(choose);
                std::vector<std::uint64_t> priorities;
                for (const unsigned rank : r.rank)
                    priorities.push_back(PCT_PRIO_INITIAL + rank);
                mechanism.set_priorities(std::move(priorities));
                pct_policy_config config = config_for(PCT_POLICY_PPCT);
                for (unsigned i = d - 1; i >= 1; i--)
                    config.change_points[config.nr_change_points++] = {r.change[i - 1],
                                                                       PCT_PRIO_CHANGE + d - i};
                std::stable_sort(
                    config.change_points, config.change_points + config.nr_change_points,
                    [](const auto& a, const auto& b) {
                        return a.step != b.step ? a.step < b.step : a.priority > b.priority;
                    });
                const Schedule& schedule = mechanism.run(config);
                all++;
                if (!directed.succeeds())
                    return;
                successes++;
                ASSERT_EQ(directed.schedule, schedule);       // Lemma 11
                ASSERT_TRUE(satisfies(*directive, schedule)); // Lemma 12
            });
        EXPECT_FALSE(Rational(successes, all) < // Lemma 10
                     bound(3, static_cast<unsigned>(p.nr_events()), d));
    }
}

// A random choice, as an operating system's would be at best; the family of depths 1 to 4 with 2 to
// 8 threads.
TEST(Ppct, RandomChoiceStaysAboveTheBound) {
    const std::uint64_t samples = long_tests() ? 2'000'000 : 100'000;
    for (const auto& [n, d] : {std::pair{2u, 1u},
                               {8u, 1u},
                               {2u, 2u},
                               {5u, 2u},
                               {8u, 2u},
                               {2u, 3u},
                               {4u, 3u},
                               {2u, 4u}}) {
        const Program p = tight_program(n, d).program;
        const unsigned k = static_cast<unsigned>(p.nr_events());
        Mechanism mechanism(p);
        Random random(n * 100 + d);
        mechanism.set_choice(
            [&](std::span<const Thread> threads) { return random.below(threads.size()); });
        const Share share = sample(
            mechanism, config_for(PCT_POLICY_PPCT), samples, n * 10 + d,
            [&](pct_policy_config& config) { draw_change_points(config, d, k); },
            [](const Mechanism& m) { return m.found_bug(); });
        EXPECT_GE(interval(share).high, bound(n, k, d).value())
            << p.name << ": " << share.hits << " of " << share.samples << ", bound "
            << bound(n, k, d);
    }
}

// At the start one thread, each equally likely, is not admissible; all others are.
TEST(Ppct, AllButOneAreAdmissible) {
    constexpr unsigned n = 5;
    Program p{.name = "independent"};
    p.threads.assign(n, {local()});
    Mechanism mechanism(p);
    bool first = true;
    unsigned sum = 0; // of the numbers of those admissible at first
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

// Section 5.5: a high thread that waits for a low one in a loop is no deadlock.
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

// RPro's points: the earliest is any of them, uniform in 1 .. k, and the others are within the
// radius.
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

// A bug of depth 4 within few steps, in a long program: RPro's bound, where PCT's would be
// hopeless.
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
    Mechanism mechanism(tight.program);
    const Share share = sample(
        mechanism, config_for(PCT_POLICY_RPRO), 1'000'000, 4,
        [&](pct_policy_config& config) {
            for (unsigned i = 0; i < 3; i++)
                config.change_points[i] = rpro_change_point(config.seed, i + 1, 4, k, radius);
            config.nr_change_points = 3;
            std::stable_sort(config.change_points, config.change_points + 3,
                             [](const auto& a, const auto& b) { return a.step < b.step; });
        },
        [&](const Mechanism& m) { return satisfies(tight.directive, m.schedule()); });
    const double bound = 1.0 / (2.0 * k * 3 * radius * radius);
    EXPECT_TRUE(interval(share).contains(bound)) << share.hits << " bound " << bound;
    EXPECT_GT(interval(share).low, 5 / (2.0 * k * k * k)); // PCT's bound is 8.3 times lower
}

} // namespace
} // namespace pctctl::model
