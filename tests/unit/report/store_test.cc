// SPDX-License-Identifier: GPL-2.0-only
#include "report/store.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pctctl/points.h"
#include "pctctl/version.h"
#include "support/fake_executor.h"
#include "support/temporary_directory.h"

namespace pctctl {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using nlohmann::json;

ExecutorOptions some_options() {
    ExecutorOptions options;
    options.command = {"./app", "-x", "", "a b", "\xff\xfe\n"};
    options.cgroup = "test";
    options.depth = 3;
    options.points = PCT_POINTS_SYSCALL;
    options.timeout = 1500ms;
    options.spin_limit = 1ns;
    options.user = "nobody";
    options.pids_limit = 77;
    return options;
}

RunResult some_run(std::uint32_t number = 17) {
    RunResult run = failing_run(79, 3);
    run.number = number;
    run.seed = {79, 0xfedcba9876543210ULL};
    run.algorithm.depth = 3;
    run.switches = 12;
    run.interventions = 4;
    run.skipped_calls = 2;
    run.unlocked_hooks = 5;
    run.order_hash = 0x00000000deadbeefULL;
    run.violations = 0;
    run.out = std::string("out\0put\xff\n", 9);
    return run;
}

std::set<std::string> names_in(const fs::path& directory) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory))
        names.insert(entry.path().filename().string());
    return names;
}

TEST(Store, WhatIsKeptIsLoadedAgain) {
    const TemporaryDirectory directory;
    RunStore store(directory / "out", some_options(), "/somewhere/\xff");
    const auto kept = store.keep(some_run());
    ASSERT_TRUE(kept) << kept.error().message;
    EXPECT_EQ(*kept, (directory / "out/run-17").string());
    EXPECT_EQ(contents(directory / "out/run-17/stdout"), some_run().out);
    EXPECT_EQ(contents(directory / "out/run-17/stderr"), "first line\nlast words\n");

    const auto loaded = load_record(*kept);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const ExecutorOptions& options = loaded->options;
    EXPECT_EQ(options.command, some_options().command);
    EXPECT_EQ(options.cgroup, "test");
    EXPECT_EQ(options.depth, 3U);
    EXPECT_EQ(options.policy, "pct");
    EXPECT_EQ(options.points, PCT_POINTS_SYSCALL);
    EXPECT_EQ(options.timeout, 1500ms);
    EXPECT_EQ(options.spin_limit, 1ns);
    EXPECT_EQ(options.user, "nobody");
    EXPECT_EQ(options.pids_limit, 77U);
    EXPECT_EQ(loaded->cwd, "/somewhere/\xff");
    EXPECT_EQ(loaded->pctctl_version, kVersion);
    EXPECT_FALSE(loaded->kernel_release.empty());
    const RunResult& run = loaded->result;
    EXPECT_EQ(run.number, 17U);
    EXPECT_EQ(run.seed, some_run().seed);
    EXPECT_EQ(run.outcome, Outcome::signal);
    EXPECT_EQ(run.exit_code, -1);
    EXPECT_EQ(run.signal, 11);
    EXPECT_EQ(run.detail, some_run().detail);
    EXPECT_EQ(run.threads, 3U);
    EXPECT_EQ(run.steps, 79U);
    EXPECT_EQ(run.switches, 12U);
    EXPECT_EQ(run.interventions, 4U);
    EXPECT_EQ(run.skipped_calls, 2U);
    EXPECT_EQ(run.unlocked_hooks, 5U);
    EXPECT_TRUE(run.disturbed());
    EXPECT_EQ(run.order_hash, 0xdeadbeefULL);
    EXPECT_EQ(run.violations, 0U);
    EXPECT_DOUBLE_EQ(run.duration_ms, 1.5);
}

TEST(Store, KeepsWhatIsSetOfThePolicy) {
    RunRecord record{some_options(), "/", some_run(), "1", "2"};
    record.options.policy = "stride";
    record.options.parameters.set(Parameter::stride_edges, 2);
    record.options.parameters.set(Parameter::final_wait, 0);
    record.options.strides = {3, {{0xc0ffee, 12}}};
    auto parsed = parse_record(to_json_text(record), "here");
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->options.policy, "stride");
    EXPECT_EQ(parsed->options.parameters, record.options.parameters);
    EXPECT_EQ(parsed->options.strides, record.options.strides);
    EXPECT_EQ(parsed->result.algorithm.strides, record.options.strides);
    // Also a default is written down: it may differ in another version.
    record.options.parameters = {};
    parsed = parse_record(to_json_text(record), "here");
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->options.parameters.set_value(Parameter::stride_edges), 1U);
    json damaged = json::parse(to_json_text(record));
    damaged["parameters"]["stride_edges"] = 0;
    EXPECT_FALSE(parse_record(damaged.dump(), "here"));
    damaged = json::parse(to_json_text(record));
    damaged["strides"] = "3,12";
    EXPECT_FALSE(parse_record(damaged.dump(), "here"));
    damaged["parameters"] = json::object();
    EXPECT_FALSE(parse_record(damaged.dump(), "here"));
}

TEST(Store, KeepsTheRunsOwnPolicyOfAPortfolio) {
    const TemporaryDirectory directory;
    ExecutorOptions options = some_options();
    options.policy = "pct,stride";
    options.parameters.set(Parameter::stride_max, 5);
    RunStore store(directory / "out", options, "/");
    RunResult run = some_run();
    run.algorithm = {"stride", 2, {5, {}}};
    const auto kept = store.keep(run);
    ASSERT_TRUE(kept) << kept.error().message;
    const auto loaded = load_record(*kept);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->options.policy, "stride");
    EXPECT_EQ(loaded->options.depth, 2U);
    EXPECT_EQ(loaded->options.parameters.value(Parameter::stride_max), 5U);
    EXPECT_EQ(loaded->result.algorithm, run.algorithm);
}

// A replay does not know of the runs that a time limit came from.
TEST(Store, KeepsTheTimeLimitThatTheRunHad) {
    RunRecord record{some_options(), "/", some_run(), "1", "2"};
    record.options.timeout = std::nullopt;
    record.result.time_limit = 33s;
    record.result.outcome = Outcome::unfinished;
    const auto parsed = parse_record(to_json_text(record), "here");
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->options.timeout, 33s);
    EXPECT_EQ(parsed->result.time_limit, 33s);
    EXPECT_EQ(parsed->result.outcome, Outcome::unfinished);
}

TEST(Store, AbsentThingsStayAbsent) {
    RunRecord record{{}, "/", some_run(), "1", "2"};
    record.options.command = {"a"};
    record.options.depth = 2;
    record.result.violations = std::nullopt;
    const auto parsed = parse_record(to_json_text(record), "here");
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->options.cgroup, std::nullopt);
    EXPECT_EQ(parsed->options.user, std::nullopt);
    EXPECT_EQ(parsed->result.violations, std::nullopt);
}

TEST(Store, MakesNothingBeforeItIsNeeded) {
    const TemporaryDirectory directory;
    const RunStore store(directory / "a/b", some_options(), "/");
    EXPECT_FALSE(fs::exists(directory / "a"));
}

TEST(Store, LeavesNothingButTheRuns) {
    const TemporaryDirectory directory;
    RunStore store(directory / "a/b", some_options(), "/");
    ASSERT_TRUE(store.keep(some_run(1)));
    ASSERT_TRUE(store.keep(some_run(2)));
    ASSERT_TRUE(store.keep(some_run(1)));
    EXPECT_EQ(names_in(directory / "a/b"), (std::set<std::string>{"run-1", "run-2"}));
    EXPECT_EQ(names_in(directory / "a/b/run-1"),
              (std::set<std::string>{"run.json", "stderr", "stdout"}));
    EXPECT_EQ(fs::status(directory / "a/b/run-1").permissions(), fs::perms(0755));
}

TEST(Store, ReplacesAnEarlierCampaignsRun) {
    const TemporaryDirectory directory;
    RunStore store(directory.path(), some_options(), "/");
    ASSERT_TRUE(store.keep(some_run()));
    put(directory / "run-17/core", "left by somebody");
    RunResult newer = some_run();
    newer.err = "newer";
    ASSERT_TRUE(store.keep(newer));
    EXPECT_EQ(contents(directory / "run-17/stderr"), "newer");
    EXPECT_FALSE(fs::exists(directory / "run-17/core"));
    EXPECT_EQ(names_in(directory.path()), (std::set<std::string>{"run-17"}));
}

TEST(Store, LeavesAloneWhatIsNotItsOwn) {
    const TemporaryDirectory directory;
    RunStore store(directory.path(), some_options(), "/");
    fs::create_directory(directory / "run-17");
    put(directory / "run-17/thesis.tex", "years of work");
    put(directory / "run-18", "a file");
    fs::create_directory(directory / "elsewhere");
    put(directory / "elsewhere/run.json", "{}");
    fs::create_directory_symlink("elsewhere", directory / "run-19");
    for (const std::uint32_t number : {17U, 18U, 19U}) {
        const auto kept = store.keep(some_run(number));
        ASSERT_FALSE(kept);
        EXPECT_EQ(kept.error().status, ExitStatus::environment);
        EXPECT_NE(kept.error().message.find("--out"), std::string::npos);
        EXPECT_EQ(kept.error().message.find('\n'), std::string::npos);
    }
    EXPECT_EQ(contents(directory / "run-17/thesis.tex"), "years of work");
    EXPECT_EQ(contents(directory / "run-18"), "a file");
    EXPECT_EQ(contents(directory / "elsewhere/run.json"), "{}");
    EXPECT_EQ(names_in(directory.path()),
              (std::set<std::string>{"run-17", "run-18", "run-19", "elsewhere"}));
}

TEST(Store, TakesAnEmptyDirectory) {
    const TemporaryDirectory directory;
    fs::create_directory(directory / "run-17");
    RunStore store(directory.path(), some_options(), "/");
    ASSERT_TRUE(store.keep(some_run()));
    EXPECT_TRUE(fs::exists(directory / "run-17/run.json"));
}

TEST(Store, AnImpossiblePlaceIsOneLine) {
    const TemporaryDirectory directory;
    put(directory / "file", "");
    RunStore store(directory / "file/out", some_options(), "/");
    const auto kept = store.keep(some_run());
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().status, ExitStatus::environment);
    EXPECT_EQ(kept.error().message.find('\n'), std::string::npos);
    EXPECT_NE(kept.error().message.find("run 17"), std::string::npos);
}

// A limit on the size of files stands for a full disk: write() takes a part, then fails.
TEST(Store, AFullDiskLeavesNothingHalfWritten) {
    const TemporaryDirectory directory;
    RunStore store(directory / "out", some_options(), "/");
    RunResult big = some_run();
    big.err = std::string(100000, 'x');
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4096, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto kept = store.keep(big);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, old_handler);
    ASSERT_FALSE(kept);
    EXPECT_NE(kept.error().message.find("File too large"), std::string::npos)
        << kept.error().message;
    EXPECT_TRUE(names_in(directory / "out").empty());
    EXPECT_TRUE(store.keep(big)); // room again
}

TEST(Store, MissingRunsAreExplained) {
    const TemporaryDirectory directory;
    const auto loaded = load_record(directory / "run-1");
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().status, ExitStatus::usage);
    EXPECT_NE(loaded.error().message.find("run-1/run.json: No such file"), std::string::npos)
        << loaded.error().message;
}

// Whatever is wrong with a file gives one line that names it, never an exception.
TEST(Store, DamagedFilesAreExplained) {
    RunRecord record{some_options(), "/", some_run(), "1", "2"};
    const std::string good = to_json_text(record);
    ASSERT_TRUE(parse_record(good, "F"));
    const auto complaint = [](const std::string& text) {
        const auto parsed = parse_record(text, "F");
        if (parsed) {
            ADD_FAILURE() << "accepted: " << text;
            return std::string();
        }
        EXPECT_EQ(parsed.error().status, ExitStatus::usage);
        EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos);
        EXPECT_TRUE(parsed.error().message.starts_with("F ")) << parsed.error().message;
        return parsed.error().message;
    };
    for (const std::string text : {"", "x", "\xff", "[]", "3", "{}", "null"})
        complaint(text);
    complaint(good.substr(0, good.size() / 2));
    const json whole = json::parse(good);
    for (const auto& [key, value] : whole.items()) {
        json without = json::parse(good);
        without.erase(key);
        complaint(without.dump());
        for (const json& wrong : {json(-1), json("zz"), json(1.5), json::array({json::object()}),
                                  json::object({{"hex", "abc"}}), json(true)}) {
            // Values that are valid here: any text, any signed number.
            if (key == "detail" || ((key == "exit_code" || key == "signal") && wrong == -1) ||
                (key == "duration_ms" && wrong.is_number()) ||
                (wrong == "zz" && (key == "cwd" || key == "cgroup" || key == "user")))
                continue;
            json changed = json::parse(good);
            changed[key] = wrong;
            complaint(changed.dump());
        }
    }
    json other = json::parse(good);
    other["schema"] = 1;
    EXPECT_NE(complaint(other.dump()).find("schema 1"), std::string::npos);
    other = json::parse(good);
    other["kind"] = "something";
    EXPECT_NE(complaint(other.dump()).find("not a run"), std::string::npos);
    other = json::parse(good);
    other["pids_limit"] = 0x100000001; // 1, were it truncated
    complaint(other.dump());
    other = json::parse(good);
    other["depth"] = 65;
    complaint(other.dump());
    other["depth"] = 0;
    complaint(other.dump());
    other = json::parse(good);
    other["cgroup"] = "../system.slice";
    complaint(other.dump());
    other = json::parse(good);
    other["command"] = {std::string("a\0b", 3)};
    complaint(other.dump());
}

} // namespace
} // namespace pctctl
