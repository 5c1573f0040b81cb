// SPDX-License-Identifier: GPL-2.0-only
#include "report/promises.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/json.h"
#include "report/reports.h"
#include "report/summary.h"

namespace pctctl {
namespace {

using nlohmann::json;

TEST(Summary, SaysFirstWhatWasFoundAndHowSureThatIs) {
    const std::string text = summary_text(passing_report());
    // Two runs count: 0.95^2 = 0.9025, rounded up. ln 0.05 / ln 0.95 = 58.4: 59 runs that count,
    // and the one that measures.
    EXPECT_TRUE(text.starts_with("./app 'a b': no failure in 3 runs, 12 s\n"
                                 "If there is a bug of depth <= 2 at these points, the chance that "
                                 "these runs missed it is up "
                                 "to 90.3 %; --runs 60 would bring that down to 5 %.\n"))
        << text;
    EXPECT_TRUE(contains(text, "threads n = 2, steps k = 10, k_eff = 10, depth d = 2"));
    EXPECT_TRUE(contains(text, "policy pct, points pthread,syscall"));
    EXPECT_TRUE(contains(text, "2 of 3 runs count"));
    EXPECT_TRUE(contains(text, "campaign seed 0x0000000000000abc"));
    EXPECT_TRUE(contains(text, "not covered: races of plain memory accesses"));
    EXPECT_TRUE(contains(text, "depth > 2"));
    EXPECT_TRUE(contains(text, "timers"));
    EXPECT_FALSE(contains(text, "intervention"));
    EXPECT_FALSE(contains(text, "witness"));
    EXPECT_FALSE(contains(text, "Theorem")) << "formulas are for -v";
}

TEST(Summary, HasTheFormulasWithV) {
    const std::string text = summary_text(passing_report(), Detail::full);
    EXPECT_TRUE(contains(text,
                         "one run finds a bug of depth <= 2 at these points with probability "
                         "at least\n  1/(n*k_eff^(d-1)) = 1/20 = 0.05 (PCT, Theorem 9)\n"
                         "  2 of 3 runs count; missed by all of them with probability at most "
                         "0.903\n"))
        << text;
}

TEST(Summary, OfAFailureSpeaksOfOtherBugs) {
    const std::string text = summary_text(failing_report());
    EXPECT_TRUE(contains(text,
                         "\nIf there is another bug of depth <= 2 at these points, the chance "
                         "that these runs missed it is up to 90.3 %"))
        << text;
    EXPECT_LT(text.find("run 3: signal"), text.find("another bug"));
}

// A probability that rounds to 1 is not printed as certainty.
TEST(Summary, TellsChancesCloseToOne) {
    Report report = passing_report();
    for (RunResult& run : report.campaign.runs) {
        run.steps = run.concurrent = 10'000'000;
        run.seed.k = run.number == 1 ? 0 : 10'000'000;
    }
    retally(report);
    // (1 - 1 / (2 * 10^7))^2 = 1 - 0.99999997e-7, rounded upwards
    EXPECT_TRUE(contains(summary_text(report),
                         "is up to 100 % (1 - 9.99e-08); more runs would hardly change "
                         "that, fewer steps would.\n"))
        << summary_text(report);
}

TEST(Summary, SaysNothingWhereNothingCanBeSaid) {
    std::string text = summary_text(report_of({run_of(passing_run(), 1, 0)}));
    EXPECT_TRUE(contains(text, "Nothing can be said yet about bugs at these points: the first run "
                               "only measures the program.\n"))
        << text;
    EXPECT_FALSE(contains(text, "missed it"));
    text = summary_text(report_of({run_of(passing_run(0), 1, 0), run_of(passing_run(0), 2, 0)}));
    EXPECT_TRUE(contains(text, "Nothing can be said about bugs at these points.\n")) << text;
    EXPECT_FALSE(contains(text, "missed it"));
    text = summary_text(report_of({}));
    EXPECT_TRUE(contains(text, "no failure in 0 runs"));
}

// If all runs have the same order, nothing was explored, whatever the theorem says.
TEST(Summary, SaysWhenNothingWasExplored) {
    Report report = passing_report();
    EXPECT_EQ(report.tally.orders, 1U);
    for (RunResult& run : report.campaign.runs)
        run.concurrent = 1;
    retally(report);
    EXPECT_TRUE(contains(summary_text(report),
                         "all 3 runs had the same order of steps: NOTHING WAS "
                         "EXPLORED (the program makes no step while"))
        << summary_text(report);
    for (RunResult& run : report.campaign.runs)
        run.threads = 1;
    retally(report);
    EXPECT_TRUE(contains(summary_text(report), "EXPLORED (the program has a single thread)"));
    report.campaign.runs[2].order_hash = 5;
    retally(report);
    EXPECT_TRUE(contains(summary_text(report), "orders of steps seen: 2 in 3 runs\n"));
    EXPECT_FALSE(contains(summary_text(report), "EXPLORED"));
    report.campaign.runs[1].steps = 4; // another order, whatever the hash
    retally(report);
    EXPECT_EQ(report.tally.orders, 3U);
}

TEST(Summary, CountsInterventionsAndWhatTheyCost) {
    Report report = passing_report();
    report.campaign.runs[1].interventions = 4;
    retally(report);
    const std::string text = summary_text(report);
    EXPECT_TRUE(contains(text, "4 interventions in 1 run: a thread was demoted")) << text;
    // One run without: 0.95.
    EXPECT_TRUE(contains(text, "without them the chance is up to 95 % (depth 2)\n")) << text;
}

TEST(Portfolio, EachPolicyHasItsShareAndItsStatement) {
    std::string text = summary_text(portfolio_report("random-walk,pct,pos"));
    EXPECT_TRUE(contains(text, "depth d = 2; policies random-walk, pct, pos")) << text;
    EXPECT_TRUE(contains(text, "policy random-walk: 0 of 2 runs failed\n"));
    EXPECT_TRUE(contains(text, "policy pos: 1 of 2 runs failed (rate 0.5), the first is run 3\n"));
    // Two runs of pct, both with k: 0.95^2. It needs 59 of its own, a third of all.
    EXPECT_TRUE(contains(text, "If there is another bug of depth <= 2 at these points, the chance "
                               "that the runs of pct missed it is up to 90.3 %; --runs 177 would"))
        << text;
    text = summary_text(portfolio_report("random-walk,pct,pos"), Detail::full);
    EXPECT_TRUE(contains(text, "policy random-walk promises nothing")) << text;
    EXPECT_TRUE(contains(text, "one run of pct finds a bug of depth <= 2"));
    EXPECT_TRUE(contains(text, "  2 of 2 runs count;"));
    EXPECT_TRUE(contains(text, "one run of pos takes a given partial order"));
}

TEST(Portfolio, AFailureIsRepeatedUnderItsOwnPolicy) {
    const std::string text = summary_text(portfolio_report("random-walk,pct,pos"));
    EXPECT_TRUE(
        contains(text, "replay --seed 0000000a0000000000000103 --depth 2 --policy pos -- ./app"))
        << text;
}

TEST(Statement, OfRproIsAboutTheRadius) {
    std::string text = summary_text(portfolio_report("rpro", 3), Detail::full);
    EXPECT_TRUE(contains(text, "one run finds a bug of depth 3 within 10 steps at these points "
                               "with probability at least\n  1/(n*k*(d-1)*r^(d-2)) = 1/400 = "
                               "0.0025 (RPro, by the proof of PCT's Theorem 9)"))
        << text;
    // With two change points or none it is PCT.
    text = summary_text(portfolio_report("rpro", 2), Detail::full);
    EXPECT_TRUE(contains(text, "a bug of depth <= 2 at these points with probability at least\n  "
                               "1/(n*k^(d-1)) = 1/20 = 0.05 (PCT, Theorem 9)"))
        << text;
}

TEST(Statement, OfPosIsAboutPartialOrders) {
    Report report = portfolio_report("pos");
    std::string text = summary_text(report, Detail::full);
    EXPECT_TRUE(contains(text, "1/n^k = 1/2^10 = 0.000976, the more the fewer of them race (POS, "
                               "Theorem 1)"))
        << text; // 0.0009765625, rounded down
    EXPECT_TRUE(contains(text,
                         "How likely a bug was missed is not known: policy pos promises nothing "
                         "about bugs.\n"));
    EXPECT_FALSE(contains(text, "missed it"));
    EXPECT_EQ(json::parse(summary_json(report))["bound_run"], 0);
    for (RunResult& run : report.campaign.runs)
        run.steps = 5000;
    retally(report);
    EXPECT_TRUE(contains(summary_text(report, Detail::full), "1/n^k = 1/2^5000, the more"));
    // By hand: V = 10, P = 2, D = 2: R = 20/12, U = 4, (1/2)^10 (5/3)^4 = 0.00753...
    for (RunResult& run : report.campaign.runs) {
        run.steps = 10;
        run.races = run.number == 1 ? 2 : 1;
    }
    retally(report);
    text = summary_text(report, Detail::full);
    EXPECT_TRUE(contains(text, "at most D = 2 races, as\nthose seen have, with probability at "
                               "least\n  (1/n)^k R^U = 0.00753 (POS, Theorem 1)"))
        << text;
    EXPECT_EQ(json::parse(summary_json(report))["policies"][0]["bounds"][0]["races"], 2);
    for (RunResult& run : report.campaign.runs)
        run.steps = 5000; // (1/2)^5000 R^U, R = 10000/5002, U = 2499: 10^-753.3
    retally(report);
    EXPECT_TRUE(contains(summary_text(report, Detail::full), "(1/n)^k R^U = 10^-754 (POS"))
        << summary_text(report, Detail::full);
}

TEST(Statement, OfOthersIsThatThereIsNone) {
    const std::string text = summary_text(portfolio_report("stride"));
    EXPECT_TRUE(
        contains(text, "policy stride (stride-max from thread lengths, stride-edges 1), points"))
        << text;
    EXPECT_TRUE(contains(text, "How likely a bug was missed is not known: policy stride promises "
                               "nothing about bugs.\n"));
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
    // 0.5 * 0.95^2 * 0.995 = 0.44899; 0.95^2 * 0.995 = 0.89799; 0.995
    EXPECT_TRUE(contains(text,
                         "If there is another bug at these points, the chance that these runs "
                         "missed it is up to 44.9 % (depth 1), up to 89.8 % (depth 2), up to "
                         "99.5 % (depth 3).\n"))
        << text;
    const std::string full = summary_text(report, Detail::full);
    EXPECT_TRUE(contains(full,
                         "a bug of depth <= 1 at these points with probability at least\n  "
                         "1/(n*k_eff^(d-1)) = 1/2 = 0.5 (PCT, Theorem 9)\n  1 of 1 run count; "
                         "missed by all of them with probability at most 0.449\n"))
        << full;
    EXPECT_TRUE(contains(full, "1/200 = 0.005")) << full;
    EXPECT_TRUE(contains(full, "a run of a greater depth counts for the smaller ones as well"));
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
    EXPECT_TRUE(contains(text, "2 interventions in 1 run")) << text;
}

} // namespace
} // namespace pctctl
