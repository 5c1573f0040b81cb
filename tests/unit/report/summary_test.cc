// SPDX-License-Identifier: GPL-2.0-only
#include "report/summary.h"

#include <chrono>

#include <gtest/gtest.h>

#include "report/reports.h"

namespace pctctl {
namespace {

using namespace std::chrono_literals;

TEST(OutcomeText, IsOneSafeLine) {
    RunResult run = passing_run();
    EXPECT_EQ(outcome_text(run), "pass");
    run.outcome = Outcome::exit;
    run.exit_code = 3;
    run.detail = "exit status 3";
    EXPECT_EQ(outcome_text(run), "exit 3");
    run.detail = "exit status 3; it met a limit";
    EXPECT_EQ(outcome_text(run), "exit 3: it met a limit");
    run = failing_run();
    run.detail = "two\nlines \x1b[2J\xff";
    EXPECT_EQ(outcome_text(run), "signal SIGSEGV: two?lines ?[2J?");
    run.signal = 77;
    EXPECT_TRUE(contains(outcome_text(run), "signal 77: "));
    run.outcome = Outcome::deadlock;
    run.detail = "";
    EXPECT_EQ(outcome_text(run), "deadlock");
}

TEST(Summary, ListsFailuresWithSeedAndReplay) {
    Report report = failing_report();
    report.kept[3] = "pctctl-out/run-3";
    std::string text = summary_text(report);
    EXPECT_TRUE(contains(text, "1 of 3 runs failed")) << text;
    EXPECT_TRUE(contains(text, "run 3: signal SIGSEGV: process app (thread 1) died by SIGSEGV"));
    EXPECT_TRUE(contains(text, "its last words: last words"));
    EXPECT_TRUE(contains(text, "seed:   0000000a0000000000000103"));
    EXPECT_TRUE(contains(text, "kept:   pctctl-out/run-3"));
    EXPECT_TRUE(contains(text, "replay: pctctl replay pctctl-out/run-3"));
    report.kept.clear();
    text = summary_text(report);
    EXPECT_TRUE(contains(
        text, "replay: pctctl replay --seed 0000000a0000000000000103 --depth 2 -- ./app 'a b'"))
        << text;
    EXPECT_FALSE(contains(text, "kept:"));
}

TEST(Summary, ListsTheFirstTenFailures) {
    std::vector<RunResult> runs;
    for (std::uint32_t i = 1; i <= 25; ++i)
        runs.push_back(run_of(failing_run(), i, 10));
    const std::string text = summary_text(report_of(runs));
    EXPECT_TRUE(contains(text, "\nrun 10: "));
    EXPECT_FALSE(contains(text, "\nrun 11: "));
    EXPECT_TRUE(contains(text, "and 15 more failures"));
}

TEST(Summary, SaysWhenRunsWereDisturbed) {
    Report report = passing_report();
    EXPECT_FALSE(contains(summary_text(report), "not counted"));
    report.campaign.runs[1].skipped_calls = 1;
    retally(report);
    EXPECT_TRUE(contains(summary_text(report), "the kernel left out 1 call of the scheduler\n"
                                               "  1 run with that: not counted for the chance"));
    report.campaign.runs[2].unlocked_hooks = 2;
    retally(report);
    const std::string text = summary_text(report);
    EXPECT_TRUE(contains(text, "the policy was called 2 times while another call was under way\n"
                               "  2 runs with that: not counted for the chance above\n"))
        << text;
    EXPECT_TRUE(contains(text, "Nothing can be said yet about bugs at these points: the runs were "
                               "disturbed, or expected fewer steps than there are.\n"))
        << text;
    EXPECT_EQ(report.tally.disturbed, 2U);
}

TEST(Summary, TellsAboutTheWitness) {
    Report report = passing_report();
    for (RunResult& run : report.campaign.runs)
        run.violations = 0;
    retally(report);
    EXPECT_TRUE(contains(summary_text(report), "witness: 0 violations in 3 verified runs"));
    EXPECT_EQ(summary_text(report, Detail::brief), "");
    report.campaign.runs[1].violations = 2;
    report.campaign.runs[1].violation_details = {"thread 2 ran although 1 was enabled"};
    retally(report);
    for (const bool brief : {false, true}) {
        EXPECT_TRUE(contains(summary_text(report, brief ? Detail::brief : Detail::normal),
                             "witness: 2 violations"));
        EXPECT_TRUE(contains(summary_text(report, brief ? Detail::brief : Detail::normal),
                             "run 2: thread 2 ran although"));
        EXPECT_TRUE(
            contains(summary_text(report, brief ? Detail::brief : Detail::normal), "do not trust"));
    }
}

TEST(Summary, BriefIsAboutFailuresOnly) {
    EXPECT_EQ(summary_text(passing_report(), Detail::brief), "");
    const std::string text = summary_text(failing_report(), Detail::brief);
    EXPECT_TRUE(contains(text, "run 3: signal SIGSEGV"));
    EXPECT_FALSE(contains(text, "Theorem"));
}

TEST(Summary, SaysWhenItIsIncomplete) {
    Report report = passing_report();
    report.planned = 100;
    report.campaign.interrupted = true;
    EXPECT_TRUE(contains(summary_text(report), "interrupted, 100 were planned"));
    report.campaign.interrupted = false;
    report.campaign.error = Error::environment("ejected");
    EXPECT_TRUE(contains(summary_text(report), "ended early, 100 were planned"));
}

RunResult unfinished_run(std::chrono::nanoseconds limit) {
    RunResult run = passing_run();
    run.outcome = Outcome::unfinished;
    run.exit_code = -1;
    run.detail = "still making progress after 20 s";
    run.time_limit = limit;
    return run;
}

TEST(Summary, TellsUnfinishedRunsApart) {
    EXPECT_FALSE(contains(summary_text(passing_report()), "unfinished"));
    // One run counts, of 2 threads and 10 steps: 0.95.
    std::string text =
        summary_text(report_of({run_of(passing_run(), 1, 0), run_of(unfinished_run(30s), 2, 10),
                                run_of(passing_run(), 3, 10), run_of(unfinished_run(20s), 4, 10)}));
    EXPECT_TRUE(text.starts_with("./app 'a b': no failure in 4 runs, 2 unfinished, 12 s\nIf there "
                                 "is a bug of depth <= 2 at these points, the chance that these "
                                 "runs missed it is up to 95 %"))
        << text;
    EXPECT_TRUE(contains(text,
                         "\n2 runs unfinished: still making progress when the time was up (30 s); "
                         "not counted for that chance\n"
                         "  the slowest run that ended took 0.0 s: do these perhaps wait for "
                         "something that never comes?\n"
                         "  run 2 with more time: pctctl replay --seed 0000000a0000000000000102 "
                         "--depth 2 --timeout 60 -- ./app 'a b'\n"))
        << text;
    EXPECT_TRUE(contains(text, "or that ran out of time, does not count"));
    EXPECT_FALSE(contains(text, "NOTHING WAS EXPLORED TO THE END"));

    Report report = report_of({run_of(unfinished_run(3s), 1, 0), run_of(failing_run(), 2, 10)});
    report.campaign.runs[1].duration_ms = 301;
    text = summary_text(report);
    EXPECT_TRUE(text.starts_with("./app 'a b': 1 of 2 runs failed, 1 unfinished, 12 s\n")) << text;
    EXPECT_FALSE(contains(text, "never comes")) << "less than ten times as long";
    EXPECT_LT(text.find("run 2: signal"), text.find("1 run unfinished"));
}

TEST(Summary, IsLoudWhenNoRunWasFinished) {
    Report report =
        report_of({run_of(unfinished_run(60s), 1, 0), run_of(unfinished_run(60s), 2, 10)});
    const std::string text = summary_text(report);
    EXPECT_TRUE(text.starts_with("./app 'a b': NO RUN OF 2 WAS FINISHED, 12 s\nNOTHING WAS "
                                 "EXPLORED TO THE END: every run was still making progress when "
                                 "its time was up (60 s).\nGive runs more time (--timeout 120)"))
        << text;
    EXPECT_FALSE(contains(text, "the chance")) << text;
    const std::string warning = unfinished_warning(report);
    EXPECT_TRUE(warning.starts_with("WARNING: NO RUN WAS FINISHED in its time (60 s)")) << warning;
    EXPECT_TRUE(contains(warning, "--timeout 120"));
    EXPECT_FALSE(contains(warning, "\n"));

    report.replay = ReplayVerdict{}; // whose text says it
    EXPECT_EQ(unfinished_warning(report), "");
    EXPECT_EQ(unfinished_warning(passing_report()), "");
    EXPECT_EQ(unfinished_warning(report_of({})), "");
    EXPECT_EQ(unfinished_warning(
                  report_of({run_of(unfinished_run(1s), 1, 0), run_of(failing_run(), 2, 10)})),
              "");
}

TEST(Summary, TellsTheTimeLimit) {
    Report report = passing_report();
    report.campaign.runs[1].time_limit = report.campaign.runs[2].time_limit = 20s;
    EXPECT_TRUE(contains(summary_text(report),
                         "time limit of a run: 60 s for the first, 20 s for the last (10 times the "
                         "slowest run so far, but 20 to 600 s; --timeout sets it)\n"))
        << summary_text(report);
    report.options.timeout = 1500ms;
    EXPECT_TRUE(contains(summary_text(report), "time limit of a run: 1.5 s, as given\n"));
    EXPECT_TRUE(contains(summary_text(report_of({run_of(passing_run(), 1, 0)})),
                         "time limit of a run: 60 s (10 times"));
}

TEST(Warning, WhenNothingWasControlled) {
    EXPECT_EQ(uncontrolled_warning(passing_report()), "");
    const std::string no_steps = uncontrolled_warning(report_of({run_of(passing_run(0), 1, 0)}));
    EXPECT_TRUE(contains(no_steps, "NOTHING WAS CONTROLLED"));
    EXPECT_TRUE(contains(no_steps, "no scheduling point was reached by ./app"));
    EXPECT_TRUE(contains(uncontrolled_warning(report_of({run_of(passing_run(0, 0), 1, 0)})),
                         "NOTHING WAS CONTROLLED: no thread"));
}

} // namespace
} // namespace pctctl
