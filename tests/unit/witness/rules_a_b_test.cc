// SPDX-License-Identifier: GPL-2.0-only
// Rule A: one thread executes at a time. Rule B: it is the best of those that are ready.
#include "story.h"

namespace pctctl {
namespace {

using namespace test;

// ---- A: one thread at a time ----

TEST(Strictness, OneThreadThenAnotherIsFine) {
    Story story({1, 2});
    story.in(0).step(0).create(1).run(0).out(0).in(1, 1).run(1).sleep(1).in(0).run(0).sleep(0);
    expect_none(story);
    EXPECT_EQ(story.check().turns, 3u);
    EXPECT_EQ(story.check().steps, 1u);
}

TEST(Strictness, TwoAtOnceOnTwoCpus) {
    Story story({2, 1});
    story.in(0).run(0).create(1).in(1, 1).run(1).sleep(1).run(0).sleep(0);
    expect_one(story, "while thread 0 (pid 100) was running");
}

TEST(Strictness, PassingThroughAnotherCpuWithoutUserCodeIsFine) {
    Story story({2, 1});
    story.in(0).run(0).create(1).in(1, 1).out(1).run(0).sleep(0).in(1, 1).run(1).sleep(1);
    expect_none(story);
}

// ---- B: the best of those that are ready ----

TEST(Strictness, LowerThreadChosen) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 1 (pid 101) got CPU 0 and ran user code though thread 2 (pid 102)");
}

TEST(Strictness, HigherThreadChosen) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(2).run(2).sleep(2);
    story.in(1).run(1).sleep(1);
    expect_none(story);
}

TEST(Strictness, LowerThreadPassesThroughUnpunished) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(1).out(1).in(2).run(2).sleep(2);
    expect_none(story);
}

TEST(Strictness, PreemptedThreadIsStillReady) {
    Story story({2, 1});
    story.in(0).run(0).create(1).run(0).out(0).in(1).run(1).sleep(1);
    expect_one(story, "though thread 0 (pid 100), of higher priority, was ready");
}

TEST(Strictness, WokenAfterTheDecision) {
    // Thread 2 becomes ready on another CPU after thread 1 has been chosen.
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(2).run(2).sleep(2);
    story.wake(2, 1).in(1).run(1).step(1).out(1).in(2).run(2).sleep(2).in(1).run(1).sleep(1);
    expect_none(story);
}

TEST(Strictness, WokenBeforeTheDecisionOnTheSameCpu) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(2).run(2).sleep(2);
    story.in(1).run(1).sleep(1).wake(1).wake(2).in(2).step(2).wake(0).sleep(2);
    story.in(1).run(1).sleep(1);
    expect_one(story, "though thread 0 (pid 100), of higher priority, was ready");
}

TEST(Strictness, WokenWhileTheDecisionIsTaken) {
    // The other CPU read its clock before this one left thread 0. But nothing says whether the
    // scheduler had decided by then.
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(2).run(2).sleep(2);
    story.in(1).run(1).sleep(1).wake(0).wake(1).in(0).step(0).wake(2, 1).sleep(0);
    story.in(1).run(1).step(1).out(1).in(2).run(2).sleep(2);
    expect_none(story);
}

TEST(Strictness, WokenBeforeAStepOfTheThreadBefore) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(2).run(2).sleep(2);
    story.in(1).run(1).sleep(1).wake(0).wake(1).in(0).wake(2, 1).step(0).sleep(0);
    story.in(1).run(1).sleep(1).in(2).run(2).sleep(2);
    expect_one(story, "thread 1 (pid 101) got CPU 0 and ran user code though thread 2");
}

TEST(Strictness, WokenByAnExitingThread) {
    Story story({1, 3, 2});
    story.in(0).run(0).create(1).create(2).step(0).out(0).in(1).run(1).sleep(1);
    story.in(2).wake(1).exit(2).in(0).run(0).sleep(0);
    expect_one(story, "thread 0 (pid 100) got CPU 0");
    // The same in a turn with user code.
    Story other({1, 3, 2});
    other.in(0).run(0).create(1).create(2).step(0).out(0).in(1).run(1).sleep(1);
    other.in(2).run(2).wake(1).exit(2).in(0).run(0).sleep(0);
    expect_one(other, "ran user code though thread 1 (pid 101)");
}

TEST(Strictness, ThreadThatSleptIsChosenAnew) {
    Story story({1, 2});
    story.in(0).run(0).create(1).run(0).sleep(0).wake(0).in(0).run(0).sleep(0);
    expect_one(story, "thread 0 (pid 100) got CPU 0 and ran user code though thread 1");
}

TEST(Strictness, InterruptedThreadGoesOnUntilItsNextStep) {
    // Another program takes the CPU. Meanwhile thread 1 becomes ready.
    Story story({1, 2});
    story.in(0).run(0).create(1).out(0).in(1).run(1).sleep(1).in(0).run(0).out(0).wake(1, 1);
    story.in(0).run(0).out(0).in(0).step(0).out(0).in(1).run(1).sleep(1);
    expect_none(story);
}

} // namespace
} // namespace pctctl
