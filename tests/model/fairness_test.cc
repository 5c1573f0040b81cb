// SPDX-License-Identifier: GPL-2.0-only
// The fairness workaround of POS (CAV 2018), section 5: after some number of yields all priorities
// are drawn again.
#include "programs.h"
#include "sampling.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pctctl::model {
namespace {

// A thread yields until another one has executed its only event.
Program spinning() {
    Program p{.name = "spinning", .variables = {0}};
    p.threads = {
        {{.op = Op::kYield, .effect = [](State& s) { return s.variables[0] ? kNext : 0; }}},
        {{.effect = [](State& s) {
            s.variables[0] = 1;
            return kNext;
        }}}};
    return p;
}

class Fairness : public testing::TestWithParam<pct_policy> {
protected:
    static constexpr std::uint64_t kSamples = 200'000;
    static constexpr std::size_t kLimit = 400;

    // Element n: in how many runs there are at least n yields before the event.
    static std::vector<Share> spun(std::uint64_t yields_per_reset) {
        const Program p = spinning();
        Mechanism mechanism(p);
        mechanism.set_max_steps(kLimit);
        pct_policy_config config = config_for(GetParam());
        config.yields_per_reset = yields_per_reset;
        std::vector<Share> at_least(kLimit, Share{0, kSamples});
        sample(
            mechanism, config, kSamples, 12, [](pct_policy_config&) {},
            [&](const Mechanism& m) {
                const Schedule& s = m.schedule();
                const auto yields = std::find(s.begin(), s.end(), 1) - s.begin();
                for (std::size_t n = 0; n < kLimit && n <= static_cast<std::size_t>(yields); n++)
                    at_least[n].hits++;
                return true;
            });
        return at_least;
    }
};

INSTANTIATE_TEST_SUITE_P(Policy, Fairness, testing::Values(PCT_POLICY_POS, PCT_POLICY_BASIC_POS),
                         [](const auto& info) {
                             return info.param == PCT_POLICY_POS ? "Pos" : "BasicPos";
                         });

// The event comes after n yields if its priority is below n others, each drawn for one yield. That
// has probability 1/(n + 1), so the mean number of yields is infinite.
TEST_P(Fairness, WithoutItLongWaitsAreLikely) {
    const std::vector<Share> spun = Fairness::spun(0);
    for (const std::size_t n : {1u, 2u, 9u, 10u, 19u, 100u, 399u})
        EXPECT_TRUE(interval(spun[n], 4.4).contains(1.0 / static_cast<double>(n + 1)))
            << n << ": " << spun[n].hits;
}

// At every tenth yield all priorities are drawn again, also that of the yield itself. So nine
// yields are over by then, and each such period passes without the event with probability 1/10.
TEST_P(Fairness, EveryTenthYieldAllBeginsAgain) {
    const std::vector<Share> spun = Fairness::spun(10);
    const auto expected = [](std::size_t n) {
        double p = 1;
        for (std::size_t left = 9; n > left; left = 10) {
            p /= static_cast<double>(left + 1);
            n -= left;
        }
        return p / static_cast<double>(n + 1);
    };
    EXPECT_DOUBLE_EQ(expected(9), 1.0 / 10);
    EXPECT_DOUBLE_EQ(expected(10), 1.0 / 20);
    for (const std::size_t n : {1u, 5u, 9u, 10u, 14u, 19u, 20u, 29u, 30u})
        EXPECT_TRUE(interval(spun[n], 4.4).contains(expected(n)))
            << n << ": " << spun[n].hits << " expected " << expected(n);
    EXPECT_EQ(spun[100].hits, 0u);
}

} // namespace
} // namespace pctctl::model
