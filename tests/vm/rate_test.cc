// SPDX-License-Identifier: GPL-2.0-only
// Programs whose failure rate has been computed by hand (tests/zoo/rate_*.c) must fail that often.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness.h"

namespace vmtest {
namespace {

// Confidence of the intervals that must contain the true rate. The seeds are fixed, so a correct
// scheduler does not run the risk of 1e-5 again each time, but only when a change alters what the
// seeds lead to.
constexpr double kConfidence = 0.99999;

struct Case {
    std::string name;
    Animal animal;
    unsigned depth;
};

std::ostream& operator<<(std::ostream& stream, const Case& one) {
    return stream << one.name;
}

// One case for each line "// rate:". Of cases with the same shape, and of those with rate 0, the
// short test takes one.
std::vector<Case> cases() {
    const std::vector<std::string> sample = {
        "rate_d1_two_1",    "rate_d1_four_1",   "rate_d1_order_1",
        "rate_d2_fork_2",   "rate_d2_three_2",  "rate_d2_tight_2",
        "rate_d2_window_2", "rate_d3_window_2", "rate_d3_window_3"};
    std::vector<Case> all;
    for (const Animal& animal : zoo())
        for (const Rate& rate : animal.rates) {
            const std::string name = animal.name + "_" + std::to_string(rate.depth);
            if (long_tests() || std::find(sample.begin(), sample.end(), name) != sample.end())
                all.push_back({name, animal, rate.depth});
        }
    return all;
}

struct Tries {
    std::uint64_t trials = 0;
    std::uint64_t failures = 0;
};

// Counts the runs whose seed has the final k. The first run, which measures k, does not.
Tries tries(const Call& call, unsigned depth) {
    Tries result;
    for (const RunResult& run : call.summary.results) {
        if (depth > 1 && run.seed_k != call.summary.k_eff)
            continue;
        ++result.trials;
        result.failures += run.outcome != "pass";
    }
    return result;
}

class Rates : public testing::TestWithParam<Case> {};

TEST_P(Rates, AreThoseComputedByHand) {
    const auto& [name, animal, depth] = GetParam();
    const auto rate = std::find_if(animal.rates.begin(), animal.rates.end(),
                                   [d = depth](const Rate& one) { return one.depth == d; });
    ASSERT_NE(animal.rates.end(), rate);
    const unsigned runs = long_tests() ? 3001 : 301;
    // No spin limit: when the host stops the emulated machine for half a second, the running thread
    // looks to the scheduler as if it had been spinning all the time.
    const Call call =
        pctctl({"--focus", "off", "--spin-limit", "0", "--seed", "517", "--runs",
                std::to_string(runs), "--keep-going", "--jobs", "2", "--depth",
                std::to_string(depth), "--points", animal.points, "--", animal.path()},
               std::chrono::seconds(runs));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(call.summary.failures > 0 ? 1 : 0, call.status) << call;
    ASSERT_EQ(runs, call.summary.runs_done) << call;
    ASSERT_EQ(animal.threads, call.summary.threads) << call;
    ASSERT_EQ(0U, call.summary.interventions) << call;

    const std::uint64_t k = call.summary.k_eff;
    for (const RunResult& run : call.summary.results) {
        EXPECT_EQ(call.summary.steps, run.steps) << "run " << run.number << " of " << call;
        if (run.outcome != "pass") {
            EXPECT_EQ(animal.outcome, run.outcome) << call;
        }
    }
    const auto [trials, failures] = tries(call, depth);
    ASSERT_GE(trials, runs - 41U); // without the first runs, which measure k

    const double p = rate->at(static_cast<double>(k));
    const Interval wide = clopper_pearson(failures, trials, kConfidence);
    const Interval interval = clopper_pearson(failures, trials, 0.99);
    std::cout << name << ": " << failures << " of " << trials
              << " runs failed, n = " << animal.threads << ", k = " << k << ", 99 % interval "
              << interval.low << " to " << interval.high << ", exact " << p << "\n";
    EXPECT_LE(wide.low, p);
    EXPECT_GE(wide.high, p);
    if (p == 0) {
        EXPECT_EQ(0U, failures);
        return;
    }
    EXPECT_GT(failures, 0U);
    if (depth >= animal.depth) {
        const double bound =
            1 / (animal.threads * std::pow(static_cast<double>(k), static_cast<double>(depth - 1)));
        EXPECT_GE(wide.high, bound);
        EXPECT_NEAR(bound, call.summary.bound_run, bound * 1e-9);
    }
}

INSTANTIATE_TEST_SUITE_P(Zoo, Rates, testing::ValuesIn(cases()),
                         name_of<testing::TestParamInfo<Case>>);

// With --join-phases the rates are not easily computed by hand. But PCT's bound holds for bugs
// within one phase, such as these.
TEST(RatesOfPhases, AreNotBelowTheBound) {
    const unsigned runs = long_tests() ? 3001 : 301;
    struct Program {
        const char* name;
        unsigned depth;
        const char* points;
    };
    for (const auto& [name, depth, points] :
         {Program{"rate_d2_fork", 2, "syscall"}, Program{"rate_d3_window", 3, "pthread"}}) {
        const Call call = pctctl({"--focus", "off", "--spin-limit", "0", "--seed", "518", "--runs",
                                  std::to_string(runs), "--keep-going", "--jobs", "2", "--depth",
                                  std::to_string(depth), "--points", points, "--join-phases", "on",
                                  "--", built("zoo/" + std::string(name))},
                                 std::chrono::seconds(runs));
        ASSERT_EQ(1, call.status) << call;
        const double n = call.summary.threads;
        const auto k = static_cast<double>(call.summary.k_eff);
        const double bound = 1 / (n * std::pow(k, depth - 1.0));
        EXPECT_NEAR(bound, call.summary.bound_run, bound * 1e-9);
        const auto [trials, failures] = tries(call, depth);
        ASSERT_GE(trials, runs - 41U); // without the first runs, which measure k
        EXPECT_GE(clopper_pearson(failures, trials, kConfidence).high, bound)
            << failures << ", " << call;
        std::cout << name << ": " << failures << " of " << trials << " runs failed, n = " << n
                  << ", k_eff = " << k << ", bound " << bound << "\n";
    }
}

} // namespace
} // namespace vmtest
