// SPDX-License-Identifier: GPL-2.0-only
// Theorem 1 of POS (CAV 2018): the bound computed from the number of races that a run counts must
// not exceed the exact probability of any partial order of small programs.
#include "coverage.h"
#include "exact.h"
#include "plan/bound.h"
#include "plan/races.h"
#include "programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>

namespace pctctl::model {
namespace {

Races races_of(const Program& p, const Schedule& schedule, bool read_only) {
    Races races;
    std::vector<std::size_t> next(p.threads.size());
    for (const Thread t : schedule) {
        const Event& event = p.threads[t][next[t]++];
        const Races::Access access{event.object, read_only && event.read_only, false};
        races.step(t, {&access, event.object ? 1U : 0U});
    }
    return races;
}

TEST(RacesOfARun, AreThoseOfItsPartialOrder) {
    Random random(31);
    for (int i = 0; i < 20; i++) {
        const Program p =
            random_program({.threads = 3, .events = 3, .objects = 2, .read_percent = 50}, random);
        std::map<std::string, std::uint64_t> known;
        std::uint64_t most = 0;
        for_each_schedule(p, [&](const Schedule& s, const State&) {
            const std::uint64_t races = races_of(p, s, true).races();
            EXPECT_EQ(known.emplace(partial_order(p, s, true), races).first->second, races);
            most = std::max(most, races);
        });
        EXPECT_EQ(most, partial_order_facts(p).max_races) << p.name;
    }
}

TEST(RacesOfARun, TheoremHoldsForEveryPartialOrder) {
    Random random(32);
    double least = 1e9;
    for (int i = 0; i < 30; i++) {
        const bool read_only = i % 2;
        const bool locks = i % 3 == 0; // each adds two events
        const auto threads = static_cast<unsigned>(locks ? 2 : 2 + random.below(2));
        const auto objects = static_cast<unsigned>(1 + random.below(3));
        const Program p = random_program({.threads = threads,
                                          .events = locks || threads == 3 ? 2U : 3U,
                                          .objects = objects,
                                          .read_percent = read_only ? 50U : 0U,
                                          .locks = locks},
                                         random);
        std::map<std::string, Races> races;
        for_each_schedule(p, [&](const Schedule& s, const State&) {
            races.emplace(partial_order(p, s, read_only), races_of(p, s, read_only));
        });
        for (const auto& [order, probability] :
             partial_orders(p, pos_schedules(p, {.read_only = read_only}), read_only)) {
            const Races& of_order = races.at(order);
            EXPECT_LE(of_order.races(), of_order.steps() * (threads - std::uint64_t{1}));
            const double bound = pos_bound(threads, of_order.steps(), of_order.races());
            EXPECT_GE(probability.value(), bound * (1 - 1e-9)) << p.name << ": " << order;
            least = std::min(least, probability.value() / bound);
        }
    }
    std::cout << "the exact probability is at least " << least << " times the theorem's\n";
}

} // namespace
} // namespace pctctl::model
