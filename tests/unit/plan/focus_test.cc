// SPDX-License-Identifier: GPL-2.0-only
#include "plan/focus.h"

#include <gtest/gtest.h>

namespace pctctl {
namespace {

using Names = std::vector<std::uint64_t>;

TEST(Focus, TextIsReadBack) {
    for (const Focus& focus :
         {Focus{.on = false}, Focus{.on = true}, Focus{.on = true, .names = {1}},
          Focus{.on = true, .names = {~0ULL, 0, 0xabc}}})
        EXPECT_EQ(*Focus::parse(focus.text()), focus) << focus.text();
    EXPECT_EQ((Focus{.on = true, .names = {0xabc, 1}}).text(), "on:abc,1");
    EXPECT_EQ(Focus{.on = true}.text(), "on");
    EXPECT_EQ(Focus{.on = false}.text(), "off");
}

TEST(Focus, NonsenseIsRefused) {
    for (const char* text :
         {"", "yes", "on:", "on:x", "on:1,", "on:,1", "on:-1", "off:1", "on:10000000000000000"})
        EXPECT_FALSE(Focus::parse(text)) << text;
}

TEST(FocusLearner, KeepsTheOrderOfTheRunsAndForgetsNothing) {
    FocusLearner learner({.on = true, .names = {50}});
    learner.add(Names{30, 10});
    learner.add(Names{20, 10, 50});
    learner.add(Names{});
    EXPECT_EQ(learner.focus().names, (Names{50, 10, 30, 20}));
}

TEST(FocusLearner, LearnsNothingWhenAllStepsCount) {
    FocusLearner learner({.on = false});
    learner.add(Names{1});
    EXPECT_EQ(learner.focus(), Focus{.on = false});
}

} // namespace
} // namespace pctctl
