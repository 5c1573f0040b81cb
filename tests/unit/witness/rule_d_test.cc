// SPDX-License-Identifier: GPL-2.0-only
// Rule D: who is a thread of the run.
#include "story.h"

namespace pctctl {
namespace {

using namespace test;
using testing::HasSubstr;

TEST(Strictness, ThreadMissingInTheLog) {
    Story story({2, 1});
    story.in(0).step(0).fork(1, 0).sleep(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 1 (pid 101) ran user code, but is not in the log");
}

TEST(Strictness, ThreadMissingInTheLogThatNeverRan) {
    Story story({2, 1});
    story.in(0).step(0).fork(1, 0).sleep(0).in(1).exit(1);
    expect_none(story);
}

TEST(Strictness, ThreadCreatedOutsideSchedExt) {
    Story story({2, 1});
    story.in(0).step(0).fork(1, 0);
    story.records().back().controlled = 0;
    story.sleep(0);
    expect_one(story, "thread 1 (pid 101) was created outside sched_ext");
}

TEST(Strictness, ThreadOfAnotherRunIsNoneOfOurs) {
    Story story({2, 1});
    story.in(0).step(0).in(1, 1).run(1).sleep(1).sleep(0);
    expect_none(story);
}

TEST(Strictness, WrongCreator) {
    Story story({3, 2, 1});
    story.in(0).step(0).create(1).create(2);
    for (pct_witness_record& record : story.records())
        if (record.type == PCT_WITNESS_NEW && record.pid == kPid + 2)
            record.parent = story.records()[1].task; // the task of thread 1
    story.sleep(0);
    expect_one(story, "said to be created by thread 0, but thread 1 did it");
}

TEST(Strictness, SameChildTwice) {
    Story story({3, 2, 1});
    story.in(0).step(0).create(1).create(2).sleep(0);
    story.log().back().ordinal = 1;
    EXPECT_THAT(story.check().details,
                testing::Contains(HasSubstr("child 1 of thread 0, as another is")));
}

TEST(Strictness, CreationThatFailedLeavesItsPid) {
    Story story({3, 2, 1});
    story.in(0).step(0).create(1);
    story.records().pop_back();
    story.create(2).sleep(0).in(2).step(2).sleep(2);
    for (pct_witness_record& record : story.records())
        if (record.pid == kPid + 2)
            record.pid = kPid + 1;
    for (pct_event& event : story.log())
        event.pid = static_cast<int>(event.thread ? kPid + 1 : kPid);
    expect_none(story);
}

TEST(Strictness, AddressUsedAgainByAnotherRun) {
    for (const bool created_by_watched : {false, true}) {
        Story story({2, 1});
        story.in(0).run(0).create(1).sleep(0).in(1).run(1);
        if (created_by_watched)
            story.sleep(1).wake(0).in(0).fork(1, 7); // the end of thread 1 was not seen
        else
            story.wake(0).exit(1).in(0);
        story.in(1, 1).run(1).sleep(1).run(0).sleep(0);
        expect_none(story);
    }
}

TEST(Strictness, PidUsedTwice) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).step(0).sleep(0).in(1).run(1).wake(0).exit(1);
    story.in(0).run(0).create(2).step(0).sleep(0).in(2).run(2).sleep(2);
    for (pct_witness_record& record : story.records())
        if (record.pid == kPid + 2)
            record.pid = kPid + 1;
    for (pct_event& event : story.log())
        if (event.thread == 2)
            event.pid = kPid + 1;
    expect_none(story);
}

TEST(Strictness, FirstThreadIsOnItsCpuWhenRecordsBegin) {
    Story story({1, 2});
    story.step(0).create(1).step(0).out(0).in(1).run(1).sleep(1);
    expect_none(story);
    Story other({1, 2});
    other.step(0).create(1).step(0).step(0).out(0).in(1).run(1).sleep(1);
    expect_one(other, "thread 0 (pid 100) made step 3");
}

} // namespace
} // namespace pctctl
