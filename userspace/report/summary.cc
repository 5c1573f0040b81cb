// SPDX-License-Identifier: GPL-2.0-only
#include "report/summary.h"

#include <algorithm>
#include <chrono>

#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "campaign/time_limit.h"
#include "plan/point_sets.h"
#include "plan/policies.h"
#include "report/commands.h"
#include "report/promises.h"

namespace pctctl {
namespace {

constexpr std::uint64_t kFailuresShown = 10;
constexpr std::size_t kViolationsShown = 5;

std::string headline(const Report& report) {
    const Tally& t = report.tally;
    std::string line = fmt::format("{}: ", printable(shell_quote(report.options.command), 200));
    if (t.nothing_finished())
        line += fmt::format("NO RUN OF {} WAS FINISHED", t.runs);
    else if (t.failures == 0)
        line += fmt::format("no failure in {}", counted(t.runs, "run"));
    else
        line += fmt::format("{} of {} failed", t.failures, counted(t.runs, "run"));
    if (t.unfinished > 0 && !t.nothing_finished())
        line += fmt::format(", {} unfinished", t.unfinished);
    line += fmt::format(", {}", duration_text(report.campaign.elapsed_s));
    if (report.campaign.interrupted)
        line += fmt::format("; interrupted, {} were planned", report.planned);
    else if (report.campaign.error)
        line += fmt::format("; ended early, {} were planned", report.planned);
    return line + "\n";
}

std::string failure_text(const Report& report, const RunResult& run) {
    std::string text = fmt::format("\nrun {}: {}\n", run.number, outcome_text(run));
    if (const std::string_view words = last_line(run.err); !words.empty())
        text += fmt::format("  its last words: {}\n", printable(words, 200));
    text += fmt::format("  seed:   {}\n", run.seed.text());
    const auto kept = report.kept.find(run.number);
    if (kept != report.kept.end())
        text += fmt::format("  kept:   {}\n  replay: {}\n", printable(kept->second),
                            replay_command(report.caller, std::string_view(kept->second)));
    else
        text += fmt::format("  replay: {}\n", replay_command(report.caller, run.seed,
                                                             options_for(report.options, run)));
    return text;
}

std::string failures_text(const Report& report) {
    std::string text;
    std::uint64_t shown = 0;
    for (const RunResult& run : report.campaign.runs) {
        if (!run.failed())
            continue;
        if (shown == kFailuresShown) {
            text += fmt::format("\n... and {}\n",
                                counted(report.tally.failures - shown, "more failure"));
            break;
        }
        text += failure_text(report, run);
        ++shown;
    }
    return text;
}

std::string seconds_text(std::chrono::nanoseconds time) {
    return fmt::format("{}", std::chrono::duration<double>(time).count());
}

std::chrono::nanoseconds longest_unfinished(const Report& report) {
    std::chrono::nanoseconds longest{0};
    for (const RunResult& run : report.campaign.runs)
        if (run.outcome == Outcome::unfinished)
            longest = std::max(longest, run.time_limit);
    return longest;
}

// Runs that their time limit ended although they got on, and what to do about them.
std::string unfinished_text(const Report& report) {
    const Tally& t = report.tally;
    if (t.unfinished == 0)
        return {};
    const std::chrono::nanoseconds limit = longest_unfinished(report);
    const std::string more = seconds_text(2 * limit);
    if (t.nothing_finished())
        return fmt::format("NOTHING WAS EXPLORED TO THE END: every run was still making progress "
                           "when its time was up ({} s).\nGive runs more time (--timeout {}) or "
                           "make the test shorter. If the program is meant to go on for ever,\nas "
                           "a server is, let the test end it.\n",
                           seconds_text(limit), more);
    double slowest_s = 0; // of those that ended by themselves
    const RunResult* first = nullptr;
    for (const RunResult& run : report.campaign.runs) {
        if (!run.cut_off())
            slowest_s = std::max(slowest_s, run.duration_ms / 1000);
        if (!first && run.outcome == Outcome::unfinished)
            first = &run;
    }
    std::string text = fmt::format("\n{} unfinished: still making progress when the time was up "
                                   "({} s); not counted for that chance\n",
                                   counted(t.unfinished, "run"), seconds_text(limit));
    if (slowest_s > 0 &&
        slowest_s * kTimesTheSlowest <= std::chrono::duration<double>(limit).count())
        text += fmt::format("  the slowest run that ended took {}: do these perhaps wait for "
                            "something that never comes?\n",
                            duration_text(slowest_s));
    ExecutorOptions options = options_for(report.options, *first);
    options.timeout = 2 * limit;
    return text + fmt::format("  run {} with more time: {}\n", first->number,
                              replay_command(report.caller, first->seed, options));
}

// "time limit of a run: 60 s for run 1, in the end 20 s (...)".
std::string time_limit_text(const Report& report) {
    const std::vector<RunResult>& runs = report.campaign.runs;
    if (report.options.timeout)
        return fmt::format("time limit of a run: {} s, as given\n",
                           seconds_text(*report.options.timeout));
    const std::string first = seconds_text(runs.front().time_limit);
    const std::string last = seconds_text(runs.back().time_limit);
    return fmt::format(
        "time limit of a run: {} s{} ({} times the slowest run so far, but {} to {} "
        "s; --timeout sets it)\n",
        first, first != last ? fmt::format(" for the first, {} s for the last", last) : "",
        kTimesTheSlowest, seconds_text(kLeastTimeLimit), seconds_text(kMostTimeLimit));
}

// "pct", "stride (stride-max 20)". Leaves out switches at their default and unused parameters.
std::string policy_text(const Report& report, const std::string& name) {
    const PolicyParameters& set = report.options.parameters;
    std::string values;
    for (const ParameterInfo& parameter : all_parameters()) {
        const std::string value = set.text(parameter.id);
        if (!parameter.is_of(find_policy(name)->id) ||
            (parameter.is_switch && value == parameter.usual) ||
            (parameter.id == Parameter::stride_edges && set.set_value(Parameter::stride_max)))
            continue;
        values += fmt::format("{}{} {}", values.empty() ? "" : ", ", parameter.option + 2, value);
    }
    return values.empty() ? name : fmt::format("{} ({})", name, values);
}

std::string policies_of(const Report& report) {
    std::string text;
    for (const PolicyTally& policy : report.tally.policies)
        text += (text.empty() ? "" : ", ") + policy_text(report, policy.policy);
    return (report.tally.policies.size() > 1 ? "policies " : "policy ") + text;
}

// How much each policy found, when several took turns.
std::string shares_text(const Report& report) {
    std::string text;
    for (const PolicyTally& policy : report.tally.policies) {
        text += fmt::format("policy {}: {} of {} failed", policy.policy, policy.failures,
                            counted(policy.runs, "run"));
        if (policy.first_failure)
            text += fmt::format(" (rate {:.3g}), the first is run {}", policy.rate(),
                                *policy.first_failure);
        text += '\n';
    }
    return text;
}

// How many different orders the campaign explored.
std::string orders_text(const Report& report) {
    const Tally& t = report.tally;
    if (t.runs < 2 || t.uncontrolled() || report.replay)
        return {};
    if (t.orders > 1)
        return fmt::format("orders of steps seen: {} in {}\n", t.orders, counted(t.runs, "run"));
    std::string why = "chance, or too few runs";
    if (t.threads < 2)
        why = "the program has a single thread";
    else if (t.k_eff <= 1)
        why = "the program makes no step while another thread could go on, so there is nothing to "
              "choose; what its threads share lies between these points";
    return fmt::format("all {} had the same order of steps: NOTHING WAS EXPLORED ({})\n",
                       counted(t.runs, "run"), why);
}

// Runs in which the scheduler itself was disturbed.
std::string disturbed_text(const Tally& t) {
    std::string text;
    if (t.skipped_calls > 0)
        text += fmt::format("the kernel left out {} of the scheduler\n",
                            counted(t.skipped_calls, "call"));
    if (t.unlocked_hooks > 0)
        text += fmt::format("the policy was called {} while another call was under way\n",
                            counted(t.unlocked_hooks, "time"));
    if (t.disturbed > 0)
        text += fmt::format("  {} with that: not counted for the chance above\n",
                            counted(t.disturbed, "run"));
    return text;
}

// Which steps are counted.
std::string focus_text(const Report& report) {
    const Tally& t = report.tally;
    if (!report.options.focus.on || t.runs == 0)
        return {};
    if (t.known == 0)
        return fmt::format("steps that count: of at most {} at points, those on objects that "
                           "several threads touch\n",
                           t.arrivals);
    return fmt::format("steps that count: of at most {} at points, those on objects that several "
                       "threads touch ({} known from run {} on)\n",
                       t.arrivals, t.known, t.known_from);
}

std::string numbers_text(const Report& report, Detail detail) {
    const Tally& t = report.tally;
    std::string text = fmt::format("\nthreads n = {}, steps k = {}, k_eff = {}, depth d = {}; {}, "
                                   "points {}\n",
                                   t.threads, t.steps, t.k_eff, depth_text(report.options.depth),
                                   policies_of(report), points_text(report.options.points));
    text += focus_text(report);
    text += orders_text(report);
    text += time_limit_text(report);
    if (t.policies.size() > 1)
        text += shares_text(report);
    text += disturbed_text(t);
    text += doubts_text(report);
    if (detail == Detail::full)
        text += formulas_text(report);
    if (const unsigned deepest = deepest_promise(report); deepest > 0)
        text += fmt::format("not covered: races of plain memory accesses between points, other "
                            "inputs, bugs of depth > {},\nschedules with more threads or steps "
                            "than seen, programs that depend on timers{}\n",
                            deepest,
                            report.options.focus.on ? ",\nobjects of which a run did not know that "
                                                      "threads share them"
                                                    : "");
    return text;
}

std::string violations_text(const Report& report) {
    const Tally& t = report.tally;
    if (!t.violations)
        return {};
    std::string text = fmt::format("\nwitness: {} in {}\n", counted(*t.violations, "violation"),
                                   counted(t.runs - t.unverified, "verified run"));
    if (*t.violations == 0)
        return text;
    text += "  the scheduler did not enforce the schedule: do not trust the results above\n";
    std::size_t shown = 0;
    for (const RunResult& run : report.campaign.runs)
        for (const std::string& line : run.violation_details)
            if (shown++ < kViolationsShown)
                text += fmt::format("  run {}: {}\n", run.number, printable(line));
    return text;
}

} // namespace

std::string outcome_text(const RunResult& run) {
    std::string text(name(run.outcome));
    std::string_view more = run.detail;
    if (run.outcome == Outcome::exit) {
        text += fmt::format(" {}", run.exit_code);
        // The detail begins with the exit status as well; do not print it twice.
        if (more.starts_with("exit status"))
            more.remove_prefix(std::min(more.find("; "), more.size() - 2) + 2);
    }
    if (run.outcome == Outcome::signal)
        text += ' ' + signal_name(run.signal);
    if (!more.empty())
        text += ": " + printable(more);
    return text;
}

std::string summary_text(const Report& report, Detail detail) {
    const bool brief = detail == Detail::brief;
    const bool doubt = report.tally.violations.value_or(0) > 0;
    if (brief && report.tally.failures == 0 && !doubt)
        return {};
    std::string text = headline(report);
    const bool numbers = !brief && report.tally.runs > 0;
    if (numbers && report.tally.failures == 0)
        text += report.tally.nothing_finished() ? unfinished_text(report) : chances_text(report);
    text += failures_text(report);
    if (numbers && report.tally.failures > 0)
        text += "\n" + chances_text(report);
    if (numbers && !report.tally.nothing_finished())
        text += unfinished_text(report);
    if (numbers)
        text += numbers_text(report, detail);
    if (!brief || doubt)
        text += violations_text(report);
    if (!brief && report.campaign_seed)
        text += fmt::format("\ncampaign seed {:#018x}\n", *report.campaign_seed);
    return text;
}

std::string uncontrolled_warning(const Report& report) {
    if (!report.tally.uncontrolled())
        return {};
    const std::string program = printable(shell_quote(report.options.command[0]), 200);
    if (report.tally.threads == 0)
        return fmt::format("WARNING: NOTHING WAS CONTROLLED: no thread of {} came under the "
                           "scheduler, so the runs say nothing; 'pctctl doctor' may know why",
                           program);
    return fmt::format("WARNING: NOTHING WAS CONTROLLED: no scheduling point was reached by {}: it "
                       "makes none of the calls of --points {}, or contains its own copy of them "
                       "(statically linked)",
                       program, points_text(report.options.points));
}

std::string unfinished_warning(const Report& report) {
    if (!report.tally.nothing_finished() || report.replay)
        return {};
    const std::chrono::nanoseconds limit = longest_unfinished(report);
    return fmt::format("WARNING: NO RUN WAS FINISHED in its time ({} s), so nothing was explored "
                       "to the end; --timeout {} gives each twice as long",
                       seconds_text(limit), seconds_text(2 * limit));
}

} // namespace pctctl
