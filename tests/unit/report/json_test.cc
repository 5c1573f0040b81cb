// SPDX-License-Identifier: GPL-2.0-only
#include "report/json.h"

#include <sys/stat.h>

#include <filesystem>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/options.h"
#include "report/reports.h"
#include "support/temporary_directory.h"

namespace pctctl {
namespace {

using nlohmann::json;

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
                                      {"unfinished", 0},
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

TEST(Json, HasExactlyTheDocumentedFields) {
    const json j = json::parse(summary_json(failing_report()));
    std::set<std::string> fields;
    for (const auto& [key, value] : j.items())
        fields.insert(key);
    EXPECT_EQ(fields,
              (std::set<std::string>{
                  "schema",      "command",        "policy",        "parameters", "depth",
                  "points",      "campaign_seed",  "runs_done",     "failures",   "first_failure",
                  "threads",     "steps",          "k_eff",         "orders",     "policies",
                  "bound_run",   "bound_campaign", "interventions", "disturbed",  "violations",
                  "elapsed_s",   "results",        "timeout_s",     "unfinished", "focus",
                  "shared_names"}));
    fields.clear();
    for (const auto& [key, value] : j["results"][2].items())
        fields.insert(key);
    EXPECT_EQ(fields,
              (std::set<std::string>{"run", "seed", "outcome", "exit_code", "signal", "policy",
                                     "depth", "strides", "threads", "steps", "k_eff", "switches",
                                     "duration_ms", "order_hash", "time_limit_s"}));
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
    EXPECT_EQ(j["orders"], 1);
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

TEST(Json, TellsUnfinishedRunsAndTimeLimits) {
    Report report = failing_report();
    json j = json::parse(summary_json(report));
    EXPECT_EQ(j["unfinished"], 0);
    EXPECT_TRUE(j["timeout_s"].is_null());
    EXPECT_EQ(j["results"][0]["time_limit_s"], 60);
    report.campaign.runs[1].outcome = Outcome::unfinished;
    report.campaign.runs[1].time_limit = std::chrono::milliseconds(1500);
    report.options.timeout = std::chrono::milliseconds(1500);
    retally(report);
    j = json::parse(summary_json(report));
    EXPECT_EQ(j["unfinished"], 1);
    EXPECT_EQ(j["failures"], 1);
    EXPECT_EQ(j["policies"][0]["unfinished"], 1);
    EXPECT_EQ(j["timeout_s"], 1.5);
    EXPECT_EQ(j["results"][1]["outcome"], "unfinished");
    EXPECT_EQ(j["results"][1]["time_limit_s"], 1.5);
}

TEST(Json, HasTheParametersOfThePolicy) {
    Report report = passing_report();
    report.options.policy = "pos";
    report.options.parameters.set(Parameter::pos_readonly, 0);
    EXPECT_EQ(json::parse(summary_json(report))["parameters"],
              json({{"pos_readonly", false}, {"final_wait", true}}));
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
