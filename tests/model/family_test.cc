// SPDX-License-Identifier: GPL-2.0-only
// The theorem of PCT and PPCT, for a family of programs of 2 to 8 threads with bugs of depths 1 to
// 4. By sampling, since there are too many random decisions to enumerate (as pct_test.cc and
// ppct_test.cc do).
#include "programs.h"
#include "sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

namespace pctctl::model {
namespace {

// For two policies, seven numbers of threads, four depths, and two programs or more. By chance, one
// in 1,000 such families has an interval that misses its probability.
constexpr double kZ = 4.75;

using Parameters = std::tuple<pct_policy, unsigned>;

class Family : public testing::TestWithParam<Parameters> {
protected:
    // Under PPCT a random one of the admissible threads goes on. An operating system may choose
    // worse.
    static Share found(pct_policy policy, const Program& p, unsigned d, std::uint64_t seed) {
        const std::uint64_t samples = long_tests() ? 2'000'000 : 100'000;
        const unsigned k = static_cast<unsigned>(p.nr_events());
        Mechanism mechanism(p);
        Random random(seed);
        mechanism.set_choice(
            [&](std::span<const Thread> threads) { return random.below(threads.size()); });
        return sample(
            mechanism, config_for(policy), samples, seed,
            [&](pct_policy_config& config) { draw_change_points(config, d, k); },
            [](const Mechanism& m) { return m.found_bug(); });
    }
    static double bound(const Program& p, unsigned d) {
        return 1 / (static_cast<double>(p.threads.size()) *
                    std::pow(static_cast<double>(p.nr_events()), d - 1));
    }
    static std::string text(const Program& p, const Share& share, double bound) {
        return p.name + ": " + std::to_string(share.hits) + " of " + std::to_string(share.samples) +
               ", bound " + std::to_string(bound);
    }
};

INSTANTIATE_TEST_SUITE_P(Theorem, Family,
                         testing::Combine(testing::Values(PCT_POLICY_PCT, PCT_POLICY_PPCT),
                                          testing::Values(1u, 2u, 3u, 4u)),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param) == PCT_POLICY_PCT
                                                    ? "Pct"
                                                    : "Ppct") +
                                    "Depth" + std::to_string(std::get<1>(info.param));
                         });

// For PCT the bound is the exact probability. 100,000 samples notice half of it if it is above
// 1/800: at depths 1 and 2, and at 3 up to four threads. Two million notice it above 1/16,000: at
// depth 3, and at 4 up to four threads. (pct_test.cc has depth 4 exactly, up to three threads.)
TEST_P(Family, TightProgramsAreOnTheBound) {
    const auto [policy, d] = GetParam();
    for (unsigned n = 2; n <= 8; n++) {
        const Program p = tight_program(n, d).program;
        const Share share = found(policy, p, d, n * 10 + d);
        EXPECT_GE(interval(share, kZ).high, bound(p, d)) << text(p, share, bound(p, d));
        if (policy == PCT_POLICY_PCT) {
            EXPECT_LE(interval(share, kZ).low, bound(p, d)) << text(p, share, bound(p, d));
        }
    }
}

TEST_P(Family, RandomProgramsAreAboveTheBound) {
    const auto [policy, d] = GetParam();
    Random random(policy * 100 + d);
    unsigned found_some = 0, all = 0;
    for (unsigned n = 2; n <= 8; n++) {
        for (unsigned i = 0; i < (long_tests() ? 10u : 1u); i++) {
            const Program p = crowded_program(n, d, random).program;
            const Share share = found(policy, p, d, n * 100 + d * 10 + i);
            EXPECT_GE(interval(share, kZ).high, bound(p, d)) << text(p, share, bound(p, d));
            found_some += share.hits > 0;
            all++;
        }
    }
    EXPECT_EQ(found_some, all);
}

} // namespace
} // namespace pctctl::model
