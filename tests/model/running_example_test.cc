// SPDX-License-Identifier: GPL-2.0-only
// The running example of POS (CAV 2018, Fig. 2) has the probabilities that the paper states for it.
#include "exact.h"
#include "programs.h"
#include "sampling.h"

#include <gtest/gtest.h>

namespace pctctl::model {
namespace {

constexpr std::uint64_t kSamples = 200'000;

class RunningExample : public testing::TestWithParam<Waiting> {
protected:
    double sampled(pct_policy policy, unsigned depth, double expected) {
        Mechanism mechanism(program_, GetParam());
        const Share share = sample(
            mechanism, config_for(policy), kSamples, 2018 + policy,
            [&](pct_policy_config& config) { draw_change_points(config, depth, 10); },
            [](const Mechanism& m) { return m.found_bug(); });
        const Interval i = interval(share);
        EXPECT_TRUE(i.contains(expected))
            << share.hits << " of " << share.samples << ": [" << i.low << ", " << i.high << "]";
        return share.value();
    }

    const Program program_ = pos_running_example();
};

INSTANTIATE_TEST_SUITE_P(Waiting, RunningExample,
                         testing::Values(Waiting::kDisabled, Waiting::kAttempts),
                         [](const auto& info) {
                             return info.param == Waiting::kDisabled ? "Disabled" : "Attempts";
                         });

TEST(RunningExampleExact, RandomWalk) {
    const Program p = pos_running_example();
    EXPECT_EQ(random_walk_probability(p, p.bug), Rational(1, 128));
}

TEST(RunningExampleExact, Pct) {
    const Program p = pos_running_example();
    EXPECT_EQ(pct_probability(p, 10, 3, ChangeAt::kArrival, p.bug), Rational(1, 200));
    EXPECT_EQ(pct_probability(p, 10, 3, ChangeAt::kCompletion, p.bug), Rational(1, 200));
}

TEST(RunningExampleExact, BasicPos) {
    const Program p = pos_running_example();
    EXPECT_EQ(pos_probability(p, {.reassign = false}, p.bug), Rational(1, 120));
}

TEST(RunningExampleExact, Pos) {
    const Program p = pos_running_example();
    EXPECT_EQ(pos_probability(p, {}, p.bug), Rational(1, 48));
}

// "Our formal guarantees ensure that any behavior of this program can be covered with a probability
// of at least 1/60."
TEST(RunningExampleExact, PosCoversEveryPartialOrder) {
    const Program p = pos_running_example();
    const auto orders = partial_orders(p, pos_schedules(p, {}), false);
    Rational lowest(1), sum;
    for (const auto& [order, probability] : orders) {
        sum += probability;
        if (probability < lowest)
            lowest = probability;
    }
    EXPECT_EQ(sum, Rational(1));
    EXPECT_FALSE(lowest < Rational(1, 60)) << lowest;
}

// The program that is executed in the kernel (tests/vm/policies_test.cc): its A has just created B.
// By hand for the random walk: of the two choices that lead to B1 A1 there are four now, and three
// ways (B's beginning, A's creation is over, B1, A1, and with the first two, or the second and the
// third, in the other order), so it is 3/4 of 1/128.
TEST(RunningExampleExact, WithBeginnings) {
    const Program p = just_created(pos_running_example());
    EXPECT_EQ(random_walk_probability(p, p.bug), Rational(3, 512));
    EXPECT_EQ(pos_probability(p, {.reassign = false}, p.bug), Rational(1, 280));
    EXPECT_EQ(pos_probability(p, {}, p.bug), Rational(1, 80));
}

// tests/programs/common_object: a single use, against seven of the same object or of another one,
// which begin when the first thread has come to its use.
TEST(CommonObjectExact, ComesLast) {
    constexpr Object told = 3;
    for (const auto& [object, probability] :
         {std::pair{1, Rational(5, 1152)}, {2, Rational(11, 108)}}) {
        Program p{.name = "common object"};
        p.threads = {{release(told), access(1)}, {acquire(told)}};
        p.threads[1].resize(8, access(static_cast<Object>(object)));
        p.bug = [](const Schedule& s, const State&) { return s.back() == 0; };
        p = just_created(p);
        EXPECT_EQ(pos_probability(p, {}, p.bug), probability) << object;
    }
}

TEST_P(RunningExample, RandomWalk) {
    sampled(PCT_POLICY_RANDOM_WALK, 1, 1.0 / 128);
}

TEST_P(RunningExample, Pct) {
    sampled(PCT_POLICY_PCT, 3, 1.0 / 200);
}

TEST_P(RunningExample, BasicPos) {
    sampled(PCT_POLICY_BASIC_POS, 1, 1.0 / 120);
}

TEST_P(RunningExample, Pos) {
    sampled(PCT_POLICY_POS, 1, 1.0 / 48);
}

} // namespace
} // namespace pctctl::model
