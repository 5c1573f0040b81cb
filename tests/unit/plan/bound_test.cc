// SPDX-License-Identifier: GPL-2.0-only
// Expected values are computed by hand, or with other means as noted.
#include "plan/bound.h"

#include <cmath>

#include <gtest/gtest.h>

namespace pctctl {
namespace {

// The chance that a campaign of such runs misses the bug, and that it finds it.
double campaign_miss(double p, std::uint64_t runs) {
    return std::exp(log_miss(p, runs));
}
double campaign_bound(double p, std::uint64_t runs) {
    return -std::expm1(log_miss(p, runs));
}

TEST(RunBound, IsTheTheorems) {
    EXPECT_DOUBLE_EQ(run_bound(2, 100, 1), 0.5);      // d = 1: 1/n, whatever k
    EXPECT_DOUBLE_EQ(run_bound(3, 79, 2), 1.0 / 237); // 3 * 79
    EXPECT_DOUBLE_EQ(run_bound(4, 10, 3), 0.0025);    // 4 * 10 * 10
    EXPECT_DOUBLE_EQ(run_bound(1, 1, 64), 1);         // nothing to decide
    EXPECT_DOUBLE_EQ(run_bound(5, 1, 64), 0.2);
}

TEST(RunBound, SaysNothingWhenNothingWasControlled) {
    EXPECT_EQ(run_bound(0, 10, 2), 0);
    EXPECT_EQ(run_bound(2, 0, 2), 0);
    EXPECT_EQ(run_bound(2, 0, 1), 0);
    EXPECT_EQ(run_bound(2, 10, 0), 0);
}

TEST(RunBound, IsStableForHugeNumbers) {
    // 1 / (2^20 * 2^40) = 2^-60
    EXPECT_NEAR(run_bound(1ULL << 20, 1ULL << 40, 2) * 0x1p60, 1, 1e-12);
    // 1 / (2 * 2^64^3), k = 2^64 - 1 counts as 2^64 within 1e-19: 2^-193
    EXPECT_NEAR(run_bound(2, ~0ULL, 4) * 0x1p193, 1, 1e-12);
    EXPECT_EQ(run_bound(~0ULL, ~0ULL, 64), 0); // 2^-4096: below what a double holds, not NaN
    EXPECT_GT(run_bound(3, 1000000, 50), 0);   // 1e-294 / 3
}

TEST(ExactOdds, UpToFiftyThreeBits) {
    EXPECT_EQ(exact_odds(3, 79, 2), 237U);
    EXPECT_EQ(exact_odds(2, 100, 1), 2U);
    EXPECT_EQ(exact_odds(7, 1, 64), 7U);
    EXPECT_EQ(exact_odds(1, 1ULL << 52, 2), 1ULL << 52);
    EXPECT_EQ(exact_odds(1, 1ULL << 53, 2), 0U);
    EXPECT_EQ(exact_odds(2, ~0ULL, 3), 0U);
    EXPECT_EQ(exact_odds(~0ULL, 1, 1), 0U);
}

TEST(RproBound, IsPctsUpToDepthTwo) {
    for (const unsigned d : {0U, 1U, 2U})
        EXPECT_EQ(rpro_bound(3, 79, d, 10), run_bound(3, 79, d));
    EXPECT_EQ(exact_rpro_odds(3, 79, 2, 10), 237U);
}

TEST(RproBound, TakesTheRadiusInstead) {
    EXPECT_DOUBLE_EQ(rpro_bound(2, 100, 3, 10), 1.0 / 4000); // 2 * 100 * 2 * 10
    EXPECT_EQ(exact_rpro_odds(2, 100, 4, 10), 60000U);       // 2 * 100 * 3 * 10^2
    EXPECT_DOUBLE_EQ(rpro_bound(2, 100, 4, 1), 1.0 / 600);
    EXPECT_EQ(rpro_bound(0, 100, 3, 10), 0);
    EXPECT_EQ(rpro_bound(2, 0, 3, 10), 0);
    EXPECT_NEAR(rpro_bound(2, 1ULL << 40, 34, 2) * 33 * 0x1p73, 1, 1e-9); // 2 * 2^40 * 33 * 2^32
}

TEST(PosBound, IsTheTheorems) {
    // No races: R = P, U = V / 2, so P^-(V/2).
    EXPECT_NEAR(pos_bound(2, 10, 0), 1.0 / 32, 1e-12);
    EXPECT_NEAR(pos_bound(3, 4, 0), 1.0 / 9, 1e-12);
    // As many as there can be: R = 1, U = 0, so P^-V.
    EXPECT_NEAR(pos_bound(2, 10, 10), 1.0 / 1024, 1e-12);
    EXPECT_NEAR(pos_bound(3, 4, 8), 1.0 / 81, 1e-12);
    EXPECT_EQ(pos_bound(3, 4, ~0ULL), pos_bound(3, 4, 8));
    // P = 2, V = 10, D = 4: R = 20/14, U = 3: 2^-10 * 2.9155
    EXPECT_NEAR(pos_bound(2, 10, 4), 2.9155 / 1024, 1e-6);
    // P = 3, V = 4, D = 3: R = 12/7, U = (4 - 2) / 2
    EXPECT_NEAR(pos_bound(3, 4, 3), 12.0 / 7 / 81, 1e-12);
}

TEST(PosBound, FallsWithTheNumberOfRaces) {
    for (std::uint64_t races = 0; races < 30; ++races)
        EXPECT_GE(pos_bound(4, 10, races), pos_bound(4, 10, races + 1)) << races;
}

TEST(PosBound, SaysNothingOfOneThreadOrNoEvent) {
    EXPECT_EQ(pos_bound(1, 10, 0), 0);
    EXPECT_EQ(pos_bound(0, 10, 0), 0);
    EXPECT_EQ(pos_bound(2, 0, 0), 0);
    EXPECT_EQ(pos_bound(2, 5000, 5000), 0); // 2^-5000
}

TEST(CampaignBound, OfOneRunIsTheRuns) {
    EXPECT_DOUBLE_EQ(campaign_bound(0.25, 1), 0.25);
    EXPECT_DOUBLE_EQ(campaign_miss(0.25, 1), 0.75);
}

TEST(CampaignBound, MultipliesTheMisses) {
    EXPECT_DOUBLE_EQ(campaign_miss(0.5, 3), 0.125);
    EXPECT_DOUBLE_EQ(campaign_bound(0.5, 3), 0.875);
    EXPECT_DOUBLE_EQ(campaign_bound(0.1, 2), 0.19); // 1 - 0.81
}

TEST(CampaignBound, EndsAreExact) {
    EXPECT_EQ(campaign_bound(0.5, 0), 0);
    EXPECT_EQ(campaign_miss(0.5, 0), 1);
    EXPECT_EQ(campaign_bound(1, 0), 0);
    EXPECT_EQ(campaign_bound(1, 5), 1);
    EXPECT_EQ(campaign_miss(1, 5), 0);
    EXPECT_EQ(campaign_bound(0, 1000), 0);
    EXPECT_EQ(campaign_miss(0, 1000), 1);
}

TEST(CampaignBound, KeepsSmallProbabilities) {
    // 1 - (1 - 1e-18)^1000 = 1e-15 within 1e-30; the naive formula gives 0.
    EXPECT_NEAR(campaign_bound(1e-18, 1000) * 1e15, 1, 1e-9);
    // (1 - 1/N)^N -> 1/e
    EXPECT_NEAR(campaign_miss(1e-12, 1000000000000), std::exp(-1), 1e-9);
}

TEST(RunsNeeded, ForAWantedCertainty) {
    EXPECT_EQ(runs_needed(0.5, 0.25), 2U);
    EXPECT_EQ(runs_needed(0.5, 0.2), 3U); // 0.5^2 = 0.25 > 0.2 >= 0.125
    EXPECT_EQ(runs_needed(1, 0.05), 1U);
    EXPECT_EQ(runs_needed(0, 0.05), 0U);
    EXPECT_EQ(runs_needed(1e-30, 0.05), 0U);
    const std::uint64_t needed = runs_needed(1.0 / 237, 0.05);
    EXPECT_LE(campaign_miss(1.0 / 237, needed), 0.05);
    EXPECT_GT(campaign_miss(1.0 / 237, needed - 1), 0.05);
}

} // namespace
} // namespace pctctl
