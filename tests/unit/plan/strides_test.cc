// SPDX-License-Identifier: GPL-2.0-only
#include "plan/strides.h"

#include "plan/stride_ratio.h"
#include "policy.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pctctl {
namespace {

TEST(Strides, TextIsReadAgain) {
    for (const Strides& strides :
         {Strides(), Strides{20, {}}, Strides{3, {{~0ULL, 1}, {5, 999}}}}) {
        const auto read = Strides::parse(strides.text());
        ASSERT_TRUE(read) << strides.text();
        EXPECT_EQ(*read, strides);
    }
    EXPECT_EQ((Strides{3, {{0xc0ffee, 12}}}).text(), "3,0000000000c0ffee:12");
}

TEST(Strides, NonsenseIsRefused) {
    for (const char* text :
         {"", "0", "x", "-1", "1.5", "1,", "1,2", "1,c0ffee:2", "1,0000000000c0ffee:",
          "1,0000000000c0ffee:0", "1,0000000000c0ffee:1000000001", "1,0000000000c0ffeg:1",
          "1,0x00000000c0ffee:1", "0000000000c0ffee:12", "1,:1", "1,00000000000c0ffee:1"})
        EXPECT_FALSE(Strides::parse(text)) << text;
    Strides many;
    for (std::uint64_t i = 0; i < PCT_MAX_STRIDES; ++i)
        many.threads.push_back({i, 1});
    EXPECT_TRUE(Strides::parse(many.text()));
    many.threads.push_back({PCT_MAX_STRIDES, 1});
    EXPECT_FALSE(Strides::parse(many.text()));
}

TEST(ThreadLengths, NothingMeasuredIsTheRandomWalk) {
    EXPECT_EQ(ThreadLengths().strides(4), Strides());
}

TEST(ThreadLengths, StrideIsTheCeilingOfLengthOverRatio) {
    ThreadLengths lengths;
    lengths.add(std::vector<ThreadLength>{{1, 9}, {2, 8}, {3, 1}, {4, 0}});
    EXPECT_EQ(lengths.strides(4), (Strides{3, {{1, 3}, {2, 2}, {3, 1}}}));
}

TEST(ThreadLengths, OnlyTheLongestHaveTheirOwn) {
    ThreadLengths lengths;
    for (std::uint64_t i = 1; i <= PCT_MAX_STRIDES + 10; ++i)
        lengths.add(std::vector<ThreadLength>{{i, 10 * i}});
    const Strides strides = lengths.strides(1);
    EXPECT_EQ(strides.threads.size(), std::size_t{PCT_MAX_STRIDES});
    EXPECT_EQ(strides.threads.front(), (ThreadStride{PCT_MAX_STRIDES + 10, 740}));
    EXPECT_EQ(strides.threads.back(), (ThreadStride{11, 110}));
    EXPECT_EQ(strides.others, 100U) << "the longest of those without";
}

// Section V.A of the paper: the campaign meets the least likely order with 95 % confidence.
TEST(StrideRatio, IsForTheWholeCampaign) {
    for (const unsigned edges : {1U, 2U}) {
        const double edge = least_likely_edge_of_ratio(stride_ratio(10'000, edges));
        EXPECT_NEAR(std::pow(1 - std::pow(edge, edges), 10'000), 0.05, 1e-4);
    }
    EXPECT_EQ(stride_ratio(1, 1), 1) << "no stride longer than its thread";
    EXPECT_EQ(stride_ratio(5, 2), 1);
    EXPECT_GT(stride_ratio(100, 1), stride_ratio(100, 2));
    EXPECT_LT(stride_ratio(0xffffffff, 1), 30);
}

} // namespace
} // namespace pctctl
