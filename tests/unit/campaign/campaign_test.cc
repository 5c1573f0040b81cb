// SPDX-License-Identifier: GPL-2.0-only
#include "campaign/campaign.h"

#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include "plan/depth.h"
#include "policy.h"
#include "support/fake_executor.h"

namespace pctctl {
namespace {

using namespace std::chrono_literals;

CampaignPlan plan_of(std::uint32_t runs, unsigned jobs = 1) {
    CampaignPlan plan;
    plan.seed = 42;
    plan.runs = runs;
    plan.jobs = jobs;
    return plan;
}

CampaignResult carry_out(
    const CampaignPlan& plan, Executor& executor,
    Campaign::OnFinished on_finished = [](const RunResult&) {}) {
    std::stop_source never;
    return Campaign(plan, executor, std::move(on_finished)).run(never.get_token());
}

std::vector<std::uint32_t> numbers(const CampaignResult& result) {
    std::vector<std::uint32_t> all;
    for (const RunResult& run : result.runs)
        all.push_back(run.number);
    return all;
}

TEST(Campaign, RunsAllWhenNothingFails) {
    FakeExecutor executor([](const RunPlan&) { return passing_run(); });
    const CampaignResult result = carry_out(plan_of(5), executor);
    EXPECT_EQ(numbers(result), (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
    EXPECT_FALSE(result.error);
    EXPECT_FALSE(result.interrupted);
    EXPECT_GE(result.elapsed_s, 0);
}

TEST(Campaign, TheFirstRunMeasuresTheOthersUseTheLargestK) {
    // Steps 10, 5, 30, 20, ...: k of the runs 1, 2, 3, 4, 5 is 0, 10, 10, 30, 30.
    FakeExecutor executor([](const RunPlan& plan) {
        constexpr std::uint64_t kSteps[] = {10, 5, 30, 20, 1};
        return passing_run(kSteps[plan.number - 1]);
    });
    carry_out(plan_of(5), executor);
    std::vector<std::uint32_t> k;
    for (const RunPlan& plan : executor.plans())
        k.push_back(plan.seed.k);
    EXPECT_EQ(k, (std::vector<std::uint32_t>{0, 10, 10, 30, 30}));
}

TEST(Campaign, StreamsAreAFunctionOfSeedAndNumber) {
    FakeExecutor executor([](const RunPlan&) { return passing_run(); });
    const CampaignResult result = carry_out(plan_of(3), executor);
    for (const RunPlan& plan : executor.plans())
        EXPECT_EQ(plan.seed.stream, pct_random(42, PCT_RAND_RUN_SEED, plan.number));
    for (const RunResult& run : result.runs)
        EXPECT_EQ(run.seed.stream, pct_random(42, PCT_RAND_RUN_SEED, run.number));
}

TEST(Campaign, KIsCutToWhatASeedHolds) {
    FakeExecutor executor([](const RunPlan&) { return passing_run(1ULL << 40); });
    carry_out(plan_of(2), executor);
    EXPECT_EQ(executor.plans()[1].seed.k, 0xffffffffU);
}

TEST(Campaign, StopsAtTheFirstFailure) {
    FakeExecutor executor(
        [](const RunPlan& plan) { return plan.number == 3 ? failing_run() : passing_run(); });
    const CampaignResult result = carry_out(plan_of(100), executor);
    EXPECT_EQ(numbers(result), (std::vector<std::uint32_t>{1, 2, 3}));
    EXPECT_FALSE(result.interrupted);
}

TEST(Campaign, DoesNotStopAtAnUnfinishedRun) {
    FakeExecutor executor([](const RunPlan&) {
        RunResult run = passing_run();
        run.outcome = Outcome::unfinished;
        return run;
    });
    EXPECT_EQ(carry_out(plan_of(5), executor).runs.size(), 5U);
}

std::vector<int> time_limits_s(const CampaignPlan& plan, Executor& executor,
                               const FakeExecutor& seen) {
    const CampaignResult result = carry_out(plan, executor);
    std::vector<int> all;
    for (const RunPlan& one : seen.plans()) {
        EXPECT_EQ(result.runs[one.number - 1].time_limit, one.time_limit) << one.number;
        all.push_back(static_cast<int>(one.time_limit / 1s));
    }
    return all;
}

TEST(Campaign, TheTimeLimitFollowsFromTheSlowestRunThatEnded) {
    // Run 3 is cut off, however long it took; run 4 fails.
    const auto behaviour = [](const RunPlan& plan) {
        constexpr double kDurations_s[] = {0.1, 4, 500, 7, 1, 1, 1, 1};
        RunResult run = plan.number == 4 ? failing_run() : passing_run();
        run.duration_ms = 1000 * kDurations_s[plan.number - 1];
        if (plan.number == 3)
            run.outcome = Outcome::unfinished;
        return run;
    };
    CampaignPlan plan = plan_of(8);
    plan.keep_going = true;
    FakeExecutor executor(behaviour);
    EXPECT_EQ(time_limits_s(plan, executor, executor),
              (std::vector<int>{60, 20, 40, 40, 70, 70, 70, 70}));

    // Two jobs: what run r takes comes from the runs before r - 3, whichever ends first.
    plan.jobs = 2;
    FakeExecutor two(behaviour);
    EXPECT_EQ(time_limits_s(plan, two, two), (std::vector<int>{60, 20, 20, 20, 20, 40, 40, 70}));

    plan.timeout = 3s;
    FakeExecutor given(behaviour);
    EXPECT_EQ(time_limits_s(plan, given, given), std::vector<int>(8, 3));

    plan.timeout = std::nullopt;
    plan.fixed = RunSeed{1, 2}; // a replay knows of no other run
    FakeExecutor again(behaviour);
    EXPECT_EQ(time_limits_s(plan, again, again), std::vector<int>(8, 60));
}

TEST(Campaign, KeepsGoingWhenTold) {
    FakeExecutor executor(
        [](const RunPlan& plan) { return plan.number % 2 ? failing_run() : passing_run(); });
    CampaignPlan plan = plan_of(9);
    plan.keep_going = true;
    EXPECT_EQ(carry_out(plan, executor).runs.size(), 9U);
}

TEST(Campaign, RunsInFlightAtAFailureAreRecorded) {
    // Run 2 is under way until run 3 has failed.
    std::atomic<bool> failed = false;
    FakeExecutor executor([&](const RunPlan& plan) {
        if (plan.number == 3) {
            failed = true;
            return failing_run();
        }
        while (plan.number == 2 && !failed)
            std::this_thread::sleep_for(1ms);
        return plan.number == 2 ? failing_run() : passing_run();
    });
    const CampaignResult result = carry_out(plan_of(100, 2), executor);
    EXPECT_EQ(numbers(result), (std::vector<std::uint32_t>{1, 2, 3}));
    EXPECT_TRUE(result.runs[1].failed());
}

TEST(Campaign, AnErrorKeepsWhatThereIs) {
    FakeExecutor executor([](const RunPlan& plan) -> Result<RunResult> {
        if (plan.number == 4)
            return Error::environment("the scheduler was ejected: runnable task stall");
        return passing_run();
    });
    const CampaignResult result = carry_out(plan_of(100), executor);
    EXPECT_EQ(numbers(result), (std::vector<std::uint32_t>{1, 2, 3}));
    const Error error = result.error.value_or(Error{});
    EXPECT_EQ(error.status, ExitStatus::environment);
    EXPECT_EQ(error.message, "the scheduler was ejected: runnable task stall");
    EXPECT_FALSE(result.interrupted);
}

TEST(Campaign, AnErrorOfTheMeasuringRunEndsAllWorkers) {
    FakeExecutor executor(
        [](const RunPlan&) -> Result<RunResult> { return Error::environment("no"); });
    const CampaignResult result = carry_out(plan_of(100, 8), executor);
    EXPECT_TRUE(result.runs.empty());
    EXPECT_TRUE(result.error);
    EXPECT_EQ(executor.plans().size(), 1U);
}

TEST(Campaign, AnExceptionIsAnErrorToo) {
    FakeExecutor executor([](const RunPlan& plan) -> Result<RunResult> {
        if (plan.number == 2)
            throw std::runtime_error("out of luck");
        return passing_run();
    });
    const CampaignResult result = carry_out(plan_of(100), executor);
    EXPECT_EQ(result.runs.size(), 1U);
    EXPECT_EQ(result.error.value_or(Error{}).message, "out of luck");
}

TEST(Campaign, ParallelRunsHaveTheirOwnSlots) {
    FakeExecutor executor([](const RunPlan&) {
        std::this_thread::sleep_for(2ms);
        return passing_run();
    });
    const CampaignResult result = carry_out(plan_of(60, 4), executor);
    EXPECT_EQ(result.runs.size(), 60U);
    EXPECT_FALSE(executor.slot_clash());
    EXPECT_LE(executor.most_at_once(), 4U);
}

TEST(Campaign, RunsGoOnInParallel) {
    // Runs 2 and 3 each wait for the other to be under way.
    std::atomic<int> under_way = 0;
    FakeExecutor executor([&](const RunPlan& plan) {
        if (plan.number > 1) {
            ++under_way;
            while (under_way < 2)
                std::this_thread::sleep_for(1ms);
        }
        return passing_run();
    });
    EXPECT_EQ(carry_out(plan_of(3, 2), executor).runs.size(), 3U);
    EXPECT_EQ(executor.most_at_once(), 2U);
}

TEST(Campaign, TheMeasuringRunIsAlone) {
    std::atomic<bool> measured = false;
    std::atomic<bool> too_early = false;
    FakeExecutor executor([&](const RunPlan& plan) {
        if (plan.number == 1) {
            std::this_thread::sleep_for(20ms);
            measured = true;
        } else if (!measured) {
            too_early = true;
        }
        return passing_run();
    });
    carry_out(plan_of(20, 8), executor);
    EXPECT_FALSE(too_early);
}

TEST(Campaign, TheWindowOfMeasuredRuns) {
    EXPECT_EQ(measured_before(1, 1), 0U);
    EXPECT_EQ(measured_before(2, 1), 1U);
    EXPECT_EQ(measured_before(100, 1), 99U);
    EXPECT_EQ(measured_before(1, 2), 0U);
    EXPECT_EQ(measured_before(2, 2), 1U); // the measuring run
    EXPECT_EQ(measured_before(5, 2), 1U);
    EXPECT_EQ(measured_before(6, 2), 2U);
    EXPECT_EQ(measured_before(100, 2), 96U);
    EXPECT_EQ(measured_before(100, 64), 1U);
}

TEST(Campaign, SeedsDoNotDependOnWhichRunEndsFirst) {
    // Steps depend on the seed alone, as in a deterministic program; durations do not.
    const auto seeds = [](unsigned jitter) {
        FakeExecutor executor([jitter](const RunPlan& plan) {
            std::this_thread::sleep_for(
                std::chrono::microseconds(pct_mix(plan.number * 31 + jitter) % 2000));
            return passing_run(10 + pct_mix(plan.seed.stream ^ plan.seed.k) % 1000);
        });
        carry_out(plan_of(80, 4), executor);
        std::vector<std::string> all;
        for (const RunPlan& plan : executor.plans())
            all.push_back(plan.seed.text());
        return all;
    };
    const auto first = seeds(1);
    ASSERT_EQ(first.size(), 80U);
    for (const unsigned jitter : {2U, 3U, 4U})
        EXPECT_EQ(seeds(jitter), first);
}

TEST(Campaign, KOfParallelRunsComesFromTheirWindow) {
    FakeExecutor executor([](const RunPlan& plan) { return passing_run(plan.number * 10); });
    carry_out(plan_of(12, 2), executor);
    for (const RunPlan& plan : executor.plans())
        EXPECT_EQ(plan.seed.k, measured_before(plan.number, 2) * 10) << plan.number;
}

// Each run has what the runs before its window have learned, in the order of their numbers.
TEST(Campaign, WhatMattersComesFromTheWindow) {
    for (const unsigned jobs : {1U, 2U, 4U}) {
        FakeExecutor executor([](const RunPlan& plan) {
            std::this_thread::sleep_for(std::chrono::microseconds(pct_mix(plan.number) % 2000));
            RunResult run = passing_run();
            run.learned = {1000 - plan.number, 5}; // 5: all of them meet it
            return run;
        });
        CampaignPlan campaign = plan_of(30, jobs);
        campaign.focus.on = true;
        carry_out(campaign, executor);
        for (const RunPlan& plan : executor.plans()) {
            std::vector<std::uint64_t> expected;
            for (std::uint32_t run = 1; run <= measured_before(plan.number, jobs); ++run) {
                if (run == 1)
                    expected.push_back(5);
                expected.push_back(1000 - run);
            }
            EXPECT_EQ(plan.focus.names, expected) << plan.number << " of " << jobs;
        }
    }
}

TEST(Campaign, ResultsOfFailuresSayWhatMattered) {
    FakeExecutor executor([](const RunPlan& plan) {
        RunResult run = plan.number == 3 ? failing_run() : passing_run();
        run.learned = {plan.number};
        return run;
    });
    CampaignPlan plan = plan_of(4, 1);
    plan.keep_going = true;
    plan.focus.on = true;
    const CampaignResult result = carry_out(plan, executor);
    EXPECT_EQ(result.runs[2].focus.names, (std::vector<std::uint64_t>{1, 2}));
}

// The policy of a run follows from the run's number, whichever run ends first.
TEST(Campaign, PoliciesTakeTurns) {
    for (const unsigned jobs : {1U, 4U}) {
        FakeExecutor executor([](const RunPlan& plan) {
            std::this_thread::sleep_for(std::chrono::microseconds(pct_mix(plan.number) % 2000));
            RunResult run = passing_run();
            if (plan.number % 5 == 0) // ended by its time limit
                run.outcome = Outcome::timeout;
            return run;
        });
        CampaignPlan plan = plan_of(20, jobs);
        plan.policies = {"pos", "pct", "stride"};
        plan.depth = 3;
        plan.keep_going = true;
        const CampaignResult result = carry_out(plan, executor);
        ASSERT_EQ(result.runs.size(), 20U);
        for (const RunPlan& one : executor.plans()) {
            EXPECT_EQ(one.algorithm.policy, plan.policies[(one.number - 1) % 3]) << one.number;
            EXPECT_EQ(one.algorithm.depth, 3U);
            EXPECT_EQ(result.runs[one.number - 1].algorithm, one.algorithm);
        }
    }
}

TEST(Campaign, ADepthIsDrawnForEachRunThatHasOne) {
    FakeExecutor executor([](const RunPlan&) { return passing_run(); });
    CampaignPlan plan = plan_of(60);
    plan.policies = {"pct", "pos"};
    plan.depth = kDepthAuto;
    carry_out(plan, executor);
    std::set<unsigned> drawn;
    for (const RunPlan& one : executor.plans()) {
        if (one.algorithm.policy == "pos") {
            EXPECT_EQ(one.algorithm.depth, 1U);
            continue;
        }
        EXPECT_EQ(one.algorithm.depth, draw_depth(one.seed));
        drawn.insert(one.algorithm.depth);
    }
    EXPECT_GE(drawn.size(), 3U);
    EXPECT_EQ(executor.plans()[0].algorithm.depth, 1U); // it measures
    // From its seed alone a run is repeated with the same depth.
    plan.fixed = executor.plans()[12].seed;
    FakeExecutor again([](const RunPlan&) { return passing_run(); });
    carry_out(plan, again);
    EXPECT_EQ(again.plans()[0].algorithm, executor.plans()[12].algorithm);
}

TEST(Campaign, StridesComeFromTheLongestThatThreadsHaveBeen) {
    FakeExecutor executor([](const RunPlan& plan) {
        RunResult run = passing_run();
        run.lengths = {{7, plan.number == 2 ? 40U : 10U}, {9, 3}};
        return run;
    });
    CampaignPlan plan = plan_of(4);
    plan.policies = {"stride"};
    plan.stride_ratio = 4;
    carry_out(plan, executor);
    const auto& plans = executor.plans();
    ASSERT_EQ(plans.size(), 4U);
    EXPECT_EQ(plans[0].algorithm.strides, Strides()); // it measures
    EXPECT_EQ(plans[1].algorithm.strides, (Strides{3, {{7, 3}, {9, 1}}}));
    EXPECT_EQ(plans[2].algorithm.strides, (Strides{10, {{7, 10}, {9, 1}}}));
    EXPECT_EQ(plans[3].algorithm.strides, plans[2].algorithm.strides);

    plan.strides = Strides{5, {}};
    FakeExecutor given([](const RunPlan&) { return passing_run(); });
    carry_out(plan, given);
    EXPECT_EQ(given.plans()[3].algorithm.strides, *plan.strides);
}

TEST(Campaign, AStopRequestEndsItBetweenRuns) {
    std::stop_source source;
    FakeExecutor executor([&](const RunPlan& plan) {
        if (plan.number == 3)
            source.request_stop();
        return passing_run();
    });
    const CampaignResult result =
        Campaign(plan_of(100), executor, [](const RunResult&) {}).run(source.get_token());
    EXPECT_EQ(result.runs.size(), 3U);
    EXPECT_TRUE(result.interrupted);
    EXPECT_FALSE(result.error);
}

TEST(Campaign, AStopRequestCancelsWhatIsUnderWay) {
    std::stop_source source;
    FakeExecutor* self = nullptr;
    FakeExecutor executor([&](const RunPlan& plan) -> Result<RunResult> {
        if (plan.number < 3)
            return passing_run();
        source.request_stop();
        while (!self->cancelled())
            std::this_thread::sleep_for(1ms);
        return Error::environment("cancelled");
    });
    self = &executor;
    const CampaignResult result =
        Campaign(plan_of(100), executor, [](const RunResult&) {}).run(source.get_token());
    EXPECT_EQ(result.runs.size(), 2U);
    EXPECT_TRUE(result.interrupted);
    EXPECT_FALSE(result.error); // the user has asked for the end
}

TEST(Campaign, NothingIsCancelledWithoutAStopRequest) {
    FakeExecutor executor([](const RunPlan&) { return failing_run(); });
    carry_out(plan_of(100), executor);
    EXPECT_FALSE(executor.cancelled());
}

TEST(Campaign, AStopRequestWakesWaitingWorkers) {
    std::stop_source source;
    FakeExecutor executor([&](const RunPlan&) {
        std::this_thread::sleep_for(10ms); // the other workers wait for this one
        source.request_stop();
        return passing_run();
    });
    const CampaignResult result =
        Campaign(plan_of(100, 8), executor, [](const RunResult&) {}).run(source.get_token());
    EXPECT_EQ(result.runs.size(), 1U);
    EXPECT_TRUE(result.interrupted);
}

TEST(Campaign, AStopRequestAfterTheLastRunChangesNothing) {
    std::stop_source source;
    FakeExecutor executor([&](const RunPlan& plan) {
        if (plan.number == 3)
            source.request_stop();
        return passing_run();
    });
    EXPECT_FALSE(Campaign(plan_of(3), executor, [](const RunResult&) {})
                     .run(source.get_token())
                     .interrupted);
}

TEST(Campaign, ReportsEveryRunOnceWithItsOutput) {
    FakeExecutor executor([](const RunPlan& plan) {
        RunResult run = passing_run();
        run.out = "out " + std::to_string(plan.number);
        run.err = std::string(5000, 'x') + "end";
        return run;
    });
    std::vector<RunResult> seen; // no lock: calls come one at a time
    const CampaignResult result =
        carry_out(plan_of(30, 4), executor, [&](const RunResult& run) { seen.push_back(run); });
    EXPECT_EQ(seen.size(), 30U);
    for (const RunResult& run : seen) {
        EXPECT_EQ(run.out, "out " + std::to_string(run.number));
        EXPECT_EQ(run.err.size(), 5003U);
    }
    for (const RunResult& run : result.runs) {
        EXPECT_TRUE(run.out.empty());
        EXPECT_EQ(run.err.size(), kKeptOutput);
        EXPECT_TRUE(run.err.ends_with("xend"));
    }
}

TEST(Campaign, AReplayUsesOneSeedForAll) {
    FakeExecutor executor([](const RunPlan&) { return failing_run(); });
    CampaignPlan plan = plan_of(6, 3);
    plan.fixed = RunSeed{7, 9};
    plan.keep_going = true;
    plan.live_output = true;
    plan.verify = true;
    const CampaignResult result = carry_out(plan, executor);
    EXPECT_EQ(result.runs.size(), 6U);
    for (const RunPlan& run : executor.plans()) {
        EXPECT_EQ(run.seed, (RunSeed{7, 9}));
        EXPECT_TRUE(run.live_output);
        EXPECT_TRUE(run.verify);
    }
}

} // namespace
} // namespace pctctl
