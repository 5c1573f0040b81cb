// SPDX-License-Identifier: GPL-2.0-only
#include "run/liveness.h"

#include <gtest/gtest.h>

#include <memory>

namespace pctctl {
namespace {

using namespace std::chrono_literals;

class LivenessTest : public testing::Test {
protected:
    // So many looks at the state as it is, 100 ms apart.
    void look(int times) {
        for (; times > 0; --times)
            liveness_.look(*state_, 100ms);
    }

    Liveness liveness_{10s};
    std::unique_ptr<pct_run_state> state_ = std::make_unique<pct_run_state>();
};

TEST_F(LivenessTest, TimeIsUpAfterTheLimit) {
    look(99);
    EXPECT_FALSE(liveness_.time_is_up());
    EXPECT_EQ(liveness_.left(), 100ms);
    look(1);
    EXPECT_TRUE(liveness_.time_is_up());
}

TEST_F(LivenessTest, WithoutAStepItHangs) {
    look(100);
    EXPECT_TRUE(liveness_.hangs());
    EXPECT_EQ(liveness_.text(), "no step for 10 s");
}

TEST_F(LivenessTest, WithUsefulStepsItIsOnlySlow) {
    for (int i = 0; i < 100; ++i) {
        ++state_->steps;
        ++state_->useful;
        look(1);
    }
    EXPECT_FALSE(liveness_.hangs());
    EXPECT_EQ(liveness_.text(), "still making progress after 10 s");
}

// Half the limit is long, less is not.
TEST_F(LivenessTest, ItHangsWithoutProgressInTheSecondHalf) {
    for (const int at : {50, 51}) {
        liveness_ = Liveness(10s);
        look(at - 1);
        ++state_->steps;
        ++state_->useful;
        look(1 + 100 - at);
        EXPECT_TRUE(liveness_.time_is_up());
        EXPECT_EQ(liveness_.hangs(), at == 50);
    }
}

TEST_F(LivenessTest, StepsThatAreNotUsefulAreNoProgress) {
    state_->useful = state_->steps = 7;
    look(20);
    for (int i = 0; i < 80; ++i) {
        state_->steps += 3;
        look(1);
    }
    EXPECT_TRUE(liveness_.hangs());
    EXPECT_EQ(liveness_.text(), "no progress for 9.9 s, but 240 steps of waiting in loops");
}

TEST_F(LivenessTest, AFewStepsLongAgoAreNoSteps) {
    look(10);
    state_->useful = state_->steps = 7;
    look(10);
    state_->steps = 9; // takes a lock and then waits for ever
    look(80);
    EXPECT_TRUE(liveness_.hangs());
    EXPECT_EQ(liveness_.text(), "no step for 7.9 s");
}

TEST_F(LivenessTest, ThreadsThatComeAndGoAreProgress) {
    look(60);
    ++state_->threads;
    ++state_->alive;
    look(30);
    --state_->alive;
    look(10);
    EXPECT_TRUE(liveness_.time_is_up());
    EXPECT_FALSE(liveness_.hangs());
}

// The machine was suspended for an hour after three seconds.
TEST_F(LivenessTest, AMachineThatStandsStillDoesNotUseUpTime) {
    look(30);
    liveness_.look(*state_, 1h);
    EXPECT_FALSE(liveness_.time_is_up());
    EXPECT_EQ(liveness_.left(), 6s);
}

} // namespace
} // namespace pctctl
