// SPDX-License-Identifier: GPL-2.0-only
// Rule C: a thread gives way to a better one.
#include "story.h"

namespace pctctl {
namespace {

using namespace test;

TEST(Strictness, WokenThreadTakesOverAtTheNextStep) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).out(0).in(1).run(1).sleep(1);
    story.in(0).run(0).wake(1, 1).run(0).step(0).out(0).in(1).run(1).sleep(1);
    expect_none(story);
}

TEST(Strictness, WokenThreadHasToWaitLongerThanThat) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).step(0).out(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 0 (pid 100) made step 2 though thread 1 (pid 101)");
}

TEST(Strictness, SleepsInTheOperationInsteadOfGivingWay) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).sleep(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 0 (pid 100) went to sleep in an operation though thread 1");
}

TEST(Strictness, ExitsInsteadOfGivingWay) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).exit(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 0 (pid 100) exited though thread 1");
}

TEST(Strictness, KilledAfterGivingWay) {
    // The thread dies in the kernel, without user code. It does not matter when it gets the CPU for
    // that.
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).out(0).in(0).exit(0).in(1).run(1).exit(1);
    expect_none(story);
}

TEST(Strictness, ExitingThreadNeedNotBePreferred) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).out(0).in(1).run(1).out(1);
    story.records().back().exiting = 1;
    story.in(0).run(0).exit(0).in(1).exit(1);
    expect_none(story);
}

TEST(Strictness, ExitingThreadMayStillBeOnItsCpu) {
    Story story({2, 1});
    story.in(0).run(0).create(1).step(0).record(0, PCT_WITNESS_EXIT).in(1, 1).run(1).exit(0);
    story.step(1).exit(1);
    expect_none(story);
}

TEST(Strictness, ThreadsAboveTheLowSetExecuteTogether) {
    Story story({2, 3, 1});
    story.under("ppct").in(0).run(0).create(1).create(2).step(0).in(1, 1).run(1).step(1);
    story.step(0).step(1).sleep(1).sleep(0).in(2, 1).step(2).step(2).exit(2);
    expect_none(story);
}

TEST(Strictness, LowSetDoesNotExecuteBesideOthers) {
    Story story({2, 1});
    story.under("ppct").in(0).run(0).create(1).step(0).in(1, 1).step(1).step(1).out(0);
    expect_one(story, "thread 1 (pid 101) made step 3 though thread 0");
}

TEST(Strictness, LowSetExecutesAsSoonAsTheOthersSleep) {
    // The record that thread 0 has left its CPU comes late.
    Story story({2, 1});
    story.under("ppct").in(0).run(0).create(1).step(0).in(1, 1).step(1).step(1).sleep(0);
    expect_none(story);
    Story earlier({2, 1});
    earlier.under("ppct").in(0).run(0).create(1).step(0).in(1, 1).step(1).step(1).step(0).sleep(0);
    expect_one(earlier, "thread 1 (pid 101) made step 3 though thread 0");
}

TEST(Strictness, LowSetChangesBeforeTheLogTellsOfANewThread) {
    // Thread 1 is the lowest until thread 2 appears. Thread 0 begins to create that one in its last
    // turn.
    Story story({3, 2, 1});
    story.under("ppct").in(0).run(0).create(1).step(0).in(1, 1).step(1).step(1).create(2).out(0);
    expect_none(story);
}

TEST(Strictness, RunsAgainInsteadOfGivingWay) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).out(0).in(0).run(0).out(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 0 (pid 100) ran user code again though thread 1");
}

TEST(Strictness, PassesThroughAfterGivingWay) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).out(0).in(0).out(0).in(1).run(1).out(1).in(0).out(0);
    story.in(1).run(1).sleep(1).in(0).run(0).sleep(0);
    expect_none(story);
}

TEST(Strictness, ChangePointLetsTheOtherRun) {
    Story story({2, 1}, 2, kFirstStep);
    put_change_point(story, 1);
    story.in(0).run(0).create(1).step(0, 1).out(0).in(1).run(1).step(1).sleep(1);
    story.in(0).step(0).sleep(0);
    expect_none(story);
}

TEST(Strictness, ChangePointWithoutEffect) {
    Story story({2, 1}, 2, kFirstStep);
    story.in(0).run(0).create(1).step(0, 1).step(0).out(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 0 (pid 100) made step 2 though thread 1");
}

TEST(Strictness, DemotionLetsTheOtherRun) {
    Story story({2, 1});
    story.in(0).run(0).create(1).step(0).demote(0, PCT_DEMOTE_YIELD).out(0).in(1).run(1).sleep(1);
    story.in(0).run(0).sleep(0);
    expect_none(story);
}

TEST(Strictness, DemotionWithoutEffect) {
    Story story({2, 1});
    story.in(0).run(0).create(1).step(0).demote(0, PCT_DEMOTE_YIELD).step(0).out(0);
    expect_one(story, "thread 0 (pid 100) made step 2 though thread 1");
}

TEST(Strictness, SpinDemotionJustBeforeAStep) {
    Story story({2, 1});
    story.in(0).step(0).create(1).demote(0, PCT_DEMOTE_SPIN).step(0).out(0).in(1).run(1).sleep(1);
    expect_none(story);
}

TEST(Strictness, SpinDemotionWithoutEffect) {
    Story story({2, 1});
    story.in(0).step(0).create(1).demote(0, PCT_DEMOTE_SPIN).step(0).step(0).out(0);
    expect_one(story, "thread 0 (pid 100) made step 3 though thread 1");
    Story other({2, 1});
    other.in(0).step(0).create(1).run(0).demote(0, PCT_DEMOTE_SPIN).out(0).in(0).run(0).out(0);
    expect_one(other, "thread 0 (pid 100) ran user code again though thread 1");
}

TEST(Strictness, DemotedThreadRaisedByAChangePoint) {
    Story story({2, 1}, 2, kFirstStep);
    story.in(0).run(0).create(1).demote(0, PCT_DEMOTE_SPIN).out(0).in(1).run(1).sleep(1);
    story.in(0).step(0, 1).wake(1).step(0).out(0).in(1).run(1).sleep(1);
    expect_none(story);
}

} // namespace
} // namespace pctctl
