// SPDX-License-Identifier: GPL-2.0-only
// Rule E: the scheduler's log agrees with the seed.
#include "story.h"

namespace pctctl {
namespace {

using namespace test;
using testing::HasSubstr;

TEST(Strictness, PriorityOfAnotherSeed) {
    Story story({1, 2});
    story.in(0).step(0).sleep(0);
    story.seed().stream++;
    EXPECT_THAT(story.check().details, testing::Contains(HasSubstr("by the log")));
}

TEST(Strictness, ChangePointMissing) {
    Story story({2, 1}, 2, kFirstStep);
    story.in(0).step(0).sleep(0);
    expect_one(story, "after step 1, but 4294967297 by the seed");
}

TEST(Strictness, ChangePointInvented) {
    Story story({2, 1}, 1, kFirstStep);
    story.in(0).step(0, 1).sleep(0);
    expect_one(story, "has priority 4294967297 after step 1");
}

TEST(Strictness, DemotionNotBelowAllOthers) {
    Story story({2, 1});
    story.in(0).step(0).demote(0, PCT_DEMOTE_YIELD).demote(0, PCT_DEMOTE_YIELD).sleep(0);
    story.log().back().priority += 1;
    expect_one(story, "not below all before");
}

TEST(Strictness, StepCountedTwice) {
    Story story({2, 1});
    story.in(0).step(0).step(0).sleep(0);
    story.log().back().step = 1;
    expect_one(story, "step 1 follows step 1");
}

TEST(Strictness, StepOfAThreadThatWasNotOnACpu) {
    Story story({2, 1});
    story.in(0).step(0).sleep(0).step(0);
    expect_one(story, "made step 2 without being on a CPU");
}

// The log tells of the creation first, then of the step, and the witness of the thread last.
TEST(Strictness, AThreadBeginsInItsCreatorsTurn) {
    Story story({2, 1});
    story.under("pos").in(0).step(0).create(1).begin(1).step(0).sleep(0).in(1).step(1).exit(1);
    expect_none(story);
    Story nobody({2, 1});
    nobody.under("pos").in(0).step(0).create(1).sleep(0).begin(1).in(1).step(1).exit(1);
    expect_one(nobody, "made step 2 without being on a CPU");
    Story other({2, 1}); // no beginning
    other.under("pos").in(0).step(0).create(1).step(1).sleep(0);
    expect_one(other, "made step 2 without being on a CPU");
}

TEST(Strictness, StepsWithoutAnyRecord) {
    Story story({2, 1});
    story.step(0).step(0);
    EXPECT_EQ(story.check().violations, 2u);
}

TEST(Strictness, StepsOfASingleEnabledThreadAreNotCounted) {
    Story story({1, 0}, 2, 1);
    story.in(0).sequential_step(0).create(1).step(0, 1); // the change point is at number 1
    EXPECT_EQ(story.check().violations, 0u);
    Story ended({1, 0});
    ended.in(0).create(1).sleep(0).in(1).step(1).exit(1).wake(0).in(0).sequential_step(0);
    EXPECT_EQ(ended.check().violations, 0u);
}

TEST(Strictness, AStepHasToCountWhileAnotherThreadIsReady) {
    Story story({1, 0});
    story.in(0).create(1).wake(1).step(0).sequential_step(0);
    EXPECT_EQ(story.check().violations, 1u);
}

// Thread 1 sleeps from the first phase into the second, where thread 2 appears.
Story two_phases() {
    Story story({2, 1, 0});
    story.with_phases()
        .in(0)
        .create(1)
        .step(0)
        .sleep(0)
        .in(1)
        .step(1)
        .wake(0)
        .sleep(1)
        .in(0)
        .sequential_step(0);
    story.wake(1).create(2).step(0);
    return story;
}

TEST(Strictness, APhaseHasItsOwnPrioritiesAndNumbers) {
    Story story = two_phases();
    EXPECT_EQ(story.check().violations, 0u);
    EXPECT_EQ(story.log().back().code, 2); // the wake-up was number 1
    EXPECT_NE(story.log().front().priority, story.log().back().priority);
}

TEST(Strictness, APriorityOfTheLastPhaseIsWrong) {
    Story story = two_phases();
    story.log().back().priority = story.log().front().priority;
    EXPECT_EQ(story.check().violations, 1u);
}

TEST(Strictness, AWakeUpInANewPhaseCounts) {
    Story story = two_phases();
    story.log().back().code = 1;
    EXPECT_EQ(story.check().violations, 1u);
}

TEST(Strictness, AThreadAppearsInItsPhase) {
    Story story = two_phases();
    pct_event& appears = story.log()[story.log().size() - 2];
    ASSERT_EQ(appears.type, PCT_EVENT_THREAD);
    appears.code = 0;
    appears.priority = pct_initial_priority(story.seed().stream, appears.identity, 0);
    EXPECT_EQ(story.check().violations, 1u);
}

TEST(Strictness, StepsAreNumberedForChangePointsWithoutAGap) {
    Story story({1, 0});
    story.in(0).create(1).wake(1).step(0).step(0);
    story.log().back().code = 1;
    EXPECT_EQ(story.check().violations, 1u);
}

} // namespace
} // namespace pctctl
