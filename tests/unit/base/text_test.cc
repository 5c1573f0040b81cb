// SPDX-License-Identifier: GPL-2.0-only
#include "base/text.h"

#include <array>
#include <cstdio>
#include <memory>

#include <gtest/gtest.h>

#include "pctctl/points.h"
#include "plan/point_sets.h"

namespace pctctl {
namespace {

using namespace std::chrono_literals;

TEST(ShellQuote, LeavesPlainWordsAlone) {
    const std::array<std::string, 4> words = {"./app", "-x", "a,b:c@d%e", "1.5"};
    EXPECT_EQ(shell_quote(words), "./app -x a,b:c@d%e 1.5");
}

TEST(ShellQuote, IsReadBackByTheShellByteForByte) {
    const std::array<std::string, 8> words = {"",  "a b", "it's",        "$HOME `id` \"q\" \\",
                                              "*", "x=1", "line\nbreak", "~;&|<>#!"};
    const std::string command =
        "for w in " + shell_quote(words) + "; do printf '%s\\001' \"$w\"; done";
    std::string output;
    {
        const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
        ASSERT_TRUE(pipe);
        std::array<char, 256> buffer;
        while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
            output.append(buffer.data(), got);
    }
    std::string expected;
    for (const std::string& word : words)
        expected += word + '\001';
    EXPECT_EQ(output, expected);
}

TEST(Printable, KeepsTextAndReplacesWhatATerminalWouldActOn) {
    EXPECT_EQ(printable("bank.c:31: 5 != 7"), "bank.c:31: 5 != 7");
    EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
    EXPECT_EQ(printable("\x1b[2Jx\ny\tz\x7f"), "?[2Jx?y z?");
    EXPECT_EQ(printable("a\xff"
                        "b\xc3"),
              "a?b?");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "?31m");
    EXPECT_EQ(printable("abcdef", 3), "abc...");
    EXPECT_EQ(printable("abc", 3), "abc");
}

TEST(Utf8, KnowsWellFormedFromBroken) {
    for (const char* good :
         {"", "ascii", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"})
        EXPECT_TRUE(is_utf8(good)) << good;
    for (const char* bad : {"\x80", "\xc0\xaf", "\xc3", "\xe2\x82", "\xed\xa0\x80",
                            "\xf4\x90\x80\x80", "\xff", "\xe0\x80\x80", "\xf0\x80\x80\x80"})
        EXPECT_FALSE(is_utf8(bad)) << bad;
}

TEST(Durations, AreShort) {
    EXPECT_EQ(duration_text(0), "0.0 s");
    EXPECT_EQ(duration_text(0.42), "0.4 s");
    EXPECT_EQ(duration_text(9.97), "10 s");
    EXPECT_EQ(duration_text(59.4), "59 s");
    EXPECT_EQ(duration_text(59.9), "1 min 00 s");
    EXPECT_EQ(duration_text(185), "3 min 05 s");
    EXPECT_EQ(duration_text(7500), "2 h 05 min");
}

TEST(Probabilities, AreRoundedSoThatTheStatementStaysTrue) {
    EXPECT_EQ(at_most(0.5), "0.5");
    EXPECT_EQ(at_least(0.5), "0.5");
    EXPECT_EQ(at_most(2.0 / 3), "0.667");
    EXPECT_EQ(at_least(2.0 / 3), "0.666");
    EXPECT_EQ(at_most(1.0 / 3), "0.334");
    EXPECT_EQ(at_least(1.0 / 3), "0.333");
    EXPECT_EQ(at_least(1.0 / 237), "0.00421");
    EXPECT_EQ(at_most(1.0 / 237), "0.00422");
    EXPECT_EQ(at_most(0), "0");
    EXPECT_EQ(at_least(1), "1");
    EXPECT_EQ(at_most(1 - 1.0 / 3000), "1 - 0.000333");
    EXPECT_EQ(at_least(1 - 1.0 / 3000), "1 - 0.000334");
    EXPECT_EQ(at_least(1e-320), "0"); // beyond what a double holds with three digits
    EXPECT_EQ(at_most(1e-320), "1e-300");
    EXPECT_EQ(at_most(1 - 1e-17), "1");
}

TEST(Numbers, AreStrict) {
    EXPECT_EQ(parse_number("0"), 0U);
    EXPECT_EQ(parse_number("18446744073709551615"), ~0ULL);
    for (const char* bad :
         {"", "-1", "+1", " 1", "1 ", "0x10", "1.0", "18446744073709551616", "ten"})
        EXPECT_EQ(parse_number(bad), std::nullopt) << bad;
    EXPECT_EQ(parse_number_or_hex("0xFf"), 255U);
    EXPECT_EQ(parse_number_or_hex("255"), 255U);
    for (const char* bad : {"0x", "ff", "0x-1", "0x10000000000000000"})
        EXPECT_EQ(parse_number_or_hex(bad), std::nullopt) << bad;
}

TEST(Seconds, MayBeFractions) {
    EXPECT_EQ(parse_seconds("60"), 60s);
    EXPECT_EQ(parse_seconds("0.5"), 500ms);
    EXPECT_EQ(parse_seconds(".25"), 250ms);
    EXPECT_EQ(parse_seconds("1e-3"), 1ms);
    EXPECT_EQ(parse_seconds("0"), 0s);
    for (const char* bad : {"", "-1", "-0", "nan", "inf", "1s", "1 ", " 1", "0x10", "1e10", "1,5"})
        EXPECT_EQ(parse_seconds(bad), std::nullopt) << bad;
}

TEST(LastLine, SkipsBlankOnes) {
    EXPECT_EQ(last_line(""), "");
    EXPECT_EQ(last_line("\n \n"), "");
    EXPECT_EQ(last_line("one"), "one");
    EXPECT_EQ(last_line("one\ntwo\n\n"), "two");
}

TEST(Points, HaveNames) {
    EXPECT_EQ(*parse_points("pthread,syscall"), PCT_POINTS_PTHREAD | PCT_POINTS_SYSCALL);
    EXPECT_EQ(*parse_points("syscall"), PCT_POINTS_SYSCALL);
    EXPECT_EQ(*parse_points("pthread,pthread"), PCT_POINTS_PTHREAD);
    EXPECT_EQ(points_text(PCT_POINTS_PTHREAD | PCT_POINTS_SYSCALL), "pthread,syscall");
    for (const char* bad : {"", ",", "pthread,", "pthreads", "pthread;syscall", "PTHREAD"}) {
        const auto parsed = parse_points(bad);
        ASSERT_FALSE(parsed) << bad;
        EXPECT_EQ(parsed.error().status, ExitStatus::usage);
        EXPECT_NE(parsed.error().message.find("pthread,syscall"), std::string::npos);
    }
}

} // namespace
} // namespace pctctl
