// SPDX-License-Identifier: GPL-2.0-only
// The same seed always gives the same order of steps, for every program of the zoo that does not
// depend on time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "harness.h"

namespace vmtest {
namespace {

std::vector<Animal> timeless() {
    std::vector<Animal> all = zoo();
    std::erase_if(all, [](const Animal& one) { return one.timers; });
    return all;
}

// What all runs with one seed must have in common.
auto traits(const RunResult& run) {
    return std::tuple(run.order_hash, run.steps, run.outcome, run.exit_code, run.signal);
}

// Replays one seed, `times` times with each of these programs. All must allow the same --jobs.
void one_order_each(const std::vector<Animal>& animals, unsigned times, const char* timeout,
                    const Arguments& more = {}) {
    std::vector<std::string> programs;
    for (const Animal& animal : animals)
        programs.push_back(animal.path());
    const InTurn all(programs, times);
    // The first eight digits of the seed are k: change points are drawn among the first 0x30 steps,
    // which all but the smallest programs make. The first dozen of them are those of in_turn,
    // before it executes the program.
    Arguments arguments = {"replay",
                           "--seed",
                           "000000305eed5eed5eed5eed",
                           "--times",
                           std::to_string(all.runs()),
                           "--depth",
                           "3",
                           "--jobs",
                           animals[0].jobs(),
                           "--timeout",
                           timeout};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), all.command().begin(), all.command().end());
    const Call call = pctctl(arguments, std::chrono::seconds(long_tests() ? 7200 : 600));
    ASSERT_TRUE(call.reported) << call;
    std::vector<RunResult> results = call.summary.results;
    ASSERT_EQ(all.runs(), results.size()) << call;

    bool failed = false;
    for (std::size_t i = 0; i < animals.size(); ++i) {
        const Animal& animal = animals[i];
        const auto first = results.begin() + static_cast<std::ptrdiff_t>(i * times);
        // The last run of one program and the first of the next may be swapped, see InTurn.
        const bool last = i + 1 == animals.size();
        if (!last && traits(first[times]) == traits(first[1]) &&
            traits(first[times - 1]) == traits(first[times + 1]))
            std::swap(first[times - 1], first[times]);
        for (unsigned j = 0; j < times; ++j) {
            EXPECT_GT(first[j].steps, 0U);
            EXPECT_EQ(traits(first[1]), traits(first[j])) << animal.name << ", run " << j;
            EXPECT_NE("timeout", first[j].outcome) << animal.name;
            EXPECT_LT(first[j].exit_code, 70)
                << animal.name << ": " << call; // 70 and more: in_turn itself has failed
        }
        EXPECT_FALSE(animal.healthy && first[1].outcome != "pass") << animal.name;
        failed = failed || first[1].outcome != "pass";
    }
    EXPECT_EQ(failed ? 1 : 0, call.status) << call;
}

// Groups of programs that can share a campaign, at most ten in each.
std::vector<std::vector<Animal>> groups(std::string_view jobs) {
    std::vector<std::vector<Animal>> all;
    for (const Animal& animal : timeless()) {
        if (animal.heavy() || animal.jobs() != jobs)
            continue;
        if (all.empty() || all.back().size() == 10)
            all.emplace_back();
        all.back().push_back(animal);
    }
    return all;
}

class Determinism : public testing::TestWithParam<std::vector<Animal>> {};

TEST_P(Determinism, OneSeedGivesOneOrder) {
    one_order_each(GetParam(), long_tests() ? 1000 : 10, "30");
}

std::string first_name(const testing::TestParamInfo<std::vector<Animal>>& info) {
    return info.param[0].name;
}

INSTANTIATE_TEST_SUITE_P(Zoo, Determinism, testing::ValuesIn(groups("2")), first_name);
INSTANTIATE_TEST_SUITE_P(ZooWithOneJob, Determinism, testing::ValuesIn(groups("1")), first_name);

TEST(DeterminismOfManyThreads, OneSeedGivesOneOrder) {
    for (const Animal& animal : timeless())
        if (animal.heavy())
            one_order_each({animal}, long_tests() ? 1000 : 3, "180");
}

// With --join-phases, in programs that have several phases.
TEST(DeterminismOfPhases, OneSeedGivesOneOrder) {
    one_order_each({animal("condvar_broadcast_ok"), animal("exact3"), animal("healthy_sync"),
                    animal("rwlock_update_ok")},
                   long_tests() ? 1000 : 10, "30", {"--join-phases", "on"});
}

// What a step means for those that wait at one on the same object is known before anybody looks for
// the next thread, although its own thread may sleep by then, and another CPU look first. While two
// CPUs could look at the same time, 44 of 440 repetitions had another order (before beginnings of
// threads were steps): 40 are all alike with a probability of 1.5 %.
TEST(DeterminismOfReactions, OneSeedGivesOneOrder) {
    for (const char* where : {"together", "apart"}) {
        const unsigned some =
            std::strcmp(where, "apart") == 0 ? 10 : 40; // the CPUs take turns there
        const unsigned times = long_tests() ? 1000 : some;
        const Call call =
            pctctl({"replay", "--seed", "00000096d322c19fb6d4e0fe", "--times",
                    std::to_string(times), "--policy", "pos", "--points", "pthread", "--spin-limit",
                    "0", "--jobs", "1", "--", built("programs/sleeps_between_steps"), where},
                   std::chrono::seconds(120 + 2 * times));
        ASSERT_TRUE(call.reported) << call;
        ASSERT_EQ(times, call.summary.results.size()) << call;
        EXPECT_EQ(0, call.status) << call;
        for (const RunResult& run : call.summary.results) {
            EXPECT_EQ(158U, run.steps); // 50 of each thread; two creations, beginnings, joins
            EXPECT_EQ(traits(call.summary.results[0]), traits(run)) << where << ", " << run.number;
        }
    }
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

// With --jobs 2 a campaign makes the same runs, with the same orders, as with --jobs 1: runs do not
// influence each other. All steps count for change points here, so both campaigns draw them from
// the same k. They need not agree on k_eff, which depends on the schedules of earlier runs.
TEST(Jobs, DoNotInfluenceEachOther) {
    std::vector<const char*> programs = {"zoo/exact3", "zoo/pid_file_bug", "zoo/deadlock_abba_bug"};
    if (long_tests())
        programs.insert(programs.end(), {"zoo/atomicity_account_bug", "zoo/healthy_sync"});
    for (const char* program : programs) {
        const auto campaign = [&](const char* jobs) {
            return pctctl({"--seed", "11", "--runs", long_tests() ? "1000" : "40", "--keep-going",
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
        // While k still grows, a run may draw its change points from a smaller k than its twin.
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
