// SPDX-License-Identifier: GPL-2.0-only
// The policies other than PCT, in the kernel. Each gives the same schedule for the same seed, lets
// one thread execute at a time (if it is serial), and has the probabilities that its paper states.
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>

#include "dispatch.h"
#include "edges.h"
#include "harness.h"
#include "pctctl/identity.h"
#include "plan/policies.h"
#include "plan/stride_ratio.h"

namespace vmtest {
namespace {

// Confidence of the intervals that must contain a true rate. The seeds are fixed, so a correct
// scheduler does not run the risk of 1e-5 again each time, but only when a change alters what the
// seeds lead to.
constexpr double kConfidence = 0.99999;

std::vector<std::string> serial_policies() {
    return {"random-walk",    "basic-pos",     "pos",         "rapos", "stride",
            "preempt-always", "preempt-bound", "atom-fuzzer", "rpro"};
}

// Two campaigns with one seed, one with --jobs 1 and one with --jobs 4, have the same orders. The
// witness sees one thread execute at a time.
void reproducible_and_serial(const std::string& policies, const std::string& program,
                             unsigned runs) {
    const auto campaign = [&](const char* jobs) {
        return pctctl({"--focus", "off", "--policy", policies, "--verify", "--seed", "5", "--runs",
                       std::to_string(runs), "--keep-going", "--depth", "3", "--jobs", jobs, "--",
                       built(program)},
                      std::chrono::seconds(120 + 4 * runs));
    };
    const Call one = campaign("1");
    const Call two = campaign("4"); // there are two CPUs, so runs share them
    ASSERT_TRUE(one.reported) << one;
    ASSERT_TRUE(two.reported) << two;
    EXPECT_EQ(0, one.status) << one;
    ASSERT_TRUE(one.summary.violations) << one;
    EXPECT_EQ(0U, *one.summary.violations) << one;
    EXPECT_EQ(0U, two.summary.violations.value_or(1)) << two;
    ASSERT_EQ(one.summary.results.size(), two.summary.results.size());
    std::map<std::string, unsigned> compared; // runs; with four jobs k is known later
    for (std::size_t i = 0; i < one.summary.results.size(); ++i) {
        const RunResult& a = one.summary.results[i];
        const RunResult& b = two.summary.results[i];
        EXPECT_GT(a.steps, 0U);
        EXPECT_EQ(a.policy, b.policy);
        unsigned& same = compared[a.policy];
        if (a.seed == b.seed && a.strides == b.strides) {
            EXPECT_EQ(a.order_hash, b.order_hash) << a.policy << ", " << program << ", " << a.seed;
            ++same;
        }
    }
    for (const auto& [policy, same] : compared) {
        std::cout << policy << ", " << program << ": " << same << " runs of the same seed\n";
        EXPECT_GT(same, 0U) << policy;
    }
}

// All policies in one portfolio. model_test also runs each alone, with its own code only in the
// scheduler.
TEST(Policies, AreReproducibleAndSerial) {
    std::string all;
    for (const std::string& policy : serial_policies())
        all += (all.empty() ? "" : ",") + policy;
    reproducible_and_serial(all, "zoo/healthy_sync",
                            static_cast<unsigned>(10 * serial_policies().size()));
}

class Policy : public testing::TestWithParam<std::string> {};

TEST_P(Policy, IsReproducibleAndSerial) {
    for (const char* program : {"zoo/exact3", "zoo/healthy_sync", "zoo/healthy_exec"})
        reproducible_and_serial(GetParam(), program, 300);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Policy);
INSTANTIATE_TEST_SUITE_P(Serial, Policy,
                         testing::ValuesIn(long_tests() ? serial_policies()
                                                        : std::vector<std::string>()),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::erase(name, '-');
                             return name;
                         });

// Both programs spin until another thread has executed: they end only because all threads may.
class Parallel : public testing::TestWithParam<const char*> {};

TEST_P(Parallel, ThreadsExecuteBesideEachOther) {
    for (const char* program : {"zoo/healthy_spin_flag", "zoo/healthy_spin_atomic"}) {
        const Call call = pctctl({"--focus", "off", "--policy", GetParam(), "--verify", "--seed",
                                  "5", "--runs", "10", "--keep-going", "--spin-limit", "0",
                                  "--timeout", "20", "--", built(program)},
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

// A seed draws the same permutation of priorities under both policies, and at depth 1 nothing else
// decides whether this program fails: PPCT finds the bug in the same runs as PCT, although other
// threads execute at the same time.
TEST(Ppct, FindsWhatPctFinds) {
    const auto failing = [](const char* policy) {
        const Call call =
            pctctl({"--focus", "off", "--policy", policy, "--verify", "--seed", "9", "--runs", "60",
                    "--keep-going", "--depth", "1", "--", built("zoo/rate_d1_four")},
                   std::chrono::seconds(240));
        EXPECT_TRUE(call.reported) << call;
        EXPECT_EQ(60U, call.summary.runs_done) << call;
        EXPECT_EQ(0U, call.summary.violations.value_or(1)) << call;
        std::vector<std::uint64_t> streams; // not the whole seed: each policy measures its own k
        for (const RunResult& run : call.summary.results)
            if (run.outcome != "pass")
                streams.push_back(run.seed_stream);
        return streams;
    };
    const std::vector<std::uint64_t> with_pct = failing("pct");
    EXPECT_GT(with_pct.size(), 0U);
    EXPECT_EQ(with_pct, failing("ppct"));
}

// Four runs at a time on two CPUs: threads often lose their CPU, and policy hooks often wait for
// each other.
TEST(Ppct, LowSetStandsBackWhileRunsShareCpus) {
    const std::string runs = long_tests() ? "1000" : "150";
    const Call call = pctctl({"--focus", "off", "--policy", "ppct", "--verify", "--seed", "23",
                              "--runs", runs, "--keep-going", "--depth", "3", "--jobs", "4",
                              "--timeout", "30", "--", built("zoo/healthy_sync")},
                             std::chrono::seconds(600));
    ASSERT_TRUE(call.reported) << call;
    EXPECT_EQ(0, call.status) << call;
    EXPECT_EQ(std::stoul(runs), call.summary.runs_done) << call;
    EXPECT_EQ(0U, call.summary.violations.value_or(1)) << call;
}

// Section 5.5 of the paper: threads above the low set wait in a loop for one in the low set. The
// program ends because that one gets a step now and then, which is an intervention.
TEST(Ppct, StarvationEnds) {
    const auto campaign = [](const char* program, const Arguments& more) {
        Arguments arguments = {"--policy", "ppct",         "--verify",  "--seed",
                               "3",        "--keep-going", "--timeout", "60"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        arguments.insert(arguments.end(), {"--", built(program)});
        const Call call = pctctl(arguments, std::chrono::seconds(400));
        EXPECT_TRUE(call.reported) << call;
        EXPECT_EQ(0, call.status) << call;
        EXPECT_EQ(0U, call.summary.failures) << call;
        EXPECT_EQ(0U, call.summary.violations.value_or(1)) << call;
        EXPECT_GT(call.summary.interventions, 0U) << call;
        std::cout << program << ": " << call.summary.interventions << " interventions in "
                  << call.summary.runs_done << " runs\n";
    };
    for (const char* depth : {"1", "3"})
        campaign("zoo/healthy_spin_yield", {"--runs", "20", "--depth", depth, "--spin-limit", "0"});
    // This loop has no step. The CPU time that it uses is the sign of no progress.
    campaign("zoo/healthy_spin_flag", {"--runs", "5", "--depth", "2"});
}

// What the four threads of programs/step_times measured in one run.
struct StepTimes {
    std::vector<std::vector<long>> us; // from one step to the next, by thread and step
    long all = 0;                      // from the start to the end of all threads
};

class Sleeps : public testing::Test {
protected:
    static constexpr unsigned kThreads = 4;

    void measure(unsigned runs, unsigned steps, const Arguments& options) {
        const Directory directory;
        const std::string file = directory.path() + "/times";
        Arguments arguments = {"--focus",  "off",     "--policy", "random-sleep",
                               "--points", "pthread", "--seed",   "31",
                               "--jobs",   "1",       "--runs",   std::to_string(runs)};
        arguments.insert(arguments.end(), options.begin(), options.end());
        arguments.insert(arguments.end(),
                         {"--", built("programs/step_times"), std::to_string(steps), file});
        const Call call = pctctl(arguments, std::chrono::seconds(300));
        ASSERT_TRUE(call.reported) << call;
        ASSERT_EQ(0, call.status) << call;
        ASSERT_EQ(runs, call.summary.runs_done) << call;
        results = call.summary.results;
        const std::vector<std::string> text = lines(contents(file));
        ASSERT_EQ(runs * (kThreads + 1), text.size());
        for (std::size_t i = 0; i < text.size(); ++i) {
            std::istringstream numbers(text[i]);
            const std::vector<long> row{std::istream_iterator<long>(numbers), {}};
            if (i % (kThreads + 1) == 0)
                times.emplace_back();
            if (i % (kThreads + 1) == kThreads) {
                times.back().all = row.at(0);
            } else {
                ASSERT_EQ(steps, row.size());
                times.back().us.push_back(row);
            }
        }
    }

    std::vector<RunResult> results;
    std::vector<StepTimes> times; // of each run
};

TEST_F(Sleeps, TakeTheirTimeSideBySide) {
    constexpr unsigned steps = 10;
    constexpr long us = 20'000;
    measure(10, steps, {"--sleep-one-in", "1", "--sleep-us", std::to_string(us)});
    long shortest = std::numeric_limits<long>::max();
    for (const StepTimes& run : times) {
        for (const auto& thread : run.us)
            for (const long step : thread)
                EXPECT_GE(step, us - 1); // both clocks are rounded down
        shortest = std::min(shortest, run.all);
    }
    EXPECT_GE(shortest, steps * us - 1);
    // If they slept one after the other, it would be 800 ms in every run, however fast the machine.
    EXPECT_LT(shortest, kThreads * steps * us);
    std::cout << "all threads within " << shortest << " us\n";
}

// The seed tells which steps sleep, and they must take that long. How long the others take depends
// on the machine: a few may happen to take as long.
TEST_F(Sleeps, ComeAsOftenAsTheyShould) {
    constexpr unsigned runs = 10;
    constexpr unsigned steps = 50;
    constexpr long us = 300'000; // longer than an emulated machine stands still
    measure(runs, steps, {"--sleep-us", std::to_string(us)});
    std::uint64_t sleeps = 0;
    std::uint64_t others = 0;
    for (std::size_t run = 0; run < times.size(); ++run) {
        const pct_policy_config config =
            ::pctctl::policy_config({.policy = "random-sleep"},
                                    {.k = results[run].seed_k, .stream = results[run].seed_stream});
        for (unsigned t = 0; t < kThreads; ++t) {
            for (unsigned i = 0; i < steps; ++i) {
                pct_policy_run state{};
                pct_policy_view view{};
                pct_policy_thread thread{};
                thread.identity = pct_child_identity(PCT_ROOT_IDENTITY, t + 1);
                thread.steps = i; // before it arrives
                if (pct_policy_arrive(&config, &state, &thread, &view) == 0) {
                    others += times[run].us[t][i] >= us;
                    continue;
                }
                ++sleeps;
                EXPECT_GE(times[run].us[t][i], us - 1) << run << ' ' << t << ' ' << i;
            }
        }
    }
    constexpr unsigned all = runs * kThreads * steps;
    const Interval interval = clopper_pearson(sleeps, all, kConfidence);
    std::cout << sleeps << " sleeps before " << all << " steps, " << others
              << " others took as long\n";
    EXPECT_LE(interval.low, 1.0 / 50);
    EXPECT_GE(interval.high, 1.0 / 50);
    EXPECT_LT(others, all / 50);
}

// Two policies take turns, and each has its own part of the report.
TEST(Portfolio, SharesTheRunsOut) {
    const Call call = pctctl({"--focus", "off", "--policy", "pct,pos", "--seed", "12", "--runs",
                              "41", "--keep-going", "--depth", "1", "--points", "pthread", "--",
                              built("zoo/rate_d1_two")},
                             std::chrono::seconds(240));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(41U, call.summary.runs_done) << call;
    ASSERT_EQ(2U, call.summary.policies.size());
    EXPECT_EQ("pct", call.summary.policies[0].policy);
    EXPECT_EQ("pos", call.summary.policies[1].policy);
    EXPECT_EQ(21U, call.summary.policies[0].runs);
    EXPECT_EQ(20U, call.summary.policies[1].runs);
    EXPECT_EQ("depth", call.summary.policies[0].promise);
    EXPECT_EQ("partial orders", call.summary.policies[1].promise);
    for (const PolicySummary& policy : call.summary.policies) {
        std::uint64_t runs = 0;
        std::uint64_t failures = 0;
        for (const RunResult& run : call.summary.results) {
            runs += run.policy == policy.policy;
            failures += run.policy == policy.policy && run.outcome != "pass";
        }
        EXPECT_EQ(runs, policy.runs) << policy.policy;
        EXPECT_EQ(failures, policy.failures) << policy.policy;
    }
    EXPECT_EQ(call.summary.failures,
              call.summary.policies[0].failures + call.summary.policies[1].failures);
    EXPECT_GT(call.summary.policies[0].failures, 0U); // the program's rate is 1/2
}

// Computed by hand (see the program's header). With the final wait, the bug shows if the main
// thread has the higher priority: in half of the runs. Without the wait it needs a change point,
// and depth 1 has none.
TEST(FinalWait, ShowsWhatEndsWithTheProcess) {
    const auto failures = [](const char* wait) {
        const Call call = pctctl({"--focus", "off", "--policy", "pct", "--final-wait", wait,
                                  "--seed", "6", "--runs", "40", "--keep-going", "--depth", "1",
                                  "--points", "pthread", "--", built("zoo/use_after_free_bug")},
                                 std::chrono::seconds(240));
        EXPECT_EQ(40U, call.summary.runs_done) << call;
        return call.summary.failures;
    };
    EXPECT_EQ(0U, failures("off"));
    const Interval interval = clopper_pearson(failures("on"), 40, kConfidence);
    EXPECT_LE(interval.low, 0.5);
    EXPECT_GE(interval.high, 0.5);
    EXPECT_GT(interval.low, 0.0);
}

// Under every policy that decides who goes first the other threads make all their steps before main
// ends the process. Without the wait, some of 20 runs end before that.
class FinalWaitOfAll : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(FinalWaitOfAll, LetsTheOthersEnd) {
    const auto& [wait, points] = GetParam();
    const bool waits = wait == std::string_view("on");
    std::string all = "pct,ppct";
    for (const std::string& policy : serial_policies())
        all += "," + policy;
    const unsigned runs = waits ? 5 : 20; // of each policy
    const unsigned policies = 2 + static_cast<unsigned>(serial_policies().size());
    const Call call =
        pctctl({"--policy", all, "--final-wait", wait, "--seed", "6", "--runs",
                std::to_string(runs * policies), "--keep-going", "--depth", "2", "--jobs", "2",
                "--points", points, "--", built("programs/ends_early")},
               std::chrono::seconds(240));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(policies, call.summary.policies.size()) << call;
    for (const PolicySummary& policy : call.summary.policies) {
        ASSERT_EQ(runs, policy.runs);
        EXPECT_EQ(waits, policy.failures == runs) << policy.policy << ": " << policy.failures;
    }
    EXPECT_EQ(0U, call.summary.interventions) << call;
}

std::string final_wait_name(const testing::TestParamInfo<FinalWaitOfAll::ParamType>& info) {
    const auto& [wait, points] = info.param;
    return std::string(wait == std::string_view("on") ? "On" : "Off") +
           (points == std::string_view("pthread") ? "Pthread" : "Both");
}

INSTANTIATE_TEST_SUITE_P(Serial, FinalWaitOfAll,
                         testing::Values(std::tuple("on", "pthread"),
                                         std::tuple("on", "pthread,syscall"),
                                         std::tuple("off", "pthread,syscall")),
                         final_wait_name);

struct Figure {
    const char* policy;
    double probability;
};

// POS (CAV 2018), section 2.3 and 4: its running example. In the kernel the threads do not exist
// from the start: their beginnings are steps. How often it shows its bug then is computed exactly,
// like the paper's numbers (tests/model/running_example_test).
class RunningExample : public testing::TestWithParam<Figure> {};

TEST_P(RunningExample, ShowsItsBugAsOftenAsItShould) {
    const auto [policy, probability] = GetParam();
    // Only the long test measures the rate. The short one relies on two other tests: the model has
    // the paper's rates (tests/model/running_example_test), and the kernel has the model's orders
    // (model_test). So its few runs only check that the program is the paper's.
    const unsigned runs = long_tests() ? 20000 : 100;
    const Call call = pctctl({"--focus", "off", "--policy", policy, "--seed", "2018", "--runs",
                              std::to_string(runs), "--keep-going", "--jobs", "2", "--points",
                              "pthread", "--", built("programs/pos_example")},
                             std::chrono::seconds(runs));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(runs, call.summary.runs_done) << call;
    EXPECT_EQ(2U, call.summary.threads);
    EXPECT_EQ(14U, call.summary.steps)
        << "ten events, the creation of B, what is behind it, the beginning of B and the join";
    const Interval interval = clopper_pearson(call.summary.failures, runs, kConfidence);
    std::cout << policy << ": " << call.summary.failures << " of " << runs << ", interval "
              << interval.low << " to " << interval.high << ", exact " << probability << "\n";
    EXPECT_LE(interval.low, probability);
    EXPECT_GE(interval.high, probability);
    if (long_tests()) {
        EXPECT_GT(call.summary.failures, 0U);
    }
    EXPECT_EQ(0, call.summary.bound_run) << "it promises nothing of that kind";
    // The races, counted by hand: A1 with B1 and B2 (both, unless A1 is the first), A2 with B3, A3
    // with B4, A4 with B6. A2 is over before B4, so it does not race with B5.
    EXPECT_EQ(policy == std::string_view("pos") ? std::optional<std::uint64_t>(5) : std::nullopt,
              call.summary.races);
}

INSTANTIATE_TEST_SUITE_P(Pos, RunningExample,
                         testing::Values(Figure{"random-walk", 3.0 / 512}, Figure{"pos", 1.0 / 80},
                                         Figure{"basic-pos", 1.0 / 280}),
                         [](const auto& info) {
                             std::string name = info.param.policy;
                             std::erase(name, '-');
                             return name;
                         });

// Main's length is 43, with the creation, what is behind it, and the join. The thread's is 2, with
// its beginning. Main's 42 steps before the join come before the thread's last one as often as the
// analysis of the paper says, with the s_max that follow from those lengths and the number of runs;
// not once under the random walk, which is stride's first run.
class MeasuredStride : public testing::TestWithParam<unsigned> {};

TEST_P(MeasuredStride, MeetsTheLeastLikelyEdge) {
    const unsigned runs = long_tests() ? 2000 : 200;
    const std::string edges = std::to_string(GetParam());
    const Call call =
        pctctl({"--focus", "off", "--policy", "stride", "--stride-edges", edges, "--seed", "11",
                "--runs", std::to_string(runs), "--keep-going", "--jobs", "2", "--points",
                "pthread", "--", built("programs/unlikely_edge")},
               std::chrono::seconds(runs));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(runs, call.summary.runs_done) << call;
    EXPECT_EQ(45U, call.summary.steps);
    const double ratio = ::pctctl::stride_ratio(runs, GetParam());
    const auto stride_max = static_cast<std::size_t>(std::ceil(43 / ratio));
    const auto others_max = static_cast<std::size_t>(std::ceil(2 / ratio));
    // The identity of the first thread, in hex.
    const std::string main = "5043542d726f6f74:" + std::to_string(stride_max);
    EXPECT_EQ("1", call.summary.results[0].strides);
    for (std::size_t i = 5; i < runs; ++i) // with two jobs the length is known later
        EXPECT_NE(std::string::npos, call.summary.results[i].strides.find(main)) << i;
    const double probability =
        ::pctctl::model::least_likely_edge_of_created(42, stride_max, others_max);
    const Interval interval = clopper_pearson(call.summary.failures, runs, kConfidence);
    std::cout << edges << " edges, s_max " << stride_max << ": " << call.summary.failures << " of "
              << runs << ", interval " << interval.low << " to " << interval.high << ", exact "
              << probability << "\n";
    EXPECT_LE(interval.low, probability);
    EXPECT_GE(interval.high, probability);
    if (long_tests()) {
        EXPECT_GT(call.summary.failures, 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(Edges, MeasuredStride, testing::Values(1U, 2U));

// POS draws a new priority for a waiting event when another one has used its object. So a single
// use that waits, against seven by another process, comes last in 5 of 1152 runs; were they two
// objects, in 11 of 108 (exact, tests/model/running_example_test). Of 260 runs that is more than 8
// times with probability 3e-6, or at most 8 times with 2e-5.
class CommonObject : public testing::TestWithParam<const char*> {};

TEST_P(CommonObject, IsOneForTwoProcesses) {
    const bool apart = GetParam() == std::string_view("apart");
    const Call call =
        pctctl({"--focus", "off", "--policy", "pos", "--seed", "7", "--runs", "260", "--keep-going",
                "--jobs", "4", "--", built("programs/common_object"), GetParam()},
               std::chrono::seconds(240));
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(260U, call.summary.runs_done) << call;
    for (const RunResult& run : call.summary.results)
        ASSERT_TRUE(run.outcome == "pass" || run.exit_code == 1) << call;
    std::cout << GetParam() << ": last in " << call.summary.failures << " of 260 runs\n";
    const Interval interval = clopper_pearson(call.summary.failures, 260, kConfidence);
    const double expected = apart ? 11.0 / 108 : 5.0 / 1152;
    EXPECT_LE(interval.low, expected);
    EXPECT_GE(interval.high, expected);
    EXPECT_EQ(apart, call.summary.failures > 8);
}

INSTANTIATE_TEST_SUITE_P(Pos, CommonObject, testing::Values("unix", "tcp", "memory", "apart"));

} // namespace
} // namespace vmtest
