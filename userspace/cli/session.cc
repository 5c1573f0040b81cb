// SPDX-License-Identifier: GPL-2.0-only
#include "cli/session.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <random>

#include <spdlog/fmt/fmt.h>

#include "base/files.h"
#include "base/text.h"
#include "campaign/campaign.h"
#include "plan/point_sets.h"
#include "plan/policies.h"
#include "plan/stride_ratio.h"
#include "report/json.h"
#include "report/progress.h"
#include "report/replay.h"
#include "report/store.h"
#include "report/summary.h"

namespace pctctl {
namespace {

namespace fs = std::filesystem;

ExitStatus give_up(const Surroundings& around, const Error& error) {
    around.log.error(error.message);
    return error.status;
}

std::uint64_t random_seed() {
    std::random_device device; // the kernel's
    return std::uint64_t{device()} << 32 | device();
}

Verbosity verbosity(const Options& options) {
    if (options.quiet || options.debug) // with -vv the log has the same lines
        return Verbosity::quiet;
    return options.verbose ? Verbosity::verbose : Verbosity::normal;
}

Caller caller(const Options& options, const Surroundings& around) {
    return {options.invoked_as, around.sudo, around.vm || options.inside_vm};
}

// Writes the results, and knows whether all of them have arrived.
class Delivery {
public:
    explicit Delivery(const Surroundings& around) : around_(around) {}

    void print(const std::string& text) {
        std::fputs(text.c_str(), around_.out);
        if (std::fflush(around_.out) != 0)
            lost(fmt::format("cannot print the results: {}", errno_text(errno)));
    }

    void json(const Options& options, const fs::path& cwd, const Report& report) {
        if (!options.json)
            return;
        const std::string text = summary_json(report);
        if (options.json_on_stdout()) {
            if (const int error = write_all(around_.json_fd, text))
                lost(fmt::format("cannot write JSON to standard output: {}", errno_text(error)));
        } else if (const Status status = write_report((cwd / *options.json).string(), text);
                   !status) {
            lost(status.error().message);
        }
    }

    void lost(const std::string& message) {
        around_.log.error(message);
        complete_ = false;
    }

    ExitStatus exit_status(const Report& report) const {
        if (report.campaign.error)
            return report.campaign.error->status;
        // With violations the scheduler is broken: the exit status must not claim a result.
        if (!complete_ || report.tally.violations.value_or(0) > 0)
            return ExitStatus::environment;
        return report.tally.failures > 0 ? ExitStatus::found : ExitStatus::nothing_found;
    }

private:
    const Surroundings& around_;
    bool complete_ = true;
};

// Writes failing runs to disk as they appear. Complains at once about the first that cannot be
// kept, and counts the others.
class Keeper {
public:
    Keeper(RunStore store, Progress& progress, Log log)
        : store_(std::move(store)), progress_(progress), log_(std::move(log)) {}

    void finished(const RunResult& run) {
        if (!run.failed())
            return;
        const auto place = store_.keep(run);
        if (place) {
            kept_[run.number] = *place;
            log_.debug("run {} is kept in {}", run.number, printable(*place));
        } else if (lost_++ == 0) {
            progress_.clear();
            log_.error(place.error().message);
        }
    }

    std::map<std::uint32_t, std::string> kept() const { return kept_; }
    std::uint64_t lost() const { return lost_; }

private:
    RunStore store_;
    Progress& progress_;
    Log log_;
    std::map<std::uint32_t, std::string> kept_;
    std::uint64_t lost_ = 0;
};

Result<std::unique_ptr<Executor>> make_executor(const ExecutorOptions& options,
                                                const Surroundings& around) {
    Result<std::unique_ptr<Executor>> executor = around.make_executor(options);
    if (executor)
        for (const std::string& warning : (*executor)->warnings())
            around.log.warning(warning);
    return executor;
}

// What is known before the first run.
struct Assignment {
    fs::path cwd;
    Report report;                 // options, seed and caller; the rest follows
    std::optional<RunRecord> kept; // the run that a replay repeats
    CampaignPlan plan;
    Verbosity progress = Verbosity::normal;
};

// The part of the plan that campaigns and replays share.
CampaignPlan plan_for(const Options& options, const ExecutorOptions& run) {
    CampaignPlan plan;
    plan.policies = *portfolio(run.policy);
    plan.depth = run.depth;
    plan.jobs = run.jobs;
    plan.timeout = run.timeout;
    plan.verify = run.verify;
    plan.focus = run.focus;
    plan.live_output = options.verbose;
    return plan;
}

Status assign_campaign(const Options& options, Assignment& work) {
    Report& report = work.report;
    report.options = options.given.over({});
    report.campaign_seed = options.campaign_seed ? *options.campaign_seed : random_seed();
    work.progress = verbosity(options);

    CampaignPlan& plan = work.plan = plan_for(options, report.options);
    plan.parameters = report.options.parameters;
    if (plan.parameters.set_value(Parameter::stride_max))
        plan.strides = report.options.strides;
    else if (std::ranges::find(plan.policies, "stride") != plan.policies.end())
        plan.stride_ratio =
            stride_ratio(std::max<std::uint64_t>(options.runs / plan.policies.size(), 1),
                         static_cast<unsigned>(plan.parameters.value(Parameter::stride_edges)));
    plan.seed = *report.campaign_seed;
    plan.runs = options.runs;
    plan.keep_going = options.keep_going;
    return Done{};
}

Status assign_replay(const Options& options, Assignment& work) {
    if (!options.replay_dir.empty()) {
        auto loaded = load_record(options.replay_dir);
        if (!loaded)
            return loaded.error();
        work.kept = std::move(*loaded);
        // The program must find its files where they were when the run was kept.
        if (::chdir(work.kept->cwd.c_str()) != 0)
            return Error::environment(fmt::format("cannot go to {}, where the kept run was: {}",
                                                  printable(work.kept->cwd), errno_text(errno)));
    }
    Report& report = work.report;
    report.options = options.given.over(work.kept ? work.kept->options : ExecutorOptions());
    if (const Status ok = options.given.check_for(report.options.policy); !ok)
        return ok.error();
    // A single run needs no progress: the text at the end says it all.
    work.progress = options.times == 1 && !options.verbose ? Verbosity::quiet : verbosity(options);

    CampaignPlan& plan = work.plan = plan_for(options, report.options);
    plan.strides = report.options.strides;
    plan.fixed = work.kept ? std::optional(work.kept->result.seed) : options.replay_seed;
    plan.runs = options.times;
    plan.keep_going = true;
    return Done{};
}

Result<Assignment> assign(const Options& options, const Surroundings& around) {
    Assignment work;
    std::error_code failure;
    work.cwd = fs::current_path(failure);
    if (failure)
        return Error::environment("the current directory is gone: " + failure.message());
    const Status assigned = options.mode == Mode::replay ? assign_replay(options, work)
                                                         : assign_campaign(options, work);
    if (!assigned)
        return assigned.error();
    work.report.planned = work.plan.runs;
    work.report.caller = caller(options, around);
    return work;
}

void tell_plan(const Log& log, const Assignment& work) {
    const CampaignPlan& plan = work.plan;
    const ExecutorOptions& how = work.report.options;
    log.info("program: {}", printable(shell_quote(how.command)));
    log.info("{}: {}, seed {}, policy {}, depth {}, points {}, jobs {}",
             plan.fixed ? "replay" : "campaign", counted(plan.runs, "run"),
             plan.fixed ? plan.fixed->text() : fmt::format("{:#018x}", plan.seed), how.policy,
             depth_text(how.depth), points_text(how.points), how.jobs);
}

// Why no more runs were started.
std::string why_over(const CampaignPlan& plan, const CampaignResult& result) {
    if (result.error)
        return "error: " + result.error->message;
    if (result.interrupted)
        return "it was interrupted";
    if (result.runs.size() == plan.runs)
        return "all runs are done";
    return "a run has failed";
}

// Empty when there is nothing to say.
std::string text_of(const Options& options, const Assignment& work, const std::string& kernel) {
    const Report& report = work.report;
    if (!report.replay)
        return summary_text(report, options.quiet     ? Detail::brief
                                    : options.verbose ? Detail::full
                                                      : Detail::normal);
    if (options.quiet && report.tally.failures == 0)
        return "";
    return replay_text(work.kept, options.replay_dir, report, kernel);
}

// Makes the runs of the plan, shows how far it is, and keeps failing runs of a campaign on disk.
// Returns how many of these could not be kept.
std::uint64_t carry_out(const Options& options, const Surroundings& around, Executor& executor,
                        Assignment& work) {
    Report& report = work.report;
    Progress progress(around.err, terminal_columns(around.err, options.inside_vm), work.progress,
                      work.plan.runs);
    Keeper keeper(RunStore(options.out, report.options, work.cwd.string()), progress, around.log);
    report.campaign = Campaign(work.plan, executor, [&](const RunResult& run) {
                          if (options.mode != Mode::replay)
                              keeper.finished(run);
                          progress.finished(run);
                          around.log.debug("{}", run_line(run));
                      }).run(around.listen_for_interrupts());
    around.log.info("over after {} in {}: {}", counted(report.campaign.runs.size(), "run"),
                    duration_text(report.campaign.elapsed_s), why_over(work.plan, report.campaign));
    report.kept = keeper.kept();
    return keeper.lost();
}

// Computes what the report says about the runs.
void evaluate(Mode mode, Assignment& work) {
    Report& report = work.report;
    report.tally = tally(report.campaign.runs, report.options, mode != Mode::replay);
    if (mode == Mode::replay)
        report.replay = judge_replay(work.kept, report.campaign.runs);
}

// Prints the report and writes JSON. What went wrong comes last, so that it is not overlooked.
ExitStatus deliver(const Options& options, const Surroundings& around, const Assignment& work,
                   std::uint64_t not_kept) {
    const Report& report = work.report;
    Delivery delivery(around);
    if (!report.campaign.runs.empty() || !report.campaign.error) {
        delivery.print(text_of(options, work, around.kernel));
        delivery.json(options, work.cwd, report);
    }
    for (const std::string& warning : {uncontrolled_warning(report), unfinished_warning(report)})
        if (!warning.empty())
            around.log.error(warning);
    if (not_kept > 0)
        delivery.lost(fmt::format("{} of {} could not be kept in {}; the seeds above repeat them",
                                  not_kept, counted(report.tally.failures, "failing run"),
                                  printable(options.out)));
    if (report.campaign.error)
        around.log.error(report.campaign.error->message);
    return delivery.exit_status(report);
}

} // namespace

ExitStatus run_session(const Options& options, const Surroundings& around) {
    auto work = assign(options, around);
    if (!work)
        return give_up(around, work.error());
    tell_plan(around.log, *work);
    auto executor = make_executor(work->report.options, around);
    if (!executor)
        return give_up(around, executor.error());
    const std::uint64_t not_kept = carry_out(options, around, **executor, *work);
    executor->reset(); // unload the scheduler before anything else can go wrong
    evaluate(options.mode, *work);
    return deliver(options, around, *work, not_kept);
}

} // namespace pctctl
