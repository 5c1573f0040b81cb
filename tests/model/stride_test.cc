// SPDX-License-Identifier: GPL-2.0-only
// The analysis of the randomized stride (ASE 2017): it reaches orders that the random walk hardly
// ever reaches.
#include "edges.h"
#include "plan/stride_ratio.h"
#include "sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace pctctl::model {
namespace {

Program two_threads(std::size_t first, std::size_t second) {
    Program p{.name = "two threads"};
    p.threads = {std::vector<Event>(first, local()), std::vector<Event>(second, local())};
    return p;
}

// Element [b][a]: how often the b-th event of the second thread came before the a-th of the first.
std::vector<std::vector<std::uint64_t>> sampled_edges(std::size_t length, __u32 stride_max,
                                                      pct_policy policy, std::uint64_t samples) {
    const Program p = two_threads(length, length);
    Mechanism mechanism(p);
    pct_policy_config config = config_for(policy);
    config.stride_max = stride_max;
    std::vector<std::vector<std::uint64_t>> at(length + 1, std::vector<std::uint64_t>(length + 2));
    sample(
        mechanism, config, samples, 740, [](pct_policy_config&) {},
        [&](const Mechanism& m) {
            std::size_t a = 0, b = 0;
            for (const Thread t : m.schedule())
                t == 0 ? a++ : at[++b][a + 1]++;
            return true;
        });
    for (auto& line : at)
        for (std::size_t a = 1; a < line.size(); a++)
            line[a] += line[a - 1];
    return at;
}

// The tolerance is for half a step, since a normal distribution stands for a whole number.
TEST(Stride, FormulaOfSecondaryOrders) {
    const auto exact = edge_probabilities(200, 1);
    for (const std::size_t b : {20u, 50u, 100u, 200u})
        for (std::size_t a = b / 2; a <= b; a++)
            EXPECT_NEAR(exact[b][a],
                        edge_by_formula(static_cast<double>(a), static_cast<double>(b)),
                        0.3 / std::sqrt(2.0 * static_cast<double>(b)))
                << a << ' ' << b;
    EXPECT_DOUBLE_EQ(exact[1][1], 0.5);
    EXPECT_DOUBLE_EQ(exact[2][1], 0.25);
    EXPECT_DOUBLE_EQ(exact[1][2], 0.75);
}

// z is for about 1000 comparisons: 99.9 % confidence for all together.
TEST(Stride, CodeHasTheExactEdgeProbabilities) {
    constexpr std::size_t length = 40;
    constexpr std::uint64_t samples = 100'000;
    for (const __u32 stride_max : {1u, 8u}) {
        const auto exact = edge_probabilities(length, stride_max);
        std::vector<pct_policy> policies{PCT_POLICY_STRIDE};
        if (stride_max == 1)
            policies.push_back(PCT_POLICY_RANDOM_WALK);
        for (const pct_policy policy : policies) {
            const auto counts = sampled_edges(length, stride_max, policy, samples);
            for (std::size_t b = 1; b <= length; b += 3)
                for (std::size_t a = 1; a <= length; a += 3)
                    EXPECT_TRUE(interval({counts[b][a], samples}, 5.0).contains(exact[b][a]))
                        << b << ' ' << a << ": " << counts[b][a] << " expected " << exact[b][a];
        }
    }
}

// The proposition of section III.E, with a minimum probability of 1 %: under the random walk the
// coverable share falls as 1 / sqrt(length). And section IV: with strides in proportion to the
// length all pairs stay coverable.
TEST(Stride, CoverableSecondaryOrders) {
    constexpr double probability = 0.01;
    double last_scaled = 0, last = 1;
    for (const std::size_t length : {50u, 100u, 200u, 400u}) {
        const double walk = coverable_secondary_orders(length, 1, probability);
        EXPECT_LT(walk, last);
        last = walk;
        const double scaled = walk * std::sqrt(2.0 * static_cast<double>(length));
        if (length > 100) {
            EXPECT_NEAR(scaled / last_scaled, 1, 0.12) << length;
        }
        last_scaled = scaled;

        const auto stride_max = static_cast<std::size_t>(
            std::ceil(static_cast<double>(length) / ratio_for(probability)));
        EXPECT_EQ(coverable_secondary_orders(length, stride_max, probability), 1.0) << length;
    }
}

TEST(Stride, LeastLikelyEdgeOfRatio) {
    // For ratios up to 1 there is a closed form, 1 - exp(x/2)/2: the sum of n strides is below x
    // with probability x^n/n!.
    for (const double x : {0.0, 0.25, 0.5, 0.75, 1.0})
        EXPECT_NEAR(least_likely_edge_of_ratio(x), 1 - std::exp(x / 2) / 2, 1e-9);
    // Beyond 1, the solution of the equation must be what sampling gives.
    for (const double x : {0.5, 1.0, 2.0, 3.5, 5.0, 8.0}) {
        const double exact = least_likely_edge_of_ratio(x);
        EXPECT_NEAR(least_likely_edge_by_sampling(x, 200'000) / exact, 1, 0.03) << x;
    }
    // "Can potentially be approximated by an exponential relation": the ratio of probabilities is
    // constant.
    const double decay = least_likely_edge_of_ratio(6) / least_likely_edge_of_ratio(5);
    EXPECT_NEAR(least_likely_edge_of_ratio(9) / least_likely_edge_of_ratio(8), decay, 1e-3);
    for (const double p : {0.4, 0.1, 0.01, 1e-4})
        EXPECT_NEAR(least_likely_edge_of_ratio(ratio_for(p)) / p, 1, 1e-3);
}

// A stride that is computed for a probability has at least that probability for every length, as
// the paper claims of its approximations.
TEST(Stride, ApproximationErrsOnTheSafeSide) {
    for (const double p : {0.2, 0.05, 0.01, 0.001}) {
        const double ratio = ratio_for(p);
        for (const std::size_t length : {1u, 2u, 3u, 7u, 20u, 100u, 333u}) {
            const auto stride_max =
                static_cast<std::size_t>(std::ceil(static_cast<double>(length) / ratio));
            EXPECT_GE(least_likely_edge(length, stride_max), p * 0.999) << length;
        }
    }
}

TEST(Stride, CodeHasTheLeastLikelyEdge) {
    for (const auto& [length, stride_max] :
         {std::pair{20u, 1u}, {30u, 6u}, {60u, 20u}, {10u, 10u}}) {
        const Program p = two_threads(length, 3);
        Mechanism mechanism(p);
        pct_policy_config config = config_for(PCT_POLICY_STRIDE);
        config.stride_max = 1; // of the other thread
        config.nr_strides = 1;
        config.strides[0] = {Mechanism::identity(0), stride_max};
        const Share share = sample(
            mechanism, config, 200'000, length, [](pct_policy_config&) {},
            [&, n = length](const Mechanism& m) {
                return std::count(m.schedule().begin(), m.schedule().begin() + n, 0) == n;
            });
        EXPECT_TRUE(interval(share).contains(least_likely_edge(length, stride_max)))
            << share.hits << " expected " << least_likely_edge(length, stride_max);
    }
}

// The same of a thread that the first one creates, with its beginning.
TEST(Stride, CodeHasTheLeastLikelyEdgeOfACreatedThread) {
    for (const auto& [length, stride_max, others_max] :
         {std::tuple{12u, 1u, 1u}, {30u, 8u, 1u}, {42u, 15u, 2u}}) {
        Program p{.name = "creates a thread"};
        p.threads = {{fork(1), created()}, {begin(), local()}};
        p.threads[0].resize(length, local());
        p.forked = {1};
        Mechanism mechanism(p);
        pct_policy_config config = config_for(PCT_POLICY_STRIDE);
        config.stride_max = others_max;
        config.nr_strides = 1;
        config.strides[0] = {Mechanism::identity(0), stride_max};
        const Share share = sample(
            mechanism, config, 200'000, length, [](pct_policy_config&) {},
            [](const Mechanism& m) { return m.schedule().back() == 1; });
        const double exact = least_likely_edge_of_created(length, stride_max, others_max);
        EXPECT_TRUE(interval(share).contains(exact)) << share.hits << " expected " << exact;
    }
    // By hand: main, which has just created the thread, makes its last event first, or after the
    // beginning.
    EXPECT_DOUBLE_EQ(least_likely_edge_of_created(2, 1, 1), 1.0 / 2 + 1.0 / 4);
}

TEST(Stride, ProbabilityPerRun) {
    EXPECT_NEAR(1 - std::pow(1 - probability_per_run(0.95, 1000, 1), 1000), 0.95, 1e-9);
    const double both = probability_per_run(0.95, 1000, 2);
    EXPECT_NEAR(1 - std::pow(1 - both * both, 1000), 0.95, 1e-9);
}

} // namespace
} // namespace pctctl::model
