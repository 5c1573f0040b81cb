// SPDX-License-Identifier: GPL-2.0-only
#include "plan/run_plan.h"

#include <gtest/gtest.h>

namespace pctctl {
namespace {

TEST(RunSeed, IsWrittenAsEightDigitsOfKAndSixteenOfTheStream) {
    EXPECT_EQ((RunSeed{0x2a, 0x0123456789abcdefULL}.text()), "0000002a0123456789abcdef");
    EXPECT_EQ((RunSeed{0, 0}.text()), "000000000000000000000000");
    EXPECT_EQ((RunSeed{0xffffffff, ~0ULL}.text()), "ffffffffffffffffffffffff");
}

TEST(RunSeed, SurvivesTheRoundTrip) {
    for (const RunSeed seed : {RunSeed{}, RunSeed{1, 1}, RunSeed{0xffffffff, ~0ULL},
                               RunSeed{170, 0x8000000000000000ULL}, RunSeed{0, 5}}) {
        const auto parsed = RunSeed::parse(seed.text());
        ASSERT_TRUE(parsed);
        EXPECT_EQ(*parsed, seed);
    }
}

TEST(RunSeed, ReadsPrefixCaseAndShortForms) {
    EXPECT_EQ(*RunSeed::parse("0x2A0123456789ABCDEF"), (RunSeed{0x2a, 0x0123456789abcdefULL}));
    EXPECT_EQ(*RunSeed::parse("ff"), (RunSeed{0, 255}));
    EXPECT_EQ(*RunSeed::parse("10000000000000000"), (RunSeed{1, 0}));
    EXPECT_EQ(*RunSeed::parse("ffffffffffffffff"), (RunSeed{0, ~0ULL}));
}

TEST(RunSeed, RefusesAnythingElse) {
    for (const char* text : {"", "0x", "-1", "+1", " 1", "1 ", "xyz", "0000002a0123456789abcdef0",
                             "0000002g0123456789abcdef", "-000002a0123456789abcdef",
                             "0000002a-123456789abcdef", "1.5"}) {
        const auto parsed = RunSeed::parse(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().status, ExitStatus::usage);
        EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos);
    }
}

TEST(Outcome, NamesAreThoseOfTheInterface) {
    EXPECT_EQ(name(Outcome::pass), "pass");
    EXPECT_EQ(name(Outcome::exit), "exit");
    EXPECT_EQ(name(Outcome::signal), "signal");
    EXPECT_EQ(name(Outcome::deadlock), "deadlock");
    EXPECT_EQ(name(Outcome::timeout), "timeout");
    EXPECT_EQ(name(Outcome::unfinished), "unfinished");
    for (const Outcome outcome : {Outcome::pass, Outcome::exit, Outcome::signal, Outcome::deadlock,
                                  Outcome::timeout, Outcome::unfinished})
        EXPECT_EQ(outcome_from(name(outcome)), outcome);
    EXPECT_EQ(outcome_from("crash"), std::nullopt);
    EXPECT_EQ(outcome_from(""), std::nullopt);
}

TEST(Outcome, AnUnfinishedRunHasNotFailed) {
    RunResult run;
    for (const auto& [outcome, failed, cut_off] :
         {std::tuple{Outcome::pass, false, false}, std::tuple{Outcome::exit, true, false},
          std::tuple{Outcome::signal, true, false}, std::tuple{Outcome::deadlock, true, false},
          std::tuple{Outcome::timeout, true, true}, std::tuple{Outcome::unfinished, false, true}}) {
        run.outcome = outcome;
        EXPECT_EQ(run.failed(), failed) << name(outcome);
        EXPECT_EQ(run.cut_off(), cut_off) << name(outcome);
    }
}

} // namespace
} // namespace pctctl
