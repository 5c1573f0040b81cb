// SPDX-License-Identifier: GPL-2.0-only
#include "plan/depth.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace pctctl {
namespace {

TEST(DrawDepth, HasTheDocumentedDistribution) {
    constexpr unsigned kSamples = 160'000;
    constexpr std::array kExpected = {0.0, 1.0 / 4, 1.0 / 2, 1.0 / 8, 1.0 / 16, 1.0 / 16};
    std::array<unsigned, kExpected.size()> seen = {};
    for (std::uint64_t stream = 0; stream < kSamples; ++stream) {
        const unsigned depth = draw_depth({100, stream});
        ASSERT_GE(depth, 1U);
        ASSERT_LE(depth, kDeepestDrawn);
        ++seen[depth];
    }
    for (unsigned depth = 1; depth < kExpected.size(); ++depth) {
        const double p = kExpected[depth];
        // Five standard deviations; the streams are fixed.
        EXPECT_NEAR(seen[depth], p * kSamples, 5 * std::sqrt(kSamples * p * (1 - p))) << depth;
    }
}

TEST(DrawDepth, IsAFunctionOfTheStreamAlone) {
    for (std::uint64_t stream = 0; stream < 100; ++stream)
        EXPECT_EQ(draw_depth({100, stream}), draw_depth({7, stream}));
}

TEST(DrawDepth, OfARunWithoutChangePointsIsOne) {
    for (std::uint64_t stream = 0; stream < 100; ++stream)
        EXPECT_EQ(draw_depth({0, stream}), 1U);
}

TEST(DepthText, IsWhatTheCommandLineTakes) {
    EXPECT_EQ(depth_text(3), "3");
    EXPECT_EQ(depth_text(kDepthAuto), "auto");
}

} // namespace
} // namespace pctctl
