// SPDX-License-Identifier: GPL-2.0-only
// Tests that concern all rules of the proof of strictness.
#include "story.h"

namespace pctctl {
namespace {

using namespace test;

TEST(Strictness, LogWithFlaws) {
    Story story({2, 1});
    story.in(0).step(0).sleep(0);
    story.log().back().thread = 7;
    expect_one(story, "thread 7, which it never created");
    EXPECT_EQ(check_strictness({}).violations, 1u);
}

TEST(Strictness, StepCountsAsUserCode) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(1).step(1);
    story.records().back().user_state = 1; // as if the registers had not changed
    story.out(1);
    story.records().back().user_state = 1;
    story.in(2).run(2).sleep(2);
    expect_one(story, "thread 1 (pid 101) got CPU 0");
}

TEST(Strictness, DetailsAreLimited) {
    Story story({1, 2});
    story.in(0).run(0).create(1);
    for (int i = 0; i < 30; i++)
        story.step(0);
    story.out(0);
    const StrictnessReport report = story.check();
    EXPECT_EQ(report.violations, 29u);
    EXPECT_EQ(report.details.size(), 10u);
}

} // namespace
} // namespace pctctl
