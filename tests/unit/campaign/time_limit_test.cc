// SPDX-License-Identifier: GPL-2.0-only
#include "campaign/time_limit.h"

#include <gtest/gtest.h>

namespace pctctl {
namespace {

using namespace std::chrono_literals;

std::chrono::nanoseconds limit_after(std::initializer_list<double> durations_ms) {
    TimeLimit limit;
    for (const double duration : durations_ms)
        limit.add(duration);
    return limit.value();
}

TEST(TimeLimit, IsFixedAsLongAsNothingIsKnown) {
    EXPECT_EQ(limit_after({}), 60s);
}

TEST(TimeLimit, IsTenTimesTheSlowestRun) {
    EXPECT_EQ(limit_after({5000}), 50s);
    EXPECT_EQ(limit_after({10, 5000, 4000}), 50s);
    EXPECT_EQ(limit_after({5001}), 51s); // whole seconds, upwards
}

TEST(TimeLimit, IsNeitherShortNorVeryLong) {
    EXPECT_EQ(limit_after({0}), 20s);
    EXPECT_EQ(limit_after({2000}), 20s);
    EXPECT_EQ(limit_after({2100}), 21s);
    EXPECT_EQ(limit_after({59999}), 600s);
    EXPECT_EQ(limit_after({1e9}), 600s);
    EXPECT_EQ(limit_after({1e300}), 600s);
}

} // namespace
} // namespace pctctl
