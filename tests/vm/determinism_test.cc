// SPDX-License-Identifier: GPL-2.0-only
// The same seed always gives the same order: every program of the zoo that does not depend on time.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness.h"

namespace vmtest {
namespace {

std::vector<Animal> timeless() {
    std::vector<Animal> all = zoo();
    std::erase_if(all, [](const Animal& one) { return one.timers; });
    return all;
}

class Determinism : public testing::TestWithParam<Animal> {};

void one_order(const Animal& animal, const Arguments& more = {}) {
    const unsigned times = long_tests() ? 1000 : animal.heavy() ? 3 : 10;
    // Change points among the first 0x20 steps, which all programs but the smallest have.
    Arguments arguments = {"replay",
                           "--seed",
                           "000000205eed5eed5eed5eed",
                           "--times",
                           std::to_string(times),
                           "--depth",
                           "3",
                           "--jobs",
                           animal.jobs(),
                           "--timeout",
                           animal.heavy() ? "180" : "30"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"--", animal.path()});
    const Call call = pctctl(arguments, std::chrono::seconds(long_tests() ? 7200 : 600));
    ASSERT_TRUE(call.reported) << call;
    const std::vector<RunResult>& results = call.summary.results;
    ASSERT_EQ(times, results.size()) << call;
    for (const RunResult& run : results) {
        EXPECT_GT(run.steps, 0U);
        EXPECT_EQ(results[0].order_hash, run.order_hash) << "run " << run.number;
        EXPECT_EQ(results[0].steps, run.steps) << "run " << run.number;
        EXPECT_EQ(results[0].outcome, run.outcome) << "run " << run.number;
        EXPECT_NE("timeout", run.outcome);
    }
    const bool failed = results[0].outcome != "pass";
    EXPECT_EQ(failed ? 1 : 0, call.status) << call;
    EXPECT_FALSE(animal.healthy && failed) << call;
}

TEST_P(Determinism, OneSeedGivesOneOrder) {
    one_order(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Zoo, Determinism, testing::ValuesIn(timeless()),
                         name_of<testing::TestParamInfo<Animal>>);

// With phases, in programs that have several.
TEST(DeterminismOfPhases, OneSeedGivesOneOrder) {
    for (const char* name : {"condvar_broadcast_ok", "exact3", "healthy_sync", "rwlock_update_ok"})
        one_order(animal(name), {"--join-phases", "on"});
}

// The first test could not fail if all orders had the same hash.
TEST(DifferentSeeds, GiveDifferentOrders) {
    const Call call = pctctl({"--seed", "3", "--runs", "30", "--", built("zoo/exact3")});
    ASSERT_TRUE(call.reported) << call;
    std::vector<std::uint64_t> hashes;
    for (const RunResult& run : call.summary.results)
        hashes.push_back(run.order_hash);
    std::sort(hashes.begin(), hashes.end());
    EXPECT_GE(std::unique(hashes.begin(), hashes.end()) - hashes.begin(), 6);
}

// A campaign with two runs at a time: the same runs, each with the same order, as with one at a
// time. Nothing of one run is felt in another. All steps count for change points: k_eff depends on
// the schedules that earlier k_eff have led to, so that two campaigns need not agree on it.
TEST(Jobs, DoNotInfluenceEachOther) {
    for (const char* program : {"zoo/exact3", "zoo/atomicity_account_bug", "zoo/pid_file_bug",
                                "zoo/deadlock_abba_bug", "zoo/healthy_sync"}) {
        const auto campaign = [&](const char* jobs) {
            return pctctl({"--seed", "11", "--runs", long_tests() ? "1000" : "60", "--keep-going",
                           "--jobs", jobs, "--depth", "3", "--skip-sequential", "off", "--",
                           built(program)},
                          std::chrono::seconds(long_tests() ? 1200 : 120));
        };
        const Call one = campaign("1");
        const Call two = campaign("2");
        ASSERT_TRUE(one.reported) << one;
        ASSERT_TRUE(two.reported) << two;
        EXPECT_EQ(one.status, two.status);
        ASSERT_EQ(one.summary.results.size(), two.summary.results.size());
        // What k a run's change points are drawn from may differ while it still grows.
        unsigned same_seed = 0;
        for (std::size_t i = 0; i < one.summary.results.size(); ++i) {
            const RunResult& a = one.summary.results[i];
            const RunResult& b = two.summary.results[i];
            EXPECT_EQ(a.seed_stream, b.seed_stream);
            if (a.seed != b.seed)
                continue;
            ++same_seed;
            EXPECT_EQ(a.order_hash, b.order_hash) << program << ", seed " << a.seed;
            EXPECT_EQ(a.outcome, b.outcome) << program << ", seed " << a.seed;
        }
        EXPECT_GT(same_seed, one.summary.results.size() / 2) << program;
    }
}

} // namespace
} // namespace vmtest
