// SPDX-License-Identifier: GPL-2.0-only
// Which objects matter (pctctl/sharing.h), and what becomes of PCT's theorem when only steps on
// them count.
#include "decisions.h"
#include "exact.h"
#include "mechanism.h"
#include "programs.h"
#include "sampling.h"

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>

#include "pctctl/sharing.h"

namespace pctctl::model {
namespace {

using ObjectSet = std::set<Object>;

// What the scheduler would learn from one run with that schedule.
ObjectSet learned_from(const Program& program, const Schedule& schedule) {
    std::vector<pct_lineage> lineages(program.threads.size());
    std::vector<std::uint64_t> ends(program.threads.size());
    std::map<Object, pct_sharing> objects;
    ObjectSet result;
    std::uint64_t now = 0;
    for (const EventId id : events_of(schedule)) {
        const Event& event = program.threads[id.thread][id.index];
        const std::uint32_t thread = id.thread + 1u;
        now++;
        if (event.op == Op::kFork)
            pct_descend(&lineages[event.other], &lineages[id.thread], thread, now);
        if (event.object != 0) {
            pct_sharing& object = objects[event.object];
            __u64 ended[PCT_TOUCHES] = {};
            for (unsigned i = 0; i < PCT_TOUCHES; i++)
                if (object.touches[i].thread != 0)
                    ended[i] = ends[object.touches[i].thread - 1];
            if (pct_share(&object, thread, &lineages[id.thread], now,
                          event.read_only ? PCT_CLASS_READS : 0u, 0, ended))
                result.insert(event.object);
        }
        if (id.index + 1 == program.threads[id.thread].size())
            ends[id.thread] = now;
    }
    return result;
}

// By the definition, of one schedule: the later of two conflicting events is of a thread that
// existed at the earlier one.
ObjectSet shared_in(const Program& program, const Schedule& schedule) {
    const std::vector<EventId> events = events_of(schedule);
    std::vector<std::size_t> started(program.threads.size());
    for (const Thread t : program.forked)
        started[t] = events.size();
    for (std::size_t i = 0; i < events.size(); i++) {
        const Event& event = program.threads[events[i].thread][events[i].index];
        if (event.op == Op::kFork)
            started[event.other] = i;
    }
    ObjectSet result;
    for (std::size_t late = 0; late < events.size(); late++)
        for (std::size_t early = 0; early < late; early++) {
            const Event& a = program.threads[events[early].thread][events[early].index];
            const Event& b = program.threads[events[late].thread][events[late].index];
            if (a.object != 0 && a.object == b.object &&
                events[early].thread != events[late].thread && !(a.read_only && b.read_only) &&
                started[events[late].thread] <= early)
                result.insert(a.object);
        }
    return result;
}

struct Learning {
    ObjectSet learned, shared;
    double least = 1; // share of the schedules that show an object, the least of all objects
};

Learning learning(const Program& program) {
    Learning all;
    std::map<Object, unsigned> shows;
    unsigned schedules = 0;
    for_each_schedule(program, [&](const Schedule& schedule, const State&) {
        schedules++;
        for (const Object object : learned_from(program, schedule)) {
            all.learned.insert(object);
            shows[object]++;
        }
        all.shared.merge(shared_in(program, schedule));
    });
    for (const auto& [object, count] : shows)
        all.least = std::min(all.least, static_cast<double>(count) / schedules);
    return all;
}

// A main thread that starts the others, in a tree or not, waits for some of them, and does things
// between.
Program random_family(Random& random) {
    const auto n = static_cast<Thread>(2 + random.below(3));
    Program program{.name = "family", .threads = std::vector<std::vector<Event>>(n)};
    std::vector<std::vector<Thread>> children(n);
    for (Thread t = 1; t < n; t++) {
        program.forked.push_back(t);
        children[random.below(t)].push_back(t);
    }
    for (Thread t = 0; t < n; t++) {
        const auto some = [&] {
            for (std::size_t i = random.below(2); i > 0; i--) {
                const auto object = static_cast<Object>(1 + random.below(4));
                program.threads[t].push_back(random.below(2) ? read(object) : access(object));
            }
        };
        for (const Thread child : children[t]) {
            some();
            program.threads[t].push_back(fork(child));
            some();
            if (random.below(2))
                program.threads[t].push_back(join(child));
        }
        some();
        program.threads[t].push_back(local()); // no thread is empty
    }
    return program;
}

std::string text(const ObjectSet& objects) {
    std::string text;
    for (const Object object : objects)
        text += std::to_string(object) + " ";
    return text;
}

// No run says that an object matters which does not, and what matters some runs say.
TEST(Sharing, RunsOfAFamilyLearnWhatMatters) {
    Random random(17);
    unsigned objects = 0;
    for (unsigned i = 0; i < 300; i++) {
        const Program program = random_family(random);
        const Learning all = learning(program);
        EXPECT_EQ(text(all.learned), text(all.shared)) << "program " << i;
        objects += static_cast<unsigned>(all.shared.size());
    }
    EXPECT_GT(objects, 100U); // or there was nothing to learn
    EXPECT_LT(objects, 1000U);
}

TEST(Sharing, WhatHappensBeforeTheOtherExistsDoesNotMatter) {
    // Set up by the parent, used by the child.
    const Program handed_over{
        .name = "handed over", .threads = {{access(1), fork(1)}, {access(1)}}, .forked = {1}};
    EXPECT_EQ(text(learning(handed_over).learned), "");
    // And by the parent again.
    const Program shared{
        .name = "shared", .threads = {{access(1), fork(1), access(1)}, {access(1)}}, .forked = {1}};
    EXPECT_EQ(text(learning(shared).learned), "1 ");
    EXPECT_EQ(learning(shared).least, 1); // whoever comes first
    // One command of a script after the other.
    const Program script{
        .name = "script",
        .threads = {{fork(1), join(1), fork(2), join(2)}, {access(1)}, {access(1)}},
        .forked = {1, 2}};
    EXPECT_EQ(text(learning(script).learned), "");
    // Without waiting, it matters; not seen by runs in which the first has ended early.
    const Program background{.name = "background",
                             .threads = {{fork(1), fork(2)}, {access(1)}, {access(1)}},
                             .forked = {1, 2}};
    EXPECT_EQ(text(learning(background).learned), "1 ");
    EXPECT_LT(learning(background).least, 1);
    // A grandchild knows what its grandparent had done before its parent existed.
    const Program deep{
        .name = "deep",
        .threads = {{access(1), fork(1), access(2)}, {fork(2)}, {access(1), access(2)}},
        .forked = {1, 2}};
    EXPECT_EQ(text(learning(deep).learned), "2 ");
}

TEST(Sharing, ReadingDoesNotMatter) {
    EXPECT_EQ(text(learning({.name = "", .threads = {{read(1)}, {read(1)}}}).learned), "");
    EXPECT_EQ(text(learning({.name = "", .threads = {{read(1)}, {access(1)}}}).learned), "1 ");
    EXPECT_EQ(text(learning({.name = "", .threads = {{access(1), access(1)}, {read(2)}}}).learned),
              "");
}

// More threads than an object has room for.
TEST(Sharing, CrowdsAreNotForgotten) {
    Program readers{.name = "", .threads = std::vector<std::vector<Event>>(7, {read(1)})};
    Schedule schedule = {0, 1, 2, 3, 4, 5, 6};
    EXPECT_EQ(text(learned_from(readers, schedule)), "");
    for (const Thread writer : {0, 3, 4, 5, 6}) {
        Program program = readers;
        program.threads[writer] = {access(1)};
        EXPECT_EQ(text(learned_from(program, schedule)), "1 ") << writer;
    }
    // One that has room comes back, and meets those that have none.
    readers.threads[0] = {read(1), access(1)};
    schedule.push_back(0);
    EXPECT_EQ(text(learned_from(readers, schedule)), "1 ");
}

// Entries of a directory are made (within), it is listed (reads), paths lead through it (both), and
// it is removed (neither).
TEST(Sharing, SomeWaysCommute) {
    constexpr std::uint32_t kMakes = PCT_CLASS_WITHIN, kLists = PCT_CLASS_READS,
                            kPasses = PCT_CLASS_WITHIN | PCT_CLASS_READS, kRemoves = 0;
    const auto matters = [](std::uint32_t first, std::uint32_t second) {
        pct_sharing object{};
        const pct_lineage lineage{};
        const __u64 ended[PCT_TOUCHES] = {};
        pct_share(&object, 1, &lineage, 1, first, 0, ended);
        return pct_share(&object, 2, &lineage, 2, second, 0, ended);
    };
    for (const auto& [first, second, expected] : {std::tuple{kMakes, kMakes, false},
                                                  {kLists, kLists, false},
                                                  {kMakes, kLists, true},
                                                  {kPasses, kMakes, false},
                                                  {kPasses, kLists, false},
                                                  {kPasses, kPasses, false},
                                                  {kRemoves, kPasses, true},
                                                  {kRemoves, kMakes, true},
                                                  {kRemoves, kLists, true},
                                                  {kRemoves, kRemoves, true}}) {
        EXPECT_EQ(matters(first, second), expected) << first << " " << second;
        EXPECT_EQ(matters(second, first), expected) << second << " " << first;
    }
}

// ---- The bound
// -----------------------------------------------------------------------------------

// The events on what does not matter are no steps.
Program narrowed(Program program) {
    const ObjectSet matter = learning(program).shared;
    for (auto& thread : program.threads)
        for (Event& event : thread)
            event.step =
                event.op == Op::kFork || event.op == Op::kJoin || matter.contains(event.object);
    return program;
}

unsigned steps_of(const Program& program) {
    unsigned steps = 0;
    for (const auto& thread : program.threads)
        for (const Event& event : thread)
            steps += event.step;
    return steps;
}

// Exact probability that PCT finds the bug, its change points being drawn from the steps that
// count.
Rational probability(const Program& program, unsigned d) {
    const auto n = static_cast<unsigned>(program.threads.size());
    const unsigned k = steps_of(program);
    Mechanism mechanism(program);
    Decisions decisions(PCT_POLICY_PCT, n, k, d);
    long long all = 0, hits = 0;
    for_each_pct_randomness(n, k, d, [&](const PctRandomness& r) {
        mechanism.set_identities(decisions.identities(r.rank));
        mechanism.run(decisions.config(r.change));
        all++;
        hits += mechanism.found_bug();
    });
    return {hits, all};
}

Rational bound(const Program& program, unsigned d) {
    Rational result(1, static_cast<long long>(program.threads.size()));
    for (unsigned i = 1; i < d; i++)
        result = result * Rational(1, steps_of(program));
    return result;
}

// A lock order inversion, and threads that do things of their own before, within and after.
Program inversion(unsigned own) {
    Program program{.name = "inversion"};
    for (Thread t = 0; t < 2; t++) {
        std::vector<Event> events;
        const auto alone = [&] {
            for (unsigned i = 0; i < own; i++)
                events.push_back(access(static_cast<Object>(3 + t)));
        };
        alone();
        events.push_back(lock(static_cast<Object>(1 + t)));
        alone();
        events.push_back(lock(static_cast<Object>(2 - t)));
        events.push_back(unlock(static_cast<Object>(2 - t)));
        events.push_back(unlock(static_cast<Object>(1 + t)));
        alone();
        program.threads.push_back(std::move(events));
    }
    program.bug = [](const Schedule&, const State& state) { return state.deadlocked(); };
    return program;
}

// The bug is that thread 1 writes between two accesses of thread 0.
Program between(unsigned own) {
    Program program{.name = "between"};
    program.threads = {{access(1)}, {}, {}};
    for (unsigned i = 0; i < own; i++)
        for (Thread t = 0; t < 3; t++)
            program.threads[t].push_back(access(static_cast<Object>(2 + t)));
    program.threads[0].push_back(access(1));
    program.threads[1].push_back(access(1));
    // How far thread 0 is, and whether thread 1 came in between.
    program.variables = {0, 0};
    const auto advance = [](State& state) {
        state.variables[0]++;
        return kNext;
    };
    program.threads[0].front().effect = program.threads[0].back().effect = advance;
    program.threads[1].back().effect = [](State& state) {
        state.variables[1] = state.variables[0] == 1;
        return kNext;
    };
    program.bug = [](const Schedule&, const State& state) { return state.variables[1] == 1; };
    return program;
}

TEST(Focus, TheoremHoldsWithTheStepsThatCount) {
    for (const unsigned own : {0U, 1U, 2U})
        for (const Program& all : {inversion(own), between(own)}) {
            const Program few = narrowed(all);
            EXPECT_EQ(steps_of(all) - steps_of(few), own * (all.name == "between" ? 3 : 6));
            EXPECT_FALSE(probability(few, 2) < bound(few, 2)) << all.name << " " << own;
            EXPECT_FALSE(probability(all, 2) < bound(all, 2)) << all.name << " " << own;
            if (own > 0) {
                EXPECT_TRUE(bound(all, 2) < bound(few, 2));
            }
        }
}

// What a thread does alone changes nothing about the steps that count: their schedules are those of
// the program without it.
TEST(Focus, StepsThatDoNotCountAreAsIfTheyWereNotThere) {
    for (const unsigned own : {1U, 3U}) {
        EXPECT_EQ(probability(narrowed(inversion(own)), 2), probability(inversion(0), 2));
        EXPECT_EQ(probability(narrowed(between(own)), 2), probability(narrowed(between(0)), 2));
    }
}

// The bug needs a change point at a step that is left out: a lesson on what the set has to hold.
TEST(Focus, WhatTheSetLacksIsNotCovered) {
    Program program = between(0);
    EXPECT_FALSE(probability(program, 2) < bound(program, 2));
    for (auto& thread : program.threads)
        for (Event& event : thread)
            event.step = event.object != 1;
    program.threads[2].push_back(access(2)); // so that there is a step at all
    EXPECT_EQ(probability(program, 2), Rational(0, 1));
}

} // namespace
} // namespace pctctl::model
