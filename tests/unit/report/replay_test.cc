// SPDX-License-Identifier: GPL-2.0-only
#include "report/replay.h"

#include <gtest/gtest.h>

#include "pctctl/points.h"
#include "pctctl/version.h"
#include "support/fake_executor.h"

namespace pctctl {
namespace {

using namespace std::chrono_literals;

RunRecord kept_run() {
    RunRecord record;
    record.options.command = {"./app"};
    record.options.depth = 2;
    record.cwd = "/";
    record.result = failing_run();
    record.result.number = 17;
    record.result.seed = {10, 0xabc};
    record.pctctl_version = std::string(kVersion);
    record.kernel_release = "7.3.4";
    return record;
}

Report report_of(std::vector<RunResult> runs) {
    Report report;
    report.options.command = {"./app"};
    report.options.depth = 2;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].number = static_cast<std::uint32_t>(i + 1);
        runs[i].seed = {10, 0xabc};
    }
    report.campaign.runs = std::move(runs);
    report.tally = tally(report.campaign.runs, report.options, false);
    return report;
}

RunResult other_order() {
    RunResult run = failing_run();
    run.order_hash = 0x9999;
    return run;
}

std::string text_of(const std::optional<RunRecord>& kept, const Report& report) {
    return replay_text(kept, kept ? "out/run-17" : "", report, "7.3.4");
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(SameOrder, IsTheHashAndTheLength) {
    EXPECT_TRUE(same_order(failing_run(), passing_run()));
    EXPECT_FALSE(same_order(failing_run(), other_order()));
    EXPECT_FALSE(same_order(passing_run(10), passing_run(11)));
}

TEST(SameOutcome, IsItsKindExitCodeAndSignal) {
    RunResult run = failing_run();
    EXPECT_TRUE(same_outcome(run, failing_run()));
    run.signal = 6;
    EXPECT_FALSE(same_outcome(run, failing_run()));
    EXPECT_FALSE(same_outcome(passing_run(), failing_run()));
    RunResult one = passing_run();
    one.outcome = Outcome::exit;
    one.exit_code = 1;
    RunResult two = one;
    two.exit_code = 2;
    EXPECT_FALSE(same_outcome(one, two));
}

TEST(Verdict, ComparesWithTheKeptRun) {
    const std::vector<RunResult> tries = {failing_run(), other_order(), passing_run()};
    const ReplayVerdict verdict = judge_replay(kept_run(), tries);
    EXPECT_TRUE(verdict.has_reference);
    EXPECT_EQ(verdict.tries, 3U);
    EXPECT_EQ(verdict.failed, 2U);
    EXPECT_EQ(verdict.same_outcome, 2U);
    EXPECT_EQ(verdict.same_order, 2U);
}

TEST(Verdict, AnUnfinishedTryIsNoFailure) {
    RunResult run = other_order();
    run.outcome = Outcome::unfinished;
    const ReplayVerdict verdict = judge_replay(kept_run(), std::vector<RunResult>{run});
    EXPECT_EQ(verdict.failed, 0U);
    EXPECT_EQ(verdict.same_outcome, 0U);
}

TEST(Verdict, ComparesWithTheFirstTryOtherwise) {
    const std::vector<RunResult> tries = {other_order(), failing_run(), other_order()};
    const ReplayVerdict verdict = judge_replay(std::nullopt, tries);
    EXPECT_FALSE(verdict.has_reference);
    EXPECT_EQ(verdict.same_order, 2U);
    EXPECT_EQ(verdict.same_outcome, 3U);
    EXPECT_EQ(judge_replay(std::nullopt, {}).tries, 0U);
}

TEST(ReplayText, OfTheSameRunAgain) {
    const std::string text = text_of(kept_run(), report_of({failing_run()}));
    EXPECT_TRUE(contains(text, "replay of out/run-17, seed 0000000a0000000000000abc: ./app"))
        << text;
    EXPECT_TRUE(contains(text, "kept run: signal SIGSEGV"));
    EXPECT_TRUE(contains(text, "this run: signal SIGSEGV"));
    EXPECT_TRUE(contains(text, "order of steps: 0000000000001234"));
    EXPECT_TRUE(contains(text, "same outcome, same order of steps as the kept run"));
    EXPECT_FALSE(contains(text, "cause"));
}

TEST(ReplayText, SaysPlainlyWhenTheOrderDiffers) {
    const std::string text = text_of(kept_run(), report_of({other_order()}));
    EXPECT_TRUE(contains(text, "same outcome, DIFFERENT order of steps as the kept run")) << text;
    EXPECT_TRUE(contains(text, "possible causes"));
    EXPECT_TRUE(contains(text, "timers"));
    EXPECT_FALSE(contains(text, "instead of"));
}

TEST(ReplayText, SaysPlainlyWhenItPasses) {
    const std::string text = text_of(kept_run(), report_of({passing_run()}));
    EXPECT_TRUE(contains(text, "this run: pass"));
    EXPECT_TRUE(contains(text, "DIFFERENT outcome, same order of steps as the kept run")) << text;
    EXPECT_TRUE(contains(text, "possible causes"));
}

TEST(ReplayText, SaysWhichRunsWereDisturbed) {
    const auto place = [](const std::string& text, const std::string& part) {
        EXPECT_TRUE(contains(text, part)) << text;
        return text.find(part);
    };
    RunRecord kept = kept_run();
    kept.result.skipped_calls = 3;
    std::string text = text_of(kept, report_of({failing_run()}));
    std::size_t line = place(text, "  disturbed, so its order need not be the seed's: calls of the "
                                   "scheduler left out by the kernel: 3, calls of the policy not "
                                   "kept apart: 0\n");
    EXPECT_GT(line, place(text, "kept run: "));
    EXPECT_LT(line, place(text, "this run: "));
    RunResult again = other_order();
    again.unlocked_hooks = 1;
    text = text_of(kept_run(), report_of({again}));
    line = place(text, "calls of the policy not kept apart: 1\n");
    EXPECT_GT(line, place(text, "this run: "));
    place(text, "  - the scheduler was disturbed in a run, see above\n");
    EXPECT_FALSE(contains(text_of(kept_run(), report_of({other_order()})), "disturbed"));
}

TEST(ReplayText, CountsTries) {
    std::string text =
        text_of(kept_run(), report_of({failing_run(), failing_run(), failing_run()}));
    EXPECT_TRUE(contains(text,
                         "same outcome as the kept run in all 3 tries, same order of steps in "
                         "all 3 tries"))
        << text;
    text = text_of(kept_run(), report_of({failing_run(), other_order(), failing_run()}));
    EXPECT_TRUE(contains(text, "same order of steps in 2 of 3 tries")) << text;
    EXPECT_TRUE(contains(text, "try 2: "));
    text = text_of(kept_run(), report_of(std::vector<RunResult>(25, failing_run())));
    EXPECT_TRUE(contains(text, "... and 15 more\n"));
}

TEST(ReplayText, BySeedAlone) {
    std::string text = text_of(std::nullopt, report_of({passing_run()}));
    EXPECT_TRUE(contains(text, "replay of seed 0000000a0000000000000abc: ./app")) << text;
    EXPECT_TRUE(contains(text, "this run: pass"));
    EXPECT_TRUE(contains(text, "order of steps: 0000000000001234"));
    EXPECT_FALSE(contains(text, "kept"));
    text = text_of(std::nullopt, report_of({failing_run(), other_order()}));
    EXPECT_TRUE(contains(text, "same order of steps in 1 of 2 tries")) << text;
}

TEST(ReplayText, NamesWhatIsKnownToDiffer) {
    Report report = report_of({other_order()});
    report.options.depth = 3;
    report.options.command = {"./fixed"};
    report.options.spin_limit = 0ns;
    RunRecord kept = kept_run();
    kept.pctctl_version = "0.0.9";
    const std::string text = replay_text(kept, "out/run-17", report, "8.0.0");
    EXPECT_TRUE(contains(text, "depth 3 instead of 2")) << text;
    EXPECT_TRUE(contains(text, "program ./fixed instead of ./app"));
    EXPECT_TRUE(contains(text, "spin limit 0 s instead of 0.5 s"));
    EXPECT_TRUE(contains(text, "kernel 8.0.0 instead of 7.3.4"));
    EXPECT_TRUE(contains(text, "instead of 0.0.9"));
}

TEST(ReplayText, ExplainsTimeoutsAndInterventions) {
    RunResult run = other_order();
    run.outcome = Outcome::timeout;
    run.interventions = 2;
    const std::string text = text_of(kept_run(), report_of({run}));
    EXPECT_TRUE(contains(text, "(--timeout) ends a run at an arbitrary step")) << text;
    EXPECT_TRUE(contains(text, "2 interventions"));
    run.outcome = Outcome::unfinished;
    EXPECT_TRUE(contains(text_of(kept_run(), report_of({run})), "ends a run at an arbitrary step"));
    run.outcome = Outcome::exit;
    EXPECT_FALSE(contains(text_of(kept_run(), report_of({run})), "at an arbitrary step"));
}

TEST(ReplayText, TellsAboutTheWitness) {
    RunResult run = failing_run();
    run.violations = 0;
    EXPECT_TRUE(contains(text_of(kept_run(), report_of({run})), "witness: 0 violations"));
}

TEST(ReplayText, OfNoRunAtAll) {
    EXPECT_EQ(text_of(kept_run(), report_of({})), "no run was carried out\n");
}

TEST(ChangedOptions, NamesEachOne) {
    ExecutorOptions kept;
    kept.command = {"a"};
    kept.timeout = 60s;
    EXPECT_TRUE(changed_options(kept, kept).empty());
    ExecutorOptions used = kept;
    used.jobs = 4; // without influence on the run
    used.verify = true;
    EXPECT_TRUE(changed_options(kept, used).empty());
    used.points = PCT_POINTS_PTHREAD;
    used.timeout = 1s;
    used.user = "nobody";
    used.cgroup = "test";
    used.pids_limit = 5;
    used.policy = "other";
    used.parameters.set(Parameter::radius, 10); // the default
    used.parameters.set(Parameter::stride_max, 5);
    used.strides.others = 5;
    EXPECT_EQ(changed_options(kept, used),
              (std::vector<std::string>{
                  "policy other instead of pct", "stride-max 5 instead of from thread lengths",
                  "strides 5 instead of 1", "points pthread instead of pthread,syscall",
                  "timeout 1 s instead of 60 s", "user nobody instead of none",
                  "cgroup test instead of none", "pids limit 5 instead of 4096"}));
}

} // namespace
} // namespace pctctl
