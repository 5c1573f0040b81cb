// SPDX-License-Identifier: GPL-2.0-only
// The state that the rules share, and which rule finds which violation.
#include "witness/scheduler_state.h"

#include <algorithm>
#include <map>
#include <string>

#include "story.h"
#include "witness/rules.h"

namespace pctctl {
namespace {

using namespace test;

// The state after the whole story.
struct Told {
    explicit Told(const Story& story)
        : setting(story.input()), history(read_history(story.input().log, story.input().records)),
          state(setting, history) {
        for (const History::Moment& moment : history.moments)
            state.advance(moment);
    }
    std::size_t best_above(std::uint64_t priority, std::size_t except = History::kNone) const {
        return state.ready_above(priority, except, [](const auto&) { return true; });
    }
    const Setting setting;
    const History history;
    SchedulerState state;
};

TEST(SchedulerState, KnowsWhoIsReadyAndWhoExecutes) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).run(0).sleep(0).in(2, 1).step(2);
    const Told told(story);
    EXPECT_EQ(told.best_above(0), 2u);
    EXPECT_EQ(told.best_above(0, 2), 1u);
    EXPECT_EQ(told.best_above(told.state.thread(2).priority), SchedulerState::kNone);
    EXPECT_THAT(told.state.executing(), testing::ElementsAre(2u));
    EXPECT_FALSE(told.state.thread(0).ready);
    EXPECT_FALSE(told.state.thread(0).cpu);
    EXPECT_EQ(told.state.thread(2).cpu, 1u);
}

TEST(SchedulerState, AThreadThatExitsIsNeverReadyAgain) {
    Story story({2, 1});
    story.in(0).run(0).create(1).record(0, PCT_WITNESS_EXIT).wake(0);
    const Told told(story);
    EXPECT_TRUE(told.state.thread(0).exiting);
    EXPECT_EQ(told.best_above(0), 1u);
}

TEST(SchedulerState, AChangePointMovesAThreadInTheOrder) {
    Story story({2, 1}, 2, kFirstStep);
    story.in(0).run(0).create(1);
    EXPECT_EQ(Told(story).best_above(0), 0u);
    story.step(0, 1);
    const Told told(story);
    EXPECT_EQ(told.best_above(0), 1u);
    EXPECT_EQ(told.state.thread(0).priority, PCT_PRIO_CHANGE + 1);
    EXPECT_EQ(told.state.last_number(), 1);
}

TEST(SchedulerState, AWakeUpIntoANewPhaseGivesANewPriority) {
    Story story({2, 1});
    story.with_phases().in(0).create(1).step(0).sleep(0).in(1).step(1).sequential_step(1);
    story.sequential_step(1);
    const std::uint64_t before = Told(story).state.thread(0).priority;
    EXPECT_EQ(Told(story).state.phase(), 1u); // the second of two such steps begins no other phase
    story.wake(0);
    const Told told(story);
    EXPECT_EQ(told.state.thread(0).phase, 1u);
    EXPECT_NE(told.state.thread(0).priority, before);
    EXPECT_EQ(told.state.last_number(), 1); // the wake-up was counted
}

// ---- Each rule alone ----

std::size_t found_by(MakeRule* make, const Story& story) {
    const StrictnessInput input = story.input();
    const Setting setting(input);
    const History history = read_history(input.log, input.records);
    SchedulerState state(setting, history);
    const std::unique_ptr<Rule> rule = make(setting, history);
    Violations found;
    for (std::size_t i = 0; i < history.threads.size(); i++)
        rule->on_thread(i, state, found);
    for (const History::Moment& moment : history.moments) {
        rule->on_moment(moment, state, found);
        state.advance(moment);
    }
    return found.size();
}

const std::map<std::string, MakeRule*> kAllRules = {
    {"one at a time", rule_one_at_a_time},
    {"best is chosen", rule_best_is_chosen},
    {"gives way", rule_gives_way},
    {"membership", rule_membership},
    {"initial priorities", rule_initial_priorities},
    {"step order", rule_step_order},
    {"counted steps", rule_counted_steps},
    {"step priorities", rule_step_priorities},
    {"demotions", rule_demotions},
};

void expect_only(const std::string& finder, const Story& story) {
    for (const auto& [name, make] : kAllRules)
        EXPECT_EQ(found_by(make, story), name == finder ? 1u : 0u) << name << ", for " << finder;
}

TEST(StrictnessRules, EachFindsItsOwn) {
    Story two({1, 2});
    two.in(0).run(0).create(1).in(1, 1).run(1).sleep(1).run(0).sleep(0);
    expect_only("one at a time", two);

    Story chosen({3, 1, 2});
    chosen.in(0).run(0).create(1).create(2).step(0).sleep(0).in(1).run(1).sleep(1);
    expect_only("best is chosen", chosen);

    Story stays({1, 2});
    stays.in(0).run(0).create(1).step(0).step(0).out(0);
    expect_only("gives way", stays);

    Story stranger({2, 1});
    stranger.in(0).step(0).fork(1, 0).sleep(0).in(1).run(1).sleep(1);
    expect_only("membership", stranger);

    Story begins({2, 1});
    begins.in(0).run(0).create(1).sleep(0);
    begins.log().back().priority++;
    expect_only("initial priorities", begins);

    Story order({2, 1});
    order.in(0).step(0).step(0).sleep(0);
    order.log().back().step = 1;
    expect_only("step order", order);

    Story counted({2, 1});
    counted.in(0).step(0).step(0).sleep(0);
    counted.log().back().code = 3;
    expect_only("counted steps", counted);

    Story changed({2, 1}, 1, kFirstStep);
    changed.in(0).step(0, 1).sleep(0);
    expect_only("step priorities", changed);

    Story demoted({2, 1});
    demoted.in(0).step(0).demote(0, PCT_DEMOTE_YIELD).demote(0, PCT_DEMOTE_YIELD).sleep(0);
    demoted.log().back().priority++;
    expect_only("demotions", demoted);
}

// The lower thread 1 is chosen on a second CPU while the better thread 0 runs on the first.
TEST(StrictnessRules, ATurnThatBreaksSeveralIsReportedOnce) {
    Story story({2, 1});
    story.in(0).run(0).create(1).out(0).in(1).run(1).out(1).in(0).run(0);
    story.in(1, 1).run(1).out(1).run(0).sleep(0);
    EXPECT_EQ(found_by(rule_one_at_a_time, story), 1u);
    EXPECT_EQ(found_by(rule_best_is_chosen, story), 2u);
    EXPECT_EQ(story.check().violations, 2u);
}

} // namespace
} // namespace pctctl
