// SPDX-License-Identifier: GPL-2.0-only
// The code of each randomized policy must have the distribution of its algorithm, over schedules or
// over partial orders. The distribution is computed exactly for small random programs, also with
// locks.
#include "exact.h"
#include "programs.h"
#include "sampling.h"

#include <gtest/gtest.h>

namespace pctctl::model {
namespace {

constexpr std::uint64_t kSamples = 100'000;

class Distribution : public testing::TestWithParam<Waiting> {
protected:
    // key_of(schedule): the class of the distribution to which a schedule belongs.
    template <typename Key, typename KeyOf, typename Prepare>
    void expect(const Program& program, const std::map<Key, Rational>& exact,
                pct_policy_config config, KeyOf key_of, Prepare prepare) {
        Rational sum;
        for (const auto& [key, probability] : exact)
            sum += probability;
        ASSERT_EQ(sum, Rational(1));
        std::map<Key, std::uint64_t> counts;
        Mechanism mechanism(program, GetParam());
        sample(mechanism, config, kSamples, pct_mix(++seed_), prepare,
               [&](const Mechanism& m) { return ++counts[key_of(m.schedule())] > 0; });
        std::vector<double> probabilities;
        std::vector<std::uint64_t> observed;
        for (const auto& [key, probability] : exact) {
            probabilities.push_back(probability.value());
            observed.push_back(counts[key]);
        }
        EXPECT_EQ(counts.size(), exact.size()) << "there are schedules the algorithm never makes";
        const ChiSquare fit = chi_square(probabilities, observed);
        EXPECT_TRUE(fit.fits()) << program.name << ": " << fit.statistic << " > " << fit.limit
                                << " with " << fit.classes << " classes";
        classes_ += fit.classes - 1;
    }

    template <typename Prepare>
    void expect_schedules(const Program& program, const Schedules& exact, pct_policy_config config,
                          Prepare prepare) {
        expect(program, exact, config, [](const Schedule& s) { return s; }, prepare);
    }
    void expect_schedules(const Program& program, const Schedules& exact, pct_policy policy) {
        expect_schedules(program, exact, config_for(policy), [](pct_policy_config&) {});
    }

    // Programs with two or three threads. Every second one has locks.
    static std::vector<Program> programs(int number, bool reads = false, bool small = false) {
        Random random(reads ? 31 : 30);
        std::vector<Program> result;
        for (int i = 0; i < number; i++) {
            result.push_back(random_program({.threads = i % 3 ? 3u : 2u,
                                             .events = i % 3 && small ? 2u : 3u,
                                             .objects = 2,
                                             .read_percent = reads ? 50u : 0u,
                                             .locks = i % 2 == 1,
                                             .forks = false},
                                            random));
            result.back().name = "program " + std::to_string(i);
        }
        return result;
    }

    void TearDown() override { EXPECT_GT(classes_, 10u); } // else nothing was compared

    std::uint64_t seed_ = 0;
    std::size_t classes_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Waiting, Distribution,
                         testing::Values(Waiting::kDisabled, Waiting::kAttempts),
                         [](const auto& info) {
                             return info.param == Waiting::kDisabled ? "Disabled" : "Attempts";
                         });

TEST_P(Distribution, RandomWalk) {
    for (const Program& p : programs(4))
        expect_schedules(p, random_walk_schedules(p), PCT_POLICY_RANDOM_WALK);
}

TEST_P(Distribution, BasicPos) {
    for (const Program& p : programs(6))
        expect_schedules(p, pos_schedules(p, {.reassign = false}), PCT_POLICY_BASIC_POS);
}

TEST_P(Distribution, Pos) {
    for (const Program& p : programs(6, false, true))
        expect_schedules(p, pos_schedules(p, {}), PCT_POLICY_POS);
}

TEST_P(Distribution, PosReadOnly) {
    for (const Program& p : programs(6, true, true)) {
        pct_policy_config config = config_for(PCT_POLICY_POS);
        config.options = PCT_OPTION_READ_ONLY;
        expect_schedules(p, pos_schedules(p, {.reassign = true, .read_only = true}), config,
                         [](pct_policy_config&) {});
    }
}

TEST_P(Distribution, Stride) {
    for (const Program& p : programs(4)) {
        pct_policy_config config = config_for(PCT_POLICY_STRIDE);
        config.stride_max = 3;
        expect_schedules(p, stride_schedules(p, 3), config, [](pct_policy_config&) {});
    }
}

TEST_P(Distribution, PreemptAlways) {
    for (const Program& p : programs(4)) {
        if (GetParam() == Waiting::kAttempts && p.may_block())
            continue; // see the policy's deviations
        expect_schedules(p, preempt_always_schedules(p), PCT_POLICY_PREEMPT_ALWAYS);
    }
}

TEST_P(Distribution, PreemptBound) {
    for (const Program& p : programs(4)) {
        if (GetParam() == Waiting::kAttempts && p.may_block())
            continue; // see the policy's deviations
        const unsigned k = static_cast<unsigned>(p.nr_events());
        expect_schedules(p, preempt_bound_schedules(p, 2, k), config_for(PCT_POLICY_PREEMPT_BOUND),
                         [&](pct_policy_config& config) { draw_change_points(config, 3, k); });
    }
}

TEST_P(Distribution, AtomFuzzer) {
    for (Program& p : programs(4)) {
        // A balance is read in one critical section and written in another.
        p.threads = {{lock(1), read(2), unlock(1), lock(1), access(2), unlock(1)},
                     {lock(1), access(2), unlock(1)}};
        if (p.name != "program 0")
            p.threads.push_back({access(2), lock(3), unlock(3), lock(3), unlock(3)});
        if (p.name == "program 3")
            p.threads[1].push_back(lock(3)), p.threads[1].push_back(unlock(3));
        expect_schedules(p, atom_fuzzer_schedules(p), PCT_POLICY_ATOM_FUZZER);
    }
}

TEST_P(Distribution, Rapos) {
    for (const bool read_only : {false, true}) {
        for (const Program& p : programs(6, read_only)) {
            if (GetParam() == Waiting::kAttempts && p.may_block())
                continue; // see the policy's deviations
            pct_policy_config config = config_for(PCT_POLICY_RAPOS);
            config.options = read_only ? PCT_OPTION_READ_ONLY : 0;
            expect(
                p, rapos_partial_orders(p, read_only), config,
                [&](const Schedule& s) { return partial_order(p, s, read_only); },
                [](pct_policy_config&) {});
        }
    }
}

// Programs whose threads start others. A new thread comes to its first step before anything is
// decided.
TEST_P(Distribution, WithForks) {
    Random random(33);
    for (int i = 0; i < 3; i++) {
        const Program p = random_program({.threads = 3,
                                          .events = 2,
                                          .objects = 2,
                                          .read_percent = 0,
                                          .locks = false,
                                          .forks = true},
                                         random);
        expect_schedules(p, random_walk_schedules(p), PCT_POLICY_RANDOM_WALK);
        expect_schedules(p, pos_schedules(p, {}), PCT_POLICY_POS);
        expect_schedules(p, pos_schedules(p, {.reassign = false}), PCT_POLICY_BASIC_POS);
        expect_schedules(p, preempt_always_schedules(p), PCT_POLICY_PREEMPT_ALWAYS);
        pct_policy_config config = config_for(PCT_POLICY_STRIDE);
        config.stride_max = 2;
        expect_schedules(p, stride_schedules(p, 2), config, [](pct_policy_config&) {});
    }
}

TEST(RandomSleep, SleepsWithTheProbability) {
    pct_policy_config config = config_for(PCT_POLICY_RANDOM_SLEEP);
    config.sleep_one_in = 30;
    config.sleep_ns = 1000;
    config.seed = 3;
    pct_policy_run run{};
    pct_policy_thread thread{};
    const pct_policy_view view{};
    Share share;
    for (; share.samples < 300'000; share.samples++) {
        const std::uint64_t ns = pct_policy_arrive(&config, &run, &thread, &view);
        ASSERT_TRUE(ns == 0 || ns == 1000);
        share.hits += ns > 0;
    }
    EXPECT_TRUE(interval(share).contains(1.0 / 30)) << share.value();
}

// The distribution of the alarms (clock.h): P(E > x) = exp(-x).
TEST(Clock, IsExponential) {
    constexpr int kSteps = 12;
    Share above[kSteps];
    for (std::uint64_t i = 0; i < 1'000'000; i++) {
        const double e =
            static_cast<double>(pct_exponential(pct_random(1, PCT_RAND_CLOCK, i))) / 0x1p32;
        for (int x = 0; x < kSteps; x++) {
            above[x].samples++;
            above[x].hits += e > x * 0.75;
        }
    }
    for (int x = 0; x < kSteps; x++)
        EXPECT_TRUE(interval(above[x]).contains(std::exp(-x * 0.75))) << x;
    for (const double u : {1.0, 0.999, 0.5, 0.25, 0.1, 1e-6, 1e-15})
        EXPECT_NEAR(static_cast<double>(pct_exponential(
                        static_cast<std::uint64_t>(u == 1.0 ? 0x1p64 - 2048 : u * 0x1p64))) /
                        0x1p32,
                    -std::log(u), 1e-6 + 1e-6 * -std::log(u));
}

} // namespace
} // namespace pctctl::model
