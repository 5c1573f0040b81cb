// SPDX-License-Identifier: GPL-2.0-only
#include "cli/options.h"

#include <gtest/gtest.h>

#include "pctctl/points.h"
#include "pctctl/version.h"

namespace pctctl {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

Result<Invocation> parse_words(Words words) {
    words.insert(words.begin(), "pctctl");
    return parse(words);
}

// The options of a valid command line.
Options options(const Words& words) {
    const auto parsed = parse_words(words);
    if (!parsed) {
        ADD_FAILURE() << parsed.error().message;
        return {};
    }
    if (!std::holds_alternative<Options>(*parsed)) {
        ADD_FAILURE() << "prints instead";
        return {};
    }
    return std::get<Options>(*parsed);
}

ExecutorOptions executor_options(const Words& words) {
    return options(words).given.over({});
}

// The message about an invalid one.
std::string complaint(const Words& words) {
    const auto parsed = parse_words(words);
    if (parsed) {
        ADD_FAILURE() << "accepted";
        return {};
    }
    EXPECT_EQ(parsed.error().status, ExitStatus::usage);
    EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos) << parsed.error().message;
    EXPECT_FALSE(parsed.error().message.empty());
    return parsed.error().message;
}

std::string printed(const Words& words) {
    const auto parsed = parse_words(words);
    if (!parsed || !std::holds_alternative<Print>(*parsed)) {
        ADD_FAILURE() << "prints nothing";
        return {};
    }
    return std::get<Print>(*parsed).text;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(Options, DefaultsAreThoseOfTheInterface) {
    const Options o = options({"--", "./app"});
    EXPECT_EQ(o.mode, Mode::campaign);
    EXPECT_EQ(o.runs, 100U);
    EXPECT_FALSE(o.keep_going);
    EXPECT_EQ(o.campaign_seed, std::nullopt);
    EXPECT_EQ(o.out, "pctctl-out");
    EXPECT_EQ(o.json, std::nullopt);
    EXPECT_FALSE(o.vm || o.inside_vm || o.verbose || o.quiet);
    EXPECT_EQ(o.invoked_as, "pctctl");

    const ExecutorOptions e = o.given.over({});
    EXPECT_EQ(e.command, Words{"./app"});
    EXPECT_EQ(e.cgroup, std::nullopt);
    EXPECT_EQ(e.depth, kDepthAuto);
    EXPECT_EQ(e.policy, "pct");
    EXPECT_EQ(e.points, PCT_POINTS_PTHREAD | PCT_POINTS_SYSCALL);
    EXPECT_EQ(e.jobs, 1U);
    EXPECT_EQ(e.timeout, std::nullopt);
    EXPECT_EQ(e.spin_limit, 500ms);
    EXPECT_EQ(e.user, std::nullopt);
    EXPECT_EQ(e.pids_limit, 4096U);
    EXPECT_FALSE(e.verify);
}

TEST(Options, AllAreRead) {
    const Options o = options({"--cgroup",
                               "test/a",
                               "--depth",
                               "3",
                               "--policy",
                               "pct",
                               "--runs",
                               "7",
                               "--keep-going",
                               "--seed",
                               "0xffffffffffffffff",
                               "--jobs=64",
                               "--timeout",
                               "1.5",
                               "--spin-limit",
                               "0",
                               "--points",
                               "syscall",
                               "--verify",
                               "--vm",
                               "--out",
                               "results",
                               "--json",
                               "-",
                               "--user",
                               "nobody",
                               "--pids-limit",
                               "10",
                               "-v",
                               "--",
                               "./app"});
    const ExecutorOptions e = o.given.over({});
    EXPECT_EQ(e.cgroup, "test/a");
    EXPECT_EQ(e.depth, 3U);
    EXPECT_EQ(o.runs, 7U);
    EXPECT_TRUE(o.keep_going);
    EXPECT_EQ(o.campaign_seed, ~0ULL);
    EXPECT_EQ(e.jobs, 64U);
    EXPECT_EQ(e.timeout, 1500ms);
    EXPECT_EQ(e.spin_limit, 0ns);
    EXPECT_EQ(e.points, PCT_POINTS_SYSCALL);
    EXPECT_TRUE(e.verify);
    EXPECT_TRUE(o.vm);
    EXPECT_EQ(o.out, "results");
    EXPECT_TRUE(o.json_on_stdout());
    EXPECT_EQ(e.user, "nobody");
    EXPECT_EQ(e.pids_limit, 10U);
    EXPECT_TRUE(o.verbose);
    EXPECT_TRUE(options({"-q", "x"}).quiet);
    EXPECT_FALSE(options({"--json", "file", "x"}).json_on_stdout());
    EXPECT_EQ(options({"--seed", "12", "x"}).campaign_seed, 12U);
    EXPECT_EQ(options({"--depth", "64", "x"}).given.depth, 64U);
    EXPECT_EQ(options({"--depth", "auto", "x"}).given.depth, kDepthAuto);
    EXPECT_TRUE(contains(complaint({"--depth", "Auto", "x"}), "from 1 to 64"));
}

TEST(Options, TheLastOfARepeatedOneCounts) {
    EXPECT_EQ(options({"--runs", "5", "--runs", "9", "x"}).runs, 9U);
    EXPECT_TRUE(options({"-v", "-v", "x"}).verbose);
}

TEST(Options, EverythingAfterTheDashesIsTheProgramVerbatim) {
    EXPECT_EQ(
        executor_options({"--runs", "3", "--", "-odd", "--runs", "x", "--", "--help", ""}).command,
        (Words{"-odd", "--runs", "x", "--", "--help", ""}));
    EXPECT_EQ(executor_options({"--", "replay"}).command, Words{"replay"});
    EXPECT_EQ(executor_options({"--", "--version"}).command, Words{"--version"});
    EXPECT_EQ(executor_options({"--", "\xff\n"}).command, Words{"\xff\n"});
}

TEST(Options, TheDashesMayBeMissingWhenNothingIsAmbiguous) {
    EXPECT_EQ(executor_options({"--runs", "3", "./app", "a", "b"}).command,
              (Words{"./app", "a", "b"}));
    EXPECT_EQ(executor_options({"./app"}).command, Words{"./app"});
    EXPECT_EQ(executor_options({"echo", "replay"}).command, (Words{"echo", "replay"}));
    EXPECT_TRUE(contains(complaint({"./app", "-v"}), "put -- before"));
    EXPECT_TRUE(contains(complaint({"./app", "--runs", "3"}), "put -- before"));
    EXPECT_TRUE(contains(complaint({"./app", "-x"}), "put -- before"));
    EXPECT_TRUE(contains(complaint({"./app", "--runs", "3", "./app"}), "put -- before"));
    EXPECT_TRUE(contains(complaint({"./app", "--", "x"}), "./app"));
    EXPECT_TRUE(contains(complaint({"-v", "replay", "dir"}), "first word"));
}

TEST(Options, AProgramIsNeeded) {
    for (const Words& words : {Words{}, Words{"--"}, Words{"--runs", "3"},
                               Words{"--runs", "3", "--"}, Words{"--", ""}, Words{""}})
        EXPECT_TRUE(contains(complaint(words), "no program"));
}

TEST(Options, BadNumbersAreNamedWithTheirRange) {
    for (const char* option : {"--depth", "--runs", "--jobs", "--pids-limit"}) {
        for (const char* value :
             {"0", "-1", "-3", "x", "", "1.5", "1e3", " 2", "0x2", "99999999999999999999"}) {
            const std::string message = complaint({option, value, "--", "x"});
            EXPECT_TRUE(contains(message, option)) << message;
            EXPECT_TRUE(contains(message, "from 1 to")) << message;
        }
    }
    EXPECT_TRUE(contains(complaint({"--depth", "65", "x"}), "64"));
    EXPECT_TRUE(contains(complaint({"--jobs", "65", "x"}), "64"));
}

TEST(Options, BadSecondsAreRefused) {
    for (const char* option : {"--timeout", "--spin-limit"})
        for (const char* value : {"-1", "-0.5", "nan", "inf", "1s", "", "abc"})
            EXPECT_TRUE(contains(complaint({std::string(option) + "=" + value, "--", "x"}), option))
                << option << value;
    EXPECT_TRUE(contains(complaint({"--timeout", "0", "--", "x"}), "above 0"));
}

TEST(Options, BadSeedsAreRefused) {
    for (const char* value :
         {"", "x", "-1", "18446744073709551616", "0x", "1.0", "0000002a0123456789abcdef"})
        EXPECT_TRUE(contains(complaint({"--seed", value, "--", "x"}), "--seed")) << value;
}

TEST(Options, UnknownNamesAreAnsweredWithTheKnown) {
    EXPECT_TRUE(
        contains(complaint({"--policy", "cfs", "--", "x"}), "unknown policy 'cfs'; known: pct"));
    EXPECT_TRUE(contains(complaint({"--policy", "", "--", "x"}), "known: pct"));
    EXPECT_TRUE(contains(complaint({"--points", "pthread,lock", "--", "x"}),
                         "unknown points 'lock'; known: pthread,syscall"));
    EXPECT_TRUE(contains(complaint({"--points", "", "--", "x"}), "known: pthread,syscall"));
    EXPECT_TRUE(contains(complaint({"--frobnicate", "--", "x"}), "--frobnicate"));
    EXPECT_TRUE(contains(complaint({"-z", "--", "x"}), "-z"));
    EXPECT_TRUE(contains(complaint({"--run", "3", "--", "x"}), "--run")); // no abbreviations
}

TEST(Options, ThoseOfThePolicies) {
    const ExecutorOptions stride =
        executor_options({"--policy", "stride", "--stride-max", "5", "x"});
    EXPECT_EQ(stride.parameters.value(Parameter::stride_max), 5U);
    EXPECT_EQ(stride.strides, (Strides{5, {}}));
    EXPECT_EQ(stride.parameters.set_value(Parameter::radius), std::nullopt);
    EXPECT_EQ(
        executor_options({"--radius=50", "--policy=rpro", "x"}).parameters.value(Parameter::radius),
        50U);
    EXPECT_EQ(executor_options({"--policy", "pos", "--pos-readonly", "off", "x"})
                  .parameters.value(Parameter::pos_readonly),
              0U);
    EXPECT_EQ(executor_options({"--policy", "preempt-bound", "--preemptions", "0", "x"})
                  .parameters.value(Parameter::preemptions),
              0U);
    EXPECT_TRUE(contains(complaint({"--policy", "stride", "--stride-max", "0", "x"}),
                         "--stride-max: '0' is not a number from 1 to"));
    EXPECT_TRUE(
        contains(complaint({"--policy", "stride", "--stride-max", "5", "--stride-edges", "2", "x"}),
                 "--stride-edges is for strides from thread lengths"));
    EXPECT_TRUE(contains(complaint({"--skip-sequential", "off", "--join-phases", "on", "x"}),
                         "--join-phases on needs --skip-sequential on"));
    EXPECT_EQ(executor_options({"replay", "--seed", "5", "--policy", "stride", "--strides",
                                "2,00000000c0ffee00:9", "x"})
                  .strides,
              (Strides{2, {{0xc0ffee00, 9}}}));
    EXPECT_TRUE(contains(
        complaint({"replay", "--seed", "5", "--policy", "stride", "--strides", "2,c0ffee:9", "x"}),
        "--strides: 'c0ffee:9' is not a thread's identity"));
    EXPECT_TRUE(contains(complaint({"replay", "--seed", "5", "--strides", "2", "x"}),
                         "--strides is an option of policy stride, not of pct"));
    EXPECT_TRUE(contains(complaint({"--policy", "pos", "--pos-readonly", "1", "x"}),
                         "--pos-readonly: '1' is neither on nor off"));
    EXPECT_TRUE(contains(complaint({"--policy", "preempt-bound", "--preemptions", "65", "x"}),
                         "from 0 to 64"));
}

TEST(Options, SeveralPolicies) {
    EXPECT_EQ(executor_options({"--policy", "pct,stride", "--stride-max", "5", "x"}).policy,
              "pct,stride");
    EXPECT_TRUE(contains(complaint({"--policy", "pct,cfs", "x"}), "unknown policy 'cfs'; known:"));
    EXPECT_TRUE(contains(complaint({"--policy", "pct,", "x"}), "unknown policy ''; known:"));
    EXPECT_TRUE(contains(complaint({"--policy", "pct,pct", "x"}), "named twice"));
    EXPECT_TRUE(
        contains(complaint({"--policy", "pct,pos", "--radius", "5", "x"}), "not of pct,pos"));
    EXPECT_TRUE(contains(complaint({"replay", "--seed", "5", "--policy", "pct,pos", "x"}),
                         "name that run's policy"));
    EXPECT_TRUE(
        contains(complaint({"replay", "run-3", "--policy", "pct,pos"}), "name that run's policy"));
}

TEST(Options, ThoseOfAnotherPolicyAreRefused) {
    EXPECT_EQ(complaint({"--stride-max", "5", "--", "x"}),
              "--stride-max is an option of policy stride, not of pct (see pctctl policies)");
    EXPECT_TRUE(contains(complaint({"--policy", "pos", "--radius", "5", "x"}), "not of pos"));
    EXPECT_TRUE(contains(complaint({"replay", "--seed", "5", "--radius", "5", "x"}), "not of pct"));
    // The policy of the kept run is not known yet.
    EXPECT_EQ(
        options({"replay", "run-3", "--radius", "5"}).given.parameters.value(Parameter::radius),
        5U);
}

TEST(Options, CgroupNamesCannotLeaveTheTree) {
    for (const char* value :
         {"..", "a/..", "../a", "a/../b", "/", "/a", "a//b", "a/", ".", "", "a\nb"})
        EXPECT_TRUE(contains(complaint({"--cgroup", value, "--", "x"}), "--cgroup")) << value;
    complaint({"--cgroup", std::string(256, 'a'), "--", "x"});
    EXPECT_EQ(options({"--cgroup", "..a", "x"}).given.cgroup, "..a");
    EXPECT_EQ(options({"--cgroup", "system.slice/test-1", "x"}).given.cgroup,
              "system.slice/test-1");
}

TEST(Options, MissingValuesAreNoticed) {
    for (const char* option : {"--runs", "--out", "--json", "--seed", "--user", "--cgroup"}) {
        EXPECT_TRUE(contains(complaint({option}), "value is missing")) << option;
        EXPECT_TRUE(contains(complaint({option, "--", "x"}), "value is missing")) << option;
    }
    for (const char* option : {"--out", "--json", "--user", "--cgroup"}) {
        EXPECT_TRUE(contains(complaint({option, "--vm", "x"}), "value is missing")) << option;
        EXPECT_TRUE(contains(complaint({option, "", "--", "x"}), "empty")) << option;
    }
}

TEST(Options, VerboseAndQuietExcludeEachOther) {
    EXPECT_TRUE(contains(complaint({"-v", "-q", "x"}), "exclude"));
    EXPECT_TRUE(contains(complaint({"-vq", "x"}), "exclude"));
}

TEST(Options, DiagnosticsAreAskedForByDegrees) {
    EXPECT_EQ(options({"x"}).diagnostics(), Log::Level::warning);
    EXPECT_EQ(options({"-q", "x"}).diagnostics(), Log::Level::warning);
    EXPECT_EQ(options({"-v", "x"}).diagnostics(), Log::Level::info);
    for (const Words& words : {Words{"-vv", "x"}, Words{"-v", "-v", "x"}, Words{"-vvv", "x"},
                               Words{"--verbose", "-v", "x"}}) {
        EXPECT_EQ(options(words).diagnostics(), Log::Level::debug);
        EXPECT_TRUE(options(words).verbose);
    }
    EXPECT_EQ(options({"x"}).log, std::nullopt);
    EXPECT_EQ(options({"--log", "file", "-q", "x"}).log, "file");
    EXPECT_EQ(options({"replay", "run-3", "--log=file", "-vv"}).log, "file");
    EXPECT_TRUE(contains(complaint({"--log", "-", "x"}), "-vv shows the same"));
    EXPECT_TRUE(contains(complaint({"--log", "", "x"}), "--log: its value is empty"));
    EXPECT_TRUE(contains(complaint({"-vv", "-q", "x"}), "exclude"));
}

TEST(Options, MessagesShowNoControlCharacters) {
    const std::string message = complaint({"--runs", "\x1b[2J", "--", "x"});
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(Replay, OfAKeptRun) {
    const Options o = options({"replay", "out/run-3", "-v", "--depth", "3"});
    EXPECT_EQ(o.mode, Mode::replay);
    EXPECT_EQ(o.replay_dir, "out/run-3");
    EXPECT_EQ(o.replay_seed, std::nullopt);
    EXPECT_EQ(o.times, 1U);
    EXPECT_EQ(o.given.depth, 3U);
    EXPECT_EQ(o.given.points, std::nullopt); // those of the kept run are used
    EXPECT_TRUE(o.given.command.empty());
    EXPECT_EQ(options({"replay", "--times", "5", "run-3"}).times, 5U);
    EXPECT_EQ(options({"replay", "run-3", "--", "./fixed", "-x"}).given.command,
              (Words{"./fixed", "-x"}));
}

TEST(Replay, OfASeedTakesTheCampaignsOptions) {
    const Options o = options({"replay", "--seed", "0000002a0123456789abcdef", "--cgroup", "test",
                               "--runs", "500", "--keep-going", "--jobs", "2", "--out", "there",
                               "--depth", "1", "--", "./app", "-x"});
    EXPECT_EQ(o.replay_seed, (RunSeed{0x2a, 0x0123456789abcdefULL}));
    EXPECT_EQ(o.given.command, (Words{"./app", "-x"}));
    EXPECT_EQ(o.given.depth, 1U);
    EXPECT_EQ(o.times, 1U); // --runs belongs to the campaign
    EXPECT_EQ(options({"replay", "--seed", "5", "./app", "y"}).given.command,
              (Words{"./app", "y"}));
}

TEST(Replay, BadCommandLines) {
    EXPECT_TRUE(contains(complaint({"replay"}), "replay what"));
    EXPECT_TRUE(contains(complaint({"replay", ""}), "replay what"));
    EXPECT_TRUE(contains(complaint({"replay", "--", "./app"}), "replay what"));
    EXPECT_TRUE(contains(complaint({"replay", "run-1", "run-2"}), "run-2"));
    EXPECT_TRUE(contains(complaint({"replay", "run-1", "--"}), "no program"));
    EXPECT_TRUE(contains(complaint({"replay", "--seed", "5"}), "no program"));
    EXPECT_TRUE(contains(complaint({"replay", "--seed", "5", "--"}), "no program"));
    EXPECT_TRUE(contains(complaint({"replay", "--seed", "xyz", "--", "x"}), "24 hex digits"));
    EXPECT_TRUE(contains(complaint({"replay", "--seed", "5", "dir", "--", "x"}), "dir"));
    EXPECT_TRUE(contains(complaint({"replay", "--times", "0", "run-1"}), "--times"));
}

TEST(Doctor, TakesNoProgram) {
    EXPECT_EQ(options({"doctor"}).mode, Mode::doctor);
    EXPECT_TRUE(options({"doctor", "--vm"}).vm);
    complaint({"doctor", "x"});
    complaint({"doctor", "--", "x"});
    complaint({"doctor", "--runs", "3"});
}

TEST(Help, NamesEveryOptionTheExitStatusesAndAnExample) {
    const std::string help = printed({"--help"});
    for (const char* part : {"--cgroup",       "--depth",      "--policy",
                             "--runs",         "--keep-going", "--seed",
                             "--jobs",         "--timeout",    "--spin-limit",
                             "--points",       "--verify",     "--vm",
                             "--out",          "--json",       "--user",
                             "--pids-limit",   "-v",           "-q",
                             "--stride-max",   "--radius",     "--pos-readonly",
                             "--preemptions",  "--version",    "--help",
                             "--sleep-one-in", "--sleep-us",   "replay",
                             "doctor",         "Example",      "Exit status"})
        EXPECT_TRUE(contains(help, part)) << part;
    EXPECT_FALSE(contains(help, "--inside-vm"));
    EXPECT_EQ(help, printed({"-h"}));
    EXPECT_EQ(help.back(), '\n');
    std::size_t start = 0;
    for (std::size_t end; (end = help.find('\n', start)) != std::string::npos; start = end + 1)
        EXPECT_LE(end - start, 90U) << help.substr(start, end - start);
    EXPECT_TRUE(contains(printed({"replay", "--help"}), "--times"));
    EXPECT_TRUE(contains(printed({"doctor", "--help"}), "remedy"));
}

TEST(Help, VersionIsOneLine) {
    EXPECT_EQ(printed({"--version"}), "pctctl " + std::string(kVersion) + "\n");
    EXPECT_EQ(printed({"--version", "--", "x"}), printed({"--version"}));
}

TEST(Given, OverridesOnlyWhatIsSaid) {
    ExecutorOptions kept;
    kept.command = {"./kept"};
    kept.depth = 5;
    kept.user = "nobody";
    kept.spin_limit = 3s;
    kept.points = PCT_POINTS_PTHREAD;
    Given given;
    given.depth = 3;
    const ExecutorOptions both = given.over(kept);
    EXPECT_EQ(both.command, Words{"./kept"});
    EXPECT_EQ(both.depth, 3U);
    EXPECT_EQ(both.user, "nobody");
    EXPECT_EQ(both.spin_limit, 3s);
    EXPECT_EQ(both.points, PCT_POINTS_PTHREAD);
}

TEST(InsideVm, TheSameCommandLineWithoutVm) {
    EXPECT_EQ(argv_inside_vm(Words{"./pctctl", "--runs", "3", "--vm", "--", "app", "--vm"}, "/x/p"),
              (Words{"/x/p", "--inside-vm", "./pctctl", "--runs", "3", "--", "app", "--vm"}));
    EXPECT_EQ(argv_inside_vm(Words{"pctctl", "replay", "--vm", "run-1"}, "/x/p"),
              (Words{"/x/p", "replay", "--inside-vm", "pctctl", "run-1"}));
    EXPECT_EQ(argv_inside_vm(Words{"pctctl", "--vm=true", "app"}, "/x/p"),
              (Words{"/x/p", "--inside-vm", "pctctl", "app"}));
}

TEST(InsideVm, ReadsAsTheUsersOwn) {
    const auto parsed =
        parse(argv_inside_vm(Words{"./pctctl", "--vm", "--depth", "3", "--", "app"}, "/x/p"));
    ASSERT_TRUE(parsed);
    const Options o = std::get<Options>(*parsed);
    EXPECT_EQ(o.invoked_as, "./pctctl");
    EXPECT_TRUE(o.inside_vm);
    EXPECT_FALSE(o.vm);
    EXPECT_EQ(o.given.depth, 3U);
    EXPECT_EQ(o.given.command, Words{"app"});
}

} // namespace
} // namespace pctctl
