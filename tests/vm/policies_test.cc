// SPDX-License-Identifier: GPL-2.0-only
// The policies other than PCT in the kernel: each is reproducible, lets one thread execute at a
// time and has the probabilities that its paper states.
#include <gtest/gtest.h>

#include <cmath>

#include "edges.h"
#include "harness.h"
#include "stride_ratio.h"

namespace vmtest {
namespace {

class Policy : public testing::TestWithParam<const char*> {};

TEST_P(Policy, IsReproducibleAndSerial) {
    for (const char* program : {"zoo/exact3", "zoo/healthy_sync", "zoo/healthy_exec"}) {
        if (!long_tests() && program != std::string_view("zoo/healthy_sync"))
            continue;
        const auto campaign = [&](const char* jobs) {
            return pctctl({"--policy", GetParam(), "--verify", "--seed", "5", "--runs",
                           long_tests() ? "300" : "10", "--keep-going", "--depth", "3", "--jobs",
                           jobs, "--", built(program)},
                          std::chrono::seconds(long_tests() ? 1200 : 120));
        };
        const Call one = campaign("1");
        const Call two = campaign("4"); // also runs that share a CPU
        ASSERT_TRUE(one.reported) << one;
        ASSERT_TRUE(two.reported) << two;
        EXPECT_EQ(0, one.status) << one;
        ASSERT_TRUE(one.summary.violations) << one;
        EXPECT_EQ(0U, *one.summary.violations) << one;
        EXPECT_EQ(0U, two.summary.violations.value_or(1)) << two;
        ASSERT_EQ(one.summary.results.size(), two.summary.results.size());
        for (std::size_t i = 0; i < one.summary.results.size(); ++i) {
            const RunResult& a = one.summary.results[i];
            const RunResult& b = two.summary.results[i];
            EXPECT_GT(a.steps, 0U);
            if (a.seed == b.seed && a.strides == b.strides) {
                EXPECT_EQ(a.order_hash, b.order_hash) << program << ", seed " << a.seed;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Stepwise, Policy,
                         testing::Values("random-walk", "basic-pos", "pos", "rapos", "stride",
                                         "preempt-always", "preempt-bound", "atom-fuzzer"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::erase(name, '-');
                             return name;
                         });
INSTANTIATE_TEST_SUITE_P(OfPctsKind, Policy, testing::Values("rpro"));

// Two that only end because all threads get to execute.
class Parallel : public testing::TestWithParam<const char*> {};

TEST_P(Parallel, ThreadsExecuteBesideEachOther) {
    for (const char* program : {"zoo/healthy_spin_flag", "zoo/healthy_spin_atomic"}) {
        const Call call =
            pctctl({"--policy", GetParam(), "--verify", "--seed", "5", "--runs", "10",
                    "--keep-going", "--spin-limit", "0", "--timeout", "20", "--", built(program)},
                   std::chrono::seconds(240));
        ASSERT_TRUE(call.reported) << call;
        EXPECT_EQ(0, call.status) << call;
        EXPECT_EQ(10U, call.summary.runs_done) << call;
        EXPECT_EQ(0U, call.summary.failures) << call;
        EXPECT_EQ(0U, call.summary.violations.value_or(1)) << call;
    }
}

INSTANTIATE_TEST_SUITE_P(Free, Parallel, testing::Values("none", "random-sleep"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::erase(name, '-');
                             return name;
                         });

// The seeds' permutations decide which of two threads goes first, whatever executes beside them:
// PPCT finds in the same runs what PCT finds.
TEST(Ppct, FindsWhatPctFinds) {
    const auto failing = [](const char* policy) {
        const Call call = pctctl({"--policy", policy, "--verify", "--seed", "9", "--runs", "60",
                                  "--keep-going", "--depth", "1", "--", built("zoo/rate_d1_four")},
                                 std::chrono::seconds(240));
        EXPECT_TRUE(call.reported) << call;
        EXPECT_EQ(60U, call.summary.runs_done) << call;
        EXPECT_EQ(0U, call.summary.violations.value_or(1)) << call;
        std::vector<std::uint64_t> streams; // they have each their own k
        for (const RunResult& run : call.summary.results)
            if (run.outcome != "pass")
                streams.push_back(run.seed_stream);
        return streams;
    };
    const std::vector<std::uint64_t> with_pct = failing("pct");
    EXPECT_GT(with_pct.size(), 0U);
    EXPECT_EQ(with_pct, failing("ppct"));
}

// Four runs on two CPUs: threads lose their CPUs all the time, and hooks wait for each other.
TEST(Ppct, LowSetStandsBackWhileRunsShareCpus) {
    const Call call =
        pctctl({"--policy", "ppct", "--verify", "--seed", "23", "--runs", "300", "--keep-going",
                "--depth", "3", "--jobs", "4", "--timeout", "30", "--", built("zoo/healthy_sync")},
               std::chrono::seconds(600));
    ASSERT_TRUE(call.reported) << call;
    EXPECT_EQ(0, call.status) << call;
    EXPECT_EQ(300U, call.summary.runs_done) << call;
    EXPECT_EQ(0U, call.summary.violations.value_or(1)) << call;
}

struct Figure {
    const char* policy;
    double probability;
};

// POS (CAV 2018), section 2.3 and 4: how often its running example shows its bug.
class RunningExample : public testing::TestWithParam<Figure> {};

TEST_P(RunningExample, ShowsItsBugAsOftenAsThePaperSays) {
    const auto [policy, probability] = GetParam();
    const unsigned runs = long_tests() ? 20000 : 1000;
    const Call call = pctctl({"--policy", policy, "--seed", "2018", "--runs", std::to_string(runs),
                              "--keep-going", "--jobs", "2", "--points", "pthread", "--",
                              built("programs/pos_example")},
                             std::chrono::seconds(runs));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(runs, call.summary.runs_done) << call;
    EXPECT_EQ(2U, call.summary.threads);
    EXPECT_EQ(12U, call.summary.steps) << "ten events, the creation of B and the join";
    const Interval interval = clopper_pearson(call.summary.failures, runs, 0.999);
    std::cout << policy << ": " << call.summary.failures << " of " << runs << ", 99.9 % interval "
              << interval.low << " to " << interval.high << ", exact " << probability << "\n";
    EXPECT_LE(interval.low, probability);
    EXPECT_GE(interval.high, probability);
    EXPECT_GT(call.summary.failures, 0U);
    EXPECT_EQ(0, call.summary.bound_run) << "it promises nothing of that kind";
    // By hand: A1 with B1 and B2 (both, unless A1 is the first), A2 with B3, A3 with B4, A4 with
    // B6. A2 is over before B4, so it does not race with B5.
    EXPECT_EQ(policy == std::string_view("pos") ? std::optional<std::uint64_t>(5) : std::nullopt,
              call.summary.races);
}

INSTANTIATE_TEST_SUITE_P(Pos, RunningExample,
                         testing::Values(Figure{"random-walk", 1.0 / 128}, Figure{"pos", 1.0 / 48},
                                         Figure{"basic-pos", 1.0 / 120}),
                         [](const auto& info) {
                             std::string name = info.param.policy;
                             std::erase(name, '-');
                             return name;
                         });

// Main's length is 42, with the creation and the join. Its 41 steps before the join come before the
// thread's only one as often as the analysis of the paper says, with the s_max that follows from
// that length and the number of runs; not once under the random walk, which is stride's first run.
class MeasuredStride : public testing::TestWithParam<unsigned> {};

TEST_P(MeasuredStride, MeetsTheLeastLikelyEdge) {
    const unsigned runs = 400;
    const std::string edges = std::to_string(GetParam());
    const Call call = pctctl({"--policy", "stride", "--stride-edges", edges, "--seed", "11",
                              "--runs", std::to_string(runs), "--keep-going", "--jobs", "2",
                              "--points", "pthread", "--", built("programs/unlikely_edge")},
                             std::chrono::seconds(runs));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(runs, call.summary.runs_done) << call;
    EXPECT_EQ(43U, call.summary.steps);
    const auto stride_max =
        static_cast<std::size_t>(std::ceil(42 / ::pctctl::stride_ratio(runs, GetParam())));
    // The identity of the first thread, in hex.
    const std::string main = "5043542d726f6f74:" + std::to_string(stride_max);
    EXPECT_EQ("1", call.summary.results[0].strides);
    for (std::size_t i = 5; i < runs; ++i) // with two jobs what is measured arrives late
        EXPECT_NE(std::string::npos, call.summary.results[i].strides.find(main)) << i;
    // The first choice is made before there is another thread.
    const double probability = 2 * ::pctctl::model::least_likely_edge(41, stride_max);
    const Interval interval = clopper_pearson(call.summary.failures, runs, 0.999);
    std::cout << edges << " edges, s_max " << stride_max << ": " << call.summary.failures << " of "
              << runs << ", 99.9 % interval " << interval.low << " to " << interval.high
              << ", exact " << probability << "\n";
    EXPECT_LE(interval.low, probability);
    EXPECT_GE(interval.high, probability);
    EXPECT_GT(call.summary.failures, 0U);
}

INSTANTIATE_TEST_SUITE_P(Edges, MeasuredStride, testing::Values(1U, 2U));

// POS draws a new priority for a waiting event when another one has used its object. So a single
// use, against seven by another process, comes last in 1 of 2^7 runs; were they two objects, in 1
// of 8.
class CommonObject : public testing::TestWithParam<const char*> {};

TEST_P(CommonObject, IsOneForTwoProcesses) {
    const bool apart = GetParam() == std::string_view("apart");
    const Call call = pctctl({"--policy", "pos", "--seed", "7", "--runs", "120", "--keep-going",
                              "--jobs", "4", "--", built("programs/common_object"), GetParam()},
                             std::chrono::seconds(240));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(120U, call.summary.runs_done) << call;
    for (const RunResult& run : call.summary.results)
        ASSERT_TRUE(run.outcome == "pass" || run.exit_code == 1) << call;
    const Interval interval = clopper_pearson(call.summary.failures, 120, 0.999);
    std::cout << GetParam() << ": last in " << call.summary.failures << " of 120 runs\n";
    const double expected = apart ? 1.0 / 8 : 1.0 / 128;
    const double otherwise = apart ? 1.0 / 128 : 1.0 / 8;
    EXPECT_TRUE(interval.low <= expected && expected <= interval.high);
    EXPECT_FALSE(interval.low <= otherwise && otherwise <= interval.high);
}

INSTANTIATE_TEST_SUITE_P(Pos, CommonObject, testing::Values("unix", "tcp", "memory", "apart"));

} // namespace
} // namespace vmtest
