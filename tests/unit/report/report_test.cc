// SPDX-License-Identifier: GPL-2.0-only
#include "report/report.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/options.h"
#include "pctctl/points.h"
#include "plan/bound.h"
#include "plan/policies.h"
#include "support/fake_executor.h"
#include "support/temporary_directory.h"

namespace pctctl {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

RunResult run_of(RunResult run, std::uint32_t number, std::uint32_t k) {
    run.number = number;
    run.seed = {k, 0x100U + number};
    return run;
}

// Computes anew what follows from the runs.
void retally(Report& report) {
    report.tally = tally(report.campaign.runs, report.options);
}

Report report_of(std::vector<RunResult> runs, unsigned depth = 2) {
    Report report;
    for (RunResult& run : runs)
        run.algorithm.depth = depth;
    report.options.command = {"./app", "a b"};
    report.options.depth = depth;
    report.campaign.runs = std::move(runs);
    report.campaign.elapsed_s = 12.3;
    retally(report);
    report.planned = static_cast<std::uint32_t>(report.campaign.runs.size());
    report.campaign_seed = 0xabc;
    return report;
}

// Three runs of 2 threads and 10 steps; the last one fails.
Report failing_report() {
    return report_of(
        {run_of(passing_run(), 1, 0), run_of(passing_run(), 2, 10), run_of(failing_run(), 3, 10)});
}

Report passing_report() {
    return report_of(
        {run_of(passing_run(), 1, 0), run_of(passing_run(), 2, 10), run_of(passing_run(), 3, 10)});
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

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

TEST(ReplayCommand, OfAKeptRun) {
    EXPECT_EQ(replay_command({}, "pctctl-out/run-3"), "pctctl replay pctctl-out/run-3");
    EXPECT_EQ(replay_command({"build/pctctl", true, true}, "my out/run-3"),
              "sudo build/pctctl replay --vm 'my out/run-3'");
    EXPECT_EQ(replay_command({}, "-out/run-3"), "pctctl replay ./-out/run-3");
}

// The line that is printed is read back as the same run of the same program.
TEST(ReplayCommand, OfASeedCarriesEverythingThatDecides) {
    ExecutorOptions options;
    options.command = {"./app", "--runs", "a b", "--"};
    EXPECT_EQ(replay_command({}, RunSeed{10, 1}, options),
              "pctctl replay --seed 0000000a0000000000000001 -- ./app --runs 'a b' --");
    options.command = {"./app", "-x"};
    options.cgroup = "test";
    options.depth = 3;
    options.points = PCT_POINTS_PTHREAD;
    options.timeout = 1500ms;
    options.spin_limit = 0ns;
    options.user = "nobody";
    options.pids_limit = 9;
    options.policy = "stride";
    options.parameters.set(Parameter::stride_edges, 2);
    options.strides = {3, {{0xc0ffee, 12}, {1, 2}}};
    const std::string line = replay_command({}, RunSeed{10, 1}, options);
    std::vector<std::string> words;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t space = std::min(line.find(' ', at), line.size());
        words.push_back(line.substr(at, space - at));
        at = space + 1;
    }
    const auto parsed = parse(words);
    ASSERT_TRUE(parsed) << line;
    const Options& read = std::get<Options>(*parsed);
    EXPECT_EQ(read.replay_seed, (RunSeed{10, 1}));
    const ExecutorOptions again = read.given.over({});
    EXPECT_EQ(again.command, options.command);
    EXPECT_EQ(again.cgroup, options.cgroup);
    EXPECT_EQ(again.depth, options.depth);
    EXPECT_EQ(again.policy, options.policy);
    EXPECT_EQ(again.parameters, options.parameters);
    EXPECT_EQ(again.strides, options.strides);
    EXPECT_EQ(again.points, options.points);
    EXPECT_EQ(again.timeout, options.timeout);
    EXPECT_EQ(again.spin_limit, options.spin_limit);
    EXPECT_EQ(again.user, options.user);
    EXPECT_EQ(again.pids_limit, options.pids_limit);
}

TEST(Summary, StatesTheBoundInWords) {
    const std::string text = summary_text(passing_report());
    EXPECT_TRUE(contains(text, "./app 'a b': no failure in 3 runs, 12 s")) << text;
    EXPECT_TRUE(contains(text, "threads n = 2, steps k = 10, k_eff = 10, depth d = 2"));
    EXPECT_TRUE(contains(text, "policy pct, points pthread,syscall"));
    EXPECT_TRUE(contains(text, "1/20 = 0.05"));
    // Two runs count: 0.95^2 = 0.9025, rounded up.
    EXPECT_TRUE(contains(text, "a bug of depth <= 2 at these points would have been missed with "
                               "probability at most 0.903"))
        << text;
    EXPECT_TRUE(contains(text, "2 of 3 runs count"));
    EXPECT_TRUE(contains(text, "campaign seed 0x0000000000000abc"));
    EXPECT_TRUE(contains(text, "not covered: races of plain memory accesses"));
    EXPECT_TRUE(contains(text, "depth > 2"));
    EXPECT_TRUE(contains(text, "timers"));
    EXPECT_FALSE(contains(text, "intervention"));
    EXPECT_FALSE(contains(text, "witness"));
}

TEST(Summary, SaysHowManyRunsWouldDo) {
    const std::string text = summary_text(passing_report());
    // ln 0.05 / ln 0.95 = 58.4: 59 runs that count, and the measuring one.
    EXPECT_TRUE(contains(text, "(for at most 0.05: --runs 60)")) << text;
}

TEST(Summary, SaysNothingWhereNothingCanBeSaid) {
    std::string text = summary_text(report_of({run_of(passing_run(), 1, 0)}));
    EXPECT_TRUE(contains(text, "the first one only measures k")) << text;
    EXPECT_FALSE(contains(text, "missed with probability"));
    text = summary_text(report_of({run_of(passing_run(0), 1, 0), run_of(passing_run(0), 2, 0)}));
    EXPECT_TRUE(contains(text, "nothing can be said")) << text;
    EXPECT_FALSE(contains(text, "missed with probability"));
    text = summary_text(report_of({}));
    EXPECT_TRUE(contains(text, "no failure in 0 runs"));
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
                                               "  1 run with that: not counted below\n"));
    report.campaign.runs[2].unlocked_hooks = 2;
    retally(report);
    const std::string text = summary_text(report);
    EXPECT_TRUE(contains(text, "the policy was called 2 times while another call was under way\n"
                               "  2 runs with that: not counted below\n"))
        << text;
    EXPECT_EQ(json::parse(summary_json(report))["disturbed"], 2);
}

TEST(Summary, CountsInterventionsAndWhatTheyCost) {
    Report report = passing_report();
    report.campaign.runs[1].interventions = 4;
    retally(report);
    const std::string text = summary_text(report);
    EXPECT_TRUE(contains(text, "4 interventions in 1 run")) << text;
    // One run without: 0.95.
    EXPECT_TRUE(contains(text, "counts only the others: missed with probability at most 0.95\n"));
}

TEST(Summary, TellsAboutTheWitness) {
    Report report = passing_report();
    for (RunResult& run : report.campaign.runs)
        run.violations = 0;
    retally(report);
    EXPECT_TRUE(contains(summary_text(report), "witness: 0 violations in 3 verified runs"));
    EXPECT_EQ(summary_text(report, true), "");
    report.campaign.runs[1].violations = 2;
    report.campaign.runs[1].violation_details = {"thread 2 ran although 1 was enabled"};
    retally(report);
    for (const bool brief : {false, true}) {
        EXPECT_TRUE(contains(summary_text(report, brief), "witness: 2 violations"));
        EXPECT_TRUE(contains(summary_text(report, brief), "run 2: thread 2 ran although"));
        EXPECT_TRUE(contains(summary_text(report, brief), "do not trust"));
    }
}

TEST(Summary, BriefIsAboutFailuresOnly) {
    EXPECT_EQ(summary_text(passing_report(), true), "");
    const std::string text = summary_text(failing_report(), true);
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

// Runs 1 .. 6 of 2 threads and 10 steps, taking turns; run 3 fails.
Report portfolio_report(const std::string& policies, unsigned depth = 2) {
    Report report = report_of({}, depth);
    report.options.policy = policies;
    const auto names = *portfolio(policies);
    for (std::uint32_t i = 1; i <= 6; ++i) {
        RunResult run = run_of(i == 3 ? failing_run() : passing_run(), i, i == 1 ? 0 : 10);
        run.algorithm = {names[(i - 1) % names.size()], depth};
        report.campaign.runs.push_back(run);
    }
    retally(report);
    return report;
}

TEST(Portfolio, EachPolicyHasItsShareAndItsStatement) {
    const std::string text = summary_text(portfolio_report("random-walk,pct,pos"));
    EXPECT_TRUE(contains(text, "depth d = 2; policies random-walk, pct, pos")) << text;
    EXPECT_TRUE(contains(text, "policy random-walk: 0 of 2 runs failed\n"));
    EXPECT_TRUE(contains(text, "policy pos: 1 of 2 runs failed (rate 0.5), the first is run 3\n"));
    EXPECT_TRUE(contains(text, "policy random-walk promises nothing"));
    // Two runs of pct, both with k: 0.95^2.
    EXPECT_TRUE(contains(text, "one run of pct finds a bug of depth <= 2"));
    EXPECT_TRUE(contains(text, "missed with probability at most 0.903"));
    EXPECT_TRUE(contains(text, "  (2 of 2 runs count)"));
    EXPECT_TRUE(contains(text, "for at most 0.05: --runs 177")); // 59 of its own
    EXPECT_TRUE(contains(text, "one run of pos takes a given partial order"));
}

TEST(Portfolio, AFailureIsRepeatedUnderItsOwnPolicy) {
    const std::string text = summary_text(portfolio_report("random-walk,pct,pos"));
    EXPECT_TRUE(
        contains(text, "replay --seed 0000000a0000000000000103 --depth 2 --policy pos -- ./app"))
        << text;
}

TEST(Portfolio, InJson) {
    const json j = json::parse(summary_json(portfolio_report("stride,pct")));
    EXPECT_EQ(j["policy"], "stride,pct");
    EXPECT_EQ(j["parameters"], json({{"stride_max", nullptr},
                                     {"stride_edges", 1},
                                     {"skip_sequential", true},
                                     {"join_phases", false},
                                     {"final_wait", true}}));
    EXPECT_TRUE(j["bound_run"].is_null());
    EXPECT_TRUE(j["bound_campaign"].is_null());
    ASSERT_EQ(j["policies"].size(), 2U);
    EXPECT_EQ(j["policies"][0], json({{"policy", "stride"},
                                      {"runs", 3},
                                      {"failures", 1},
                                      {"first_failure", 3},
                                      {"rate", 1.0 / 3},
                                      {"interventions", 0},
                                      {"promise", "nothing"},
                                      {"bounds", json::array()}}));
    const json& pct = j["policies"][1];
    EXPECT_TRUE(pct["first_failure"].is_null());
    EXPECT_EQ(pct["promise"], "depth");
    ASSERT_EQ(pct["bounds"].size(), 1U);
    EXPECT_EQ(pct["bounds"][0]["depth"], 2);
    EXPECT_EQ(pct["bounds"][0]["counted"], 3);
    EXPECT_DOUBLE_EQ(pct["bounds"][0]["bound_run"], 0.05);
    EXPECT_EQ(j["results"][2]["policy"], "stride");
    EXPECT_EQ(j["results"][3]["policy"], "pct");
    EXPECT_EQ(j["results"][3]["depth"], 2);
}

TEST(Statement, OfRproIsAboutTheRadius) {
    std::string text = summary_text(portfolio_report("rpro", 3));
    EXPECT_TRUE(contains(text, "one run finds a bug of depth 3 within 10 steps at these points "
                               "with probability at least\n  1/(n*k*(d-1)*r^(d-2)) = 1/400 = "
                               "0.0025 (RPro, by the proof of PCT's Theorem 9)"))
        << text;
    // With two change points or none it is PCT.
    text = summary_text(portfolio_report("rpro", 2));
    EXPECT_TRUE(contains(text, "a bug of depth <= 2 at these points with probability at least\n  "
                               "1/(n*k^(d-1)) = 1/20 = 0.05 (PCT, Theorem 9)"))
        << text;
}

TEST(Statement, OfPosIsAboutPartialOrders) {
    Report report = portfolio_report("pos");
    std::string text = summary_text(report);
    EXPECT_TRUE(contains(text, "1/n^k = 1/2^10 = 0.000976, the more the fewer of them race (POS, "
                               "Theorem 1)"))
        << text; // 0.0009765625, rounded down
    EXPECT_FALSE(contains(text, "missed"));
    EXPECT_EQ(json::parse(summary_json(report))["bound_run"], 0);
    for (RunResult& run : report.campaign.runs)
        run.steps = 5000;
    retally(report);
    EXPECT_TRUE(contains(summary_text(report), "1/n^k = 1/2^5000, the more"));
    // By hand: V = 10, P = 2, D = 2: R = 20/12, U = 4, (1/2)^10 (5/3)^4 = 0.00753...
    for (RunResult& run : report.campaign.runs) {
        run.steps = 10;
        run.races = run.number == 1 ? 2 : 1;
    }
    retally(report);
    text = summary_text(report);
    EXPECT_TRUE(contains(text, "at most D = 2 races, as\nthose seen have, with probability at "
                               "least\n  (1/n)^k R^U = 0.00753 (POS, Theorem 1)"))
        << text;
    EXPECT_EQ(json::parse(summary_json(report))["policies"][0]["bounds"][0]["races"], 2);
    for (RunResult& run : report.campaign.runs)
        run.steps = 5000; // (1/2)^5000 R^U, R = 10000/5002, U = 2499: 10^-753.3
    retally(report);
    EXPECT_TRUE(contains(summary_text(report), "(1/n)^k R^U = 10^-754 (POS"))
        << summary_text(report);
}

TEST(Statement, OfOthersIsThatThereIsNone) {
    const std::string text = summary_text(portfolio_report("stride"));
    EXPECT_TRUE(
        contains(text, "policy stride (stride-max from thread lengths, stride-edges 1), points"))
        << text;
    EXPECT_TRUE(contains(text, "policy stride promises nothing about the bugs"));
    EXPECT_FALSE(contains(text, "not covered"));
}

TEST(DrawnDepths, EachHasItsLine) {
    Report report = report_of({}, kDepthAuto);
    report.campaign.runs = {};
    for (const unsigned depth : {1, 2, 3, 2}) {
        const auto number = static_cast<std::uint32_t>(report.campaign.runs.size() + 1);
        report.campaign.runs.push_back(
            run_of(number == 4 ? failing_run() : passing_run(), number, number == 1 ? 0 : 10));
        report.campaign.runs.back().algorithm.depth = depth;
    }
    retally(report);
    std::string text = summary_text(report);
    EXPECT_TRUE(contains(text, "depth d = auto; policy pct, points")) << text;
    EXPECT_TRUE(contains(text, "  of depth <= 1 with probability at least 1/2 = 0.5; missed with "
                               "at most 0.449 (1 of 1 run count)\n"))
        << text; // 0.5 * 0.95^2 * 0.995 = 0.44899
    EXPECT_TRUE(contains(text, "  of depth <= 3 with probability at least 1/200 = 0.005; missed "
                               "with at most 1 - 0.005 (1 of 1 run count)\n"))
        << text;
    EXPECT_TRUE(contains(text, "1/(n*k_eff^(d-1)) (PCT, Theorem 9); deeper runs count as well"));
    EXPECT_TRUE(contains(text, "bugs of depth > 3"));
    // The run's own depth, not that of the campaign.
    report.campaign.runs[3].algorithm.depth = 3;
    retally(report);
    EXPECT_TRUE(contains(summary_text(report), "replay --seed 0000000a0000000000000104 --depth 3"));

    const json j = json::parse(summary_json(report));
    EXPECT_TRUE(j["depth"].is_null());
    EXPECT_TRUE(j["bound_run"].is_null());
    EXPECT_EQ(j["results"][3]["depth"], 3);
    EXPECT_EQ(j["policies"][0]["bounds"].size(), 3U);
    EXPECT_EQ(j["policies"][0]["bounds"][2]["depth"], 3);
    EXPECT_EQ(j["policies"][0]["bounds"][2]["runs"], 2);

    report.campaign.runs[1].interventions = 2;
    retally(report);
    text = summary_text(report);
    EXPECT_TRUE(contains(text, "strictly, only the others count: missed with at most")) << text;
}

TEST(Warning, WhenNothingWasControlled) {
    EXPECT_EQ(uncontrolled_warning(passing_report()), "");
    const std::string no_steps = uncontrolled_warning(report_of({run_of(passing_run(0), 1, 0)}));
    EXPECT_TRUE(contains(no_steps, "NOTHING WAS CONTROLLED"));
    EXPECT_TRUE(contains(no_steps, "no scheduling point was reached by ./app"));
    EXPECT_TRUE(contains(uncontrolled_warning(report_of({run_of(passing_run(0, 0), 1, 0)})),
                         "NOTHING WAS CONTROLLED: no thread"));
}

TEST(Json, HasExactlyTheDocumentedFields) {
    const json j = json::parse(summary_json(failing_report()));
    std::set<std::string> fields;
    for (const auto& [key, value] : j.items())
        fields.insert(key);
    EXPECT_EQ(fields, (std::set<std::string>{"schema",         "command",       "policy",
                                             "parameters",     "depth",         "points",
                                             "campaign_seed",  "runs_done",     "failures",
                                             "first_failure",  "threads",       "steps",
                                             "k_eff",          "policies",      "bound_run",
                                             "bound_campaign", "interventions", "disturbed",
                                             "violations",     "elapsed_s",     "results"}));
    fields.clear();
    for (const auto& [key, value] : j["results"][2].items())
        fields.insert(key);
    EXPECT_EQ(fields, (std::set<std::string>{"run", "seed", "outcome", "exit_code", "signal",
                                             "policy", "depth", "strides", "threads", "steps",
                                             "k_eff", "switches", "duration_ms", "order_hash"}));
}

TEST(Json, HasTheValues) {
    const json j = json::parse(summary_json(failing_report()));
    EXPECT_EQ(j["schema"], 1);
    EXPECT_EQ(j["command"], json({"./app", "a b"}));
    EXPECT_EQ(j["policy"], "pct");
    EXPECT_EQ(j["depth"], 2);
    EXPECT_EQ(j["parameters"],
              json({{"skip_sequential", true}, {"join_phases", false}, {"final_wait", true}}));
    EXPECT_EQ(j["points"], json({"pthread", "syscall"}));
    EXPECT_EQ(j["campaign_seed"], "0x0000000000000abc");
    EXPECT_EQ(j["runs_done"], 3);
    EXPECT_EQ(j["failures"], 1);
    EXPECT_EQ(j["first_failure"], 3);
    EXPECT_EQ(j["threads"], 2);
    EXPECT_EQ(j["steps"], 10);
    EXPECT_DOUBLE_EQ(j["bound_run"], 0.05);
    EXPECT_NEAR(j["bound_campaign"], 0.0975, 1e-12);
    EXPECT_EQ(j["interventions"], 0);
    EXPECT_TRUE(j["violations"].is_null());
    EXPECT_DOUBLE_EQ(j["elapsed_s"], 12.3);
    ASSERT_EQ(j["results"].size(), 3U);
    const json& run = j["results"][2];
    EXPECT_EQ(run["run"], 3);
    EXPECT_EQ(run["seed"], "0000000a0000000000000103");
    EXPECT_EQ(run["outcome"], "signal");
    EXPECT_EQ(run["exit_code"], -1);
    EXPECT_EQ(run["signal"], 11);
    EXPECT_EQ(run["threads"], 2);
    EXPECT_EQ(run["steps"], 10);
    EXPECT_EQ(run["switches"], 1);
    EXPECT_DOUBLE_EQ(run["duration_ms"], 1.5);
    EXPECT_EQ(run["order_hash"], "0000000000001234");
}

TEST(Json, HasTheParametersOfThePolicy) {
    Report report = passing_report();
    report.options.policy = "pos";
    report.options.parameters.set(Parameter::pos_readonly, 0);
    EXPECT_EQ(json::parse(summary_json(report))["parameters"], json({{"pos_readonly", false}}));
}

TEST(Json, SeedIsOneThatTheCommandLineAccepts) {
    const json j = json::parse(summary_json(failing_report()));
    const auto parsed =
        parse(std::vector<std::string>{"pctctl", "--seed", j["campaign_seed"], "x"});
    ASSERT_TRUE(parsed);
    EXPECT_EQ(std::get<Options>(*parsed).campaign_seed, 0xabcU);
}

TEST(Json, NullsWhereThereIsNothing) {
    const json j = json::parse(summary_json(passing_report()));
    EXPECT_TRUE(j["first_failure"].is_null());
    Report report = report_of({});
    report.campaign_seed = std::nullopt;
    const json empty = json::parse(summary_json(report));
    EXPECT_TRUE(empty["campaign_seed"].is_null());
    EXPECT_EQ(empty["results"], json::array());
    EXPECT_EQ(empty["bound_campaign"], 0);
}

TEST(Json, ViolationsWithTheWitness) {
    Report report = passing_report();
    report.campaign.runs[0].violations = 0;
    report.campaign.runs[1].violations = 3;
    retally(report);
    EXPECT_EQ(json::parse(summary_json(report))["violations"], 3);
}

TEST(Json, SurvivesBytesThatAreNoText) {
    Report report = failing_report();
    report.options.command = {"./app", "\xff\xfe", "\x01\x7f\"\\"};
    report.campaign.runs[2].detail = "\xc3";
    const json j = json::parse(summary_json(report));
    EXPECT_EQ(j["command"][2], "\x01\x7f\"\\");
    EXPECT_EQ(j["command"].size(), 3U);
}

TEST(Json, AReplayAddsItsVerdict) {
    Report report = failing_report();
    report.replay = ReplayVerdict{true, 3, 1, 2, 3};
    const json j = json::parse(summary_json(report));
    EXPECT_EQ(j["replay"],
              json({{"tries", 3}, {"failed", 1}, {"same_outcome", 2}, {"same_order", 3}}));
}

TEST(WriteReport, ReplacesAFileAsAWhole) {
    const TemporaryDirectory directory;
    const std::string file = directory / "r.json";
    ASSERT_TRUE(write_report(file, "one\n"));
    EXPECT_EQ(contents(file), "one\n");
    ASSERT_TRUE(write_report(file, "two\n"));
    EXPECT_EQ(contents(file), "two\n");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
    struct stat status{};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0644U);
}

TEST(WriteReport, WritesThroughLinksAndDevices) {
    const TemporaryDirectory directory;
    put(directory / "target", "old");
    std::filesystem::create_symlink("target", directory / "link");
    ASSERT_TRUE(write_report((directory / "link").string(), "new"));
    EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
    EXPECT_EQ(contents(directory / "target"), "new");
    EXPECT_TRUE(write_report("/dev/null", "x"));
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(WriteReport, ErrorsAreOneLine) {
    const TemporaryDirectory directory;
    for (const std::string& file : {(directory / "no/such/r.json").string(),
                                    directory.path().string(), std::string("/dev/full")}) {
        const Status status = write_report(file, "x");
        ASSERT_FALSE(status) << file;
        EXPECT_EQ(status.error().status, ExitStatus::environment);
        EXPECT_TRUE(contains(status.error().message, "cannot write " + file));
        EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
    }
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

} // namespace
} // namespace pctctl
