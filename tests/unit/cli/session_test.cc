// SPDX-License-Identifier: GPL-2.0-only
// Whole calls of pctctl, with an executor that makes up its runs.
#include "cli/session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/fake_executor.h"
#include "support/temporary_directory.h"

namespace pctctl {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class Session : public testing::Test {
protected:
    Session() : before_(fs::current_path()) {
        fs::current_path(top_.path());
        options_.given.command = {"./app"};
        options_.runs = 10;
        options_.campaign_seed = 42;
    }
    ~Session() override { fs::current_path(before_); }

    // Runs a session with options_ and runs that behave like this. Fills out_, err_ and json_.
    ExitStatus call(const FakeExecutor::Behaviour& behaviour) {
        char* out = nullptr;
        char* err = nullptr;
        std::size_t out_size = 0;
        std::size_t err_size = 0;
        std::FILE* out_stream = ::open_memstream(&out, &out_size);
        std::FILE* err_stream = ::open_memstream(&err, &err_size);
        std::FILE* json_file = std::tmpfile();
        Surroundings around;
        around.make_executor =
            [&](const ExecutorOptions& given) -> Result<std::unique_ptr<Executor>> {
            executor_options_ = given;
            if (no_executor_)
                return *no_executor_;
            auto executor = std::make_unique<FakeExecutor>(behaviour);
            for (const std::string& warning : warnings_)
                executor->warn(warning);
            return std::unique_ptr<Executor>(std::move(executor));
        };
        around.listen_for_interrupts = [this] { return stop_.get_token(); };
        around.out = out_stream;
        around.err = err_stream;
        around.log = Log(err_stream, options_.diagnostics());
        if (options_.log) {
            EXPECT_TRUE(around.log.also_to(*options_.log));
        }
        around.json_fd = ::fileno(json_file);
        around.kernel = "7.3.4";
        const ExitStatus status = run_session(options_, around);
        std::fclose(out_stream);
        std::fclose(err_stream);
        out_.assign(out, out_size);
        err_.assign(err, err_size);
        std::free(out);
        std::free(err);
        json_.clear();
        std::fseek(json_file, 0, SEEK_SET);
        for (int c; (c = std::fgetc(json_file)) != EOF;)
            json_ += static_cast<char>(c);
        std::fclose(json_file);
        return status;
    }

    static Result<RunResult> third_fails(const RunPlan& plan) {
        RunResult run = plan.number == 3 ? failing_run() : passing_run();
        run.violations = plan.verify ? std::optional<std::uint64_t>(0) : std::nullopt;
        return run;
    }
    static Result<RunResult> all_pass(const RunPlan&) { return passing_run(); }

    TemporaryDirectory top_;
    fs::path before_;
    Options options_;
    std::optional<Error> no_executor_;
    std::vector<std::string> warnings_; // of the executor
    std::stop_source stop_;
    ExecutorOptions executor_options_;
    std::string out_;
    std::string err_;
    std::string json_;
};

TEST_F(Session, NothingFound) {
    EXPECT_EQ(call(all_pass), ExitStatus::nothing_found);
    EXPECT_TRUE(contains(out_, "no failure in 10 runs"));
    EXPECT_TRUE(contains(out_, "campaign seed 0x000000000000002a"));
    EXPECT_FALSE(fs::exists("pctctl-out"));
    EXPECT_EQ(json_, "");
}

TEST_F(Session, WarningsAreSaidOnce) {
    warnings_ = {"no limit"};
    options_.quiet = true;
    EXPECT_EQ(call(all_pass), ExitStatus::nothing_found);
    EXPECT_EQ(err_, "pctctl: warning: no limit\n");
}

TEST_F(Session, Found) {
    EXPECT_EQ(call(third_fails), ExitStatus::found);
    EXPECT_TRUE(contains(out_, "1 of 3 runs failed"));
    EXPECT_TRUE(contains(out_, "replay: pctctl replay pctctl-out/run-3"));
    EXPECT_TRUE(fs::exists("pctctl-out/run-3/run.json"));
    EXPECT_EQ(contents("pctctl-out/run-3/stderr"), "first line\nlast words\n");
    EXPECT_TRUE(contains(err_, "run 3 failed: signal SIGSEGV"));
}

TEST_F(Session, UnfinishedRunsAreNoFailures) {
    const auto slow = [](const RunPlan& plan) {
        RunResult run = passing_run();
        if (plan.number != 3)
            run.outcome = Outcome::unfinished;
        return run;
    };
    EXPECT_EQ(call(slow), ExitStatus::nothing_found);
    EXPECT_TRUE(contains(out_, "no failure in 10 runs, 9 unfinished")) << out_;
    EXPECT_FALSE(contains(err_, "WARNING")) << err_;
    EXPECT_FALSE(fs::exists("pctctl-out"));
    EXPECT_EQ(call([&](const RunPlan& plan) {
                  RunResult run = slow(plan);
                  if (plan.number == 5)
                      run.outcome = Outcome::timeout;
                  return run;
              }),
              ExitStatus::found);
    EXPECT_TRUE(contains(out_, "1 of 5 runs failed, 3 unfinished")) << out_;
}

TEST_F(Session, IsLoudWhenNoRunWasFinished) {
    options_.quiet = true;
    options_.given.timeout = std::chrono::seconds(4);
    std::chrono::nanoseconds limit{0};
    EXPECT_EQ(call([&limit](const RunPlan& plan) {
                  limit = plan.time_limit;
                  RunResult run = passing_run();
                  run.outcome = Outcome::unfinished;
                  return run;
              }),
              ExitStatus::nothing_found);
    EXPECT_EQ(limit, std::chrono::seconds(4));
    EXPECT_EQ(err_,
              "pctctl: WARNING: NO RUN WAS FINISHED in its time (4 s), so nothing was explored "
              "to the end; --timeout 8 gives each twice as long\n");
}

TEST_F(Session, OptionsReachTheExecutor) {
    options_.given.depth = 3;
    options_.given.jobs = 2;
    options_.given.verify = true;
    call(third_fails);
    EXPECT_EQ(executor_options_.depth, 3U);
    EXPECT_EQ(executor_options_.jobs, 2U);
    EXPECT_TRUE(executor_options_.verify);
    EXPECT_TRUE(contains(out_, "witness: 0 violations"));
}

TEST_F(Session, APortfolioSharesTheRunsOut) {
    options_.given.policy = "stride,pct";
    options_.given.depth = 3;
    EXPECT_EQ(call(third_fails), ExitStatus::found);
    EXPECT_TRUE(contains(out_, "policy stride: 1 of 2 runs failed (rate 0.5), the first is run 3"))
        << out_;
    EXPECT_TRUE(contains(out_, "policy pct: 0 of 1 run failed"));
    options_ = Options();
    options_.mode = Mode::replay;
    options_.replay_dir = "pctctl-out/run-3";
    RunPlan used;
    call([&](const RunPlan& plan) {
        used = plan;
        return failing_run();
    });
    EXPECT_EQ(used.algorithm, (Algorithm{"stride", 3, {}}));
    EXPECT_EQ(executor_options_.policy, "stride");
}

TEST_F(Session, TheDepthIsDrawnUnlessGiven) {
    options_.runs = 40;
    EXPECT_EQ(call(all_pass), ExitStatus::nothing_found);
    EXPECT_TRUE(contains(out_, "depth d = auto")) << out_;
    EXPECT_TRUE(contains(out_, "(depth 3)"));
    // A replay of a kept run uses the depth that is stored with the run.
    RunPlan failed;
    EXPECT_EQ(call([&](const RunPlan& plan) {
                  failed = plan;
                  return plan.algorithm.depth == 4 ? failing_run() : passing_run();
              }),
              ExitStatus::found);
    options_ = Options();
    options_.mode = Mode::replay;
    options_.replay_dir = "pctctl-out/run-" + std::to_string(failed.number);
    RunPlan used;
    const auto fails = [&](const RunPlan& plan) {
        used = plan;
        return failing_run();
    };
    call(fails);
    EXPECT_EQ(used.algorithm, failed.algorithm);
    // A replay of a seed draws the same depth from it.
    options_ = Options();
    options_.mode = Mode::replay;
    options_.replay_seed = failed.seed;
    options_.given.command = {"./app"};
    call(fails);
    EXPECT_EQ(used.algorithm, failed.algorithm);
}

TEST_F(Session, ARandomSeedIsPrintedAndDiffers) {
    options_.campaign_seed = std::nullopt;
    call(all_pass);
    const std::string first = out_.substr(out_.find("campaign seed"));
    call(all_pass);
    EXPECT_NE(first, out_.substr(out_.find("campaign seed")));
}

TEST_F(Session, QuietSaysFailuresOnly) {
    options_.quiet = true;
    EXPECT_EQ(call(all_pass), ExitStatus::nothing_found);
    EXPECT_EQ(out_ + err_, "");
    EXPECT_EQ(call(third_fails), ExitStatus::found);
    EXPECT_TRUE(contains(out_, "run 3: signal SIGSEGV"));
    EXPECT_EQ(err_, "");
}

TEST_F(Session, JsonToAFileOrStandardOutput) {
    options_.json = "result.json";
    call(third_fails);
    EXPECT_EQ(json::parse(contents("result.json"))["first_failure"], 3);
    options_.json = "-";
    call(third_fails);
    EXPECT_EQ(json::parse(json_)["runs_done"], 3);
    EXPECT_TRUE(contains(out_, "1 of 3 runs failed")); // main() puts it on stderr
}

TEST_F(Session, JsonThatCannotBeWrittenIsSaidAfterTheSummary) {
    options_.json = "no/such/result.json";
    EXPECT_EQ(call(third_fails), ExitStatus::environment);
    EXPECT_TRUE(contains(out_, "1 of 3 runs failed"));
    EXPECT_TRUE(contains(err_, "pctctl: cannot write "));
}

TEST_F(Session, NoExecutorIsOneLine) {
    no_executor_ = Error::environment("another scheduler is loaded: scx_other");
    EXPECT_EQ(call(all_pass), ExitStatus::environment);
    EXPECT_EQ(err_, "pctctl: another scheduler is loaded: scx_other\n");
    EXPECT_EQ(out_, "");
    no_executor_ = Error::usage("cannot execute ./app");
    EXPECT_EQ(call(all_pass), ExitStatus::usage);
}

TEST_F(Session, AnErrorInTheMiddleKeepsTheResults) {
    options_.json = "-";
    options_.keep_going = true;
    EXPECT_EQ(call([](const RunPlan& plan) -> Result<RunResult> {
                  if (plan.number == 5)
                      return Error::environment("the scheduler was ejected: runnable task stall");
                  return third_fails(plan);
              }),
              ExitStatus::environment);
    EXPECT_TRUE(contains(out_, "1 of 4 runs failed"));
    EXPECT_TRUE(contains(out_, "ended early, 10 were planned"));
    EXPECT_TRUE(contains(err_, "\npctctl: the scheduler was ejected: runnable task stall\n"));
    EXPECT_EQ(json::parse(json_)["runs_done"], 4);
    EXPECT_TRUE(fs::exists("pctctl-out/run-3"));
}

TEST_F(Session, AnErrorBeforeAnyResultIsOneLine) {
    options_.json = "-";
    EXPECT_EQ(
        call([](const RunPlan&) -> Result<RunResult> { return Error::usage("no such program"); }),
        ExitStatus::usage);
    EXPECT_EQ(out_ + json_, "");
    EXPECT_EQ(err_, "pctctl: no such program\n");
}

TEST_F(Session, RunsThatCannotBeKeptAreNotLost) {
    put("file", "");
    options_.out = "file/out";
    options_.keep_going = true;
    options_.quiet = true;
    EXPECT_EQ(call([](const RunPlan&) -> Result<RunResult> { return failing_run(); }),
              ExitStatus::environment);
    EXPECT_TRUE(contains(out_, "10 of 10 runs failed"));
    EXPECT_TRUE(contains(out_, "replay: pctctl replay --seed 0000000a")) << out_;
    EXPECT_TRUE(contains(err_, "cannot keep run 1 in file/out/run-1"));
    EXPECT_TRUE(contains(err_, "10 of 10 failing runs could not be kept"));
    EXPECT_EQ(lines(err_), 2U) << err_; // not one for each run
}

TEST_F(Session, ViolationsCastDoubt) {
    options_.given.verify = true;
    EXPECT_EQ(call([](const RunPlan& plan) -> Result<RunResult> {
                  RunResult run = passing_run();
                  run.violations = plan.number == 2;
                  return run;
              }),
              ExitStatus::environment);
    EXPECT_TRUE(contains(out_, "witness: 1 violation in 10 verified runs"));
}

TEST_F(Session, NothingControlledIsSaidLoudlyEvenWhenQuiet) {
    options_.quiet = true;
    EXPECT_EQ(call([](const RunPlan&) -> Result<RunResult> { return passing_run(0); }),
              ExitStatus::nothing_found);
    EXPECT_TRUE(contains(err_, "NOTHING WAS CONTROLLED"));
}

TEST_F(Session, AnInterruptReportsWhatThereIs) {
    options_.keep_going = true;
    EXPECT_EQ(call([this](const RunPlan& plan) {
                  if (plan.number == 4)
                      stop_.request_stop();
                  return third_fails(plan);
              }),
              ExitStatus::found);
    EXPECT_TRUE(contains(out_, "1 of 4 runs failed"));
    EXPECT_TRUE(contains(out_, "interrupted, 10 were planned"));
    EXPECT_EQ(call(third_fails), ExitStatus::nothing_found); // stopped before the first run
    EXPECT_TRUE(contains(out_, "no failure in 0 runs"));
}

TEST_F(Session, DiagnosticsGoToStderrAndTheLogOnly) {
    options_.json = "-";
    options_.log = "log";
    call(third_fails);
    EXPECT_EQ(json::parse(json_)["runs_done"], 3); // there is nothing but JSON
    EXPECT_FALSE(contains(err_, "info: ")) << err_;
    const std::string log = contents("log");
    EXPECT_TRUE(contains(log, " info: program: ./app\n")) << log;
    EXPECT_TRUE(contains(log,
                         " info: campaign: 10 runs, seed 0x000000000000002a, policy pct, depth "
                         "auto, points pthread,syscall, jobs 1\n"))
        << log;
    EXPECT_TRUE(contains(log, " debug: run 3 is kept in pctctl-out/run-3\n")) << log;
    EXPECT_TRUE(contains(log, " info: over after 3 runs in ")) << log;
    EXPECT_TRUE(contains(log, ": a run has failed\n")) << log;

    options_.verbose = true;
    call(third_fails);
    const std::string summary = out_;
    EXPECT_FALSE(contains(err_, "debug: ")) << err_;
    options_.debug = true;
    call(third_fails);
    EXPECT_EQ(json::parse(json_)["runs_done"], 3);
    EXPECT_EQ(lines(out_), lines(summary)); // its times differ
    EXPECT_FALSE(contains(out_, "info: ") || contains(out_, "debug: ")) << out_;
    EXPECT_TRUE(contains(err_, "pctctl: info: program: ./app\n")) << err_;
    EXPECT_TRUE(contains(err_, "pctctl: debug: run 3 is kept in pctctl-out/run-3\n")) << err_;
}

TEST_F(Session, TheEndOfARunIsShownOnce) {
    const auto ends = [this](const std::string& number) {
        std::size_t count = 0;
        for (std::size_t at = 0; (at = err_.find("run " + number + ": ", at)) != std::string::npos;)
            at++, count++;
        return count;
    };
    options_.log = "log";
    options_.verbose = true;
    call(third_fails);
    EXPECT_EQ(ends("2"), 1U) << err_;
    EXPECT_TRUE(contains(err_, "\nrun 3: signal SIGSEGV")) << err_;
    EXPECT_TRUE(contains(contents("log"), " debug: run 3: signal SIGSEGV"));
    options_.debug = true;
    call(third_fails);
    EXPECT_EQ(ends("2"), 1U) << err_;
    EXPECT_EQ(ends("3"), 1U) << err_;
    EXPECT_TRUE(contains(err_, "\npctctl: debug: run 3: signal SIGSEGV")) << err_;
}

TEST_F(Session, WarningsAndErrorsAreInTheLogAsWell) {
    options_.log = "log";
    options_.quiet = true;
    warnings_ = {"no limit"};
    call([](const RunPlan&) -> Result<RunResult> { return Error::usage("no such program"); });
    EXPECT_EQ(err_, "pctctl: warning: no limit\npctctl: no such program\n");
    EXPECT_TRUE(contains(contents("log"), " warning: no limit\n"));
    EXPECT_TRUE(contains(contents("log"), " error: no such program\n"));
    EXPECT_TRUE(contains(contents("log"), ": error: no such program\n")); // the reason at the end
}

TEST_F(Session, TheLogSaysWhyItIsOver) {
    options_.log = "log";
    call(all_pass);
    EXPECT_TRUE(contains(contents("log"), "over after 10 runs")) << contents("log");
    EXPECT_TRUE(contains(contents("log"), ": all runs are done\n"));
    call([this](const RunPlan& plan) {
        if (plan.number == 4)
            stop_.request_stop();
        return all_pass(plan);
    });
    EXPECT_TRUE(contains(contents("log"), "over after 4 runs")) << contents("log");
    EXPECT_TRUE(contains(contents("log"), ": it was interrupted\n"));
}

class ReplaySession : public Session {
protected:
    ReplaySession() {
        options_.given.depth = 3;
        options_.given.points = 1;
        Session::call(third_fails);
        fs::create_directory("elsewhere");
        fs::current_path("elsewhere");
        options_ = Options();
        options_.mode = Mode::replay;
        options_.replay_dir = "../pctctl-out/run-3";
    }
};

TEST_F(ReplaySession, UsesTheKeptPlanAndPlace) {
    fs::path where;
    RunPlan used;
    EXPECT_EQ(call([&](const RunPlan& plan) {
                  where = fs::current_path();
                  used = plan;
                  return failing_run();
              }),
              ExitStatus::found);
    EXPECT_EQ(where, top_.path());
    EXPECT_EQ(used.seed.k, 10U);
    EXPECT_EQ(executor_options_.depth, 3U);
    EXPECT_EQ(executor_options_.points, 1U);
    EXPECT_EQ(executor_options_.command, std::vector<std::string>{"./app"});
    EXPECT_TRUE(contains(out_, "same outcome, same order of steps as the kept run"));
    EXPECT_EQ(err_, "");
}

TEST_F(ReplaySession, OptionsOverrideTheKept) {
    options_.given.depth = 2;
    options_.given.command = {"./fixed"};
    EXPECT_EQ(call(all_pass), ExitStatus::nothing_found);
    EXPECT_EQ(executor_options_.depth, 2U);
    EXPECT_EQ(executor_options_.points, 1U);
    EXPECT_EQ(executor_options_.command, std::vector<std::string>{"./fixed"});
    EXPECT_TRUE(contains(out_, "DIFFERENT outcome"));
    EXPECT_TRUE(contains(out_, "depth 2 instead of 3"));
}

TEST_F(ReplaySession, UsesThePolicysOwnOptions) {
    fs::current_path(top_.path());
    options_ = Options();
    options_.given.command = {"./app"};
    options_.given.policy = "rpro";
    options_.given.parameters.set(Parameter::radius, 50);
    ASSERT_EQ(call(third_fails), ExitStatus::found);
    EXPECT_EQ(executor_options_.parameters.value(Parameter::radius), 50U);
    options_ = Options();
    options_.mode = Mode::replay;
    options_.replay_dir = "pctctl-out/run-3";
    call(third_fails);
    EXPECT_EQ(executor_options_.policy, "rpro");
    EXPECT_EQ(executor_options_.parameters.value(Parameter::radius), 50U);
    options_.given.parameters.set(Parameter::radius, 5);
    call(third_fails);
    EXPECT_EQ(executor_options_.parameters.value(Parameter::radius), 5U);
    options_.given.parameters.set(Parameter::stride_max, 5);
    EXPECT_EQ(call(third_fails), ExitStatus::usage);
    EXPECT_EQ(err_, "pctctl: --stride-max is an option of policy stride, not of rpro (see pctctl "
                    "policies)\n");
}

TEST_F(ReplaySession, WritesJsonWhereTheUserIs) {
    options_.json = "replay.json";
    options_.times = 5;
    call([](const RunPlan& plan) { return plan.number == 2 ? passing_run() : failing_run(); });
    const json j = json::parse(contents(top_ / "elsewhere/replay.json"));
    EXPECT_TRUE(j["campaign_seed"].is_null());
    EXPECT_EQ(j["runs_done"], 5);
    EXPECT_EQ(j["bound_campaign"], 0);
    EXPECT_EQ(j["replay"]["tries"], 5);
    EXPECT_EQ(j["replay"]["same_outcome"], 4);
    EXPECT_EQ(j["results"][4]["seed"], j["results"][0]["seed"]);
}

TEST_F(ReplaySession, BySeed) {
    options_ = Options();
    options_.mode = Mode::replay;
    options_.replay_seed = RunSeed{7, 8};
    options_.given.command = {"./app"};
    RunPlan used;
    EXPECT_EQ(call([&](const RunPlan& plan) {
                  used = plan;
                  return passing_run();
              }),
              ExitStatus::nothing_found);
    EXPECT_EQ(used.seed, (RunSeed{7, 8}));
    EXPECT_TRUE(contains(out_, "replay of seed 000000070000000000000008"));
}

TEST_F(ReplaySession, MissingRunsAndPlacesAreOneLine) {
    options_.replay_dir = "nowhere";
    EXPECT_EQ(call(all_pass), ExitStatus::usage);
    EXPECT_TRUE(contains(err_, "nowhere/run.json"));
    EXPECT_EQ(lines(err_), 1U);
    fs::copy(top_ / "pctctl-out", top_ / "copy", fs::copy_options::recursive);
    const std::string kept = contents(top_ / "copy/run-3/run.json");
    put(top_ / "copy/run-3/run.json",
        kept.substr(0, kept.find(top_.path().string())) + "/no/such/place" +
            kept.substr(kept.find(top_.path().string()) + top_.path().string().size()));
    options_.replay_dir = (top_ / "copy/run-3").string();
    EXPECT_EQ(call(all_pass), ExitStatus::environment);
    EXPECT_TRUE(contains(err_, "cannot go to /no/such/place")) << err_;
}

TEST_F(ReplaySession, QuietSaysFailuresOnly) {
    options_.quiet = true;
    EXPECT_EQ(call(all_pass), ExitStatus::nothing_found);
    EXPECT_EQ(out_ + err_, "");
    fs::current_path(top_.path());
    options_.replay_dir = "pctctl-out/run-3";
    EXPECT_EQ(call([](const RunPlan&) { return failing_run(); }), ExitStatus::found);
    EXPECT_TRUE(contains(out_, "same outcome"));
}

} // namespace
} // namespace pctctl
