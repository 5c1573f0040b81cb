// SPDX-License-Identifier: GPL-2.0-only
#include "report/replay.h"

#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "pctctl/version.h"
#include "plan/point_sets.h"
#include "report/summary.h"

namespace pctctl {
namespace {

constexpr std::size_t kTriesShown = 10;

template <typename T>
void note_change(std::vector<std::string>& changes, const char* what, const T& kept,
                 const T& used) {
    if (kept != used)
        changes.push_back(fmt::format("{} {} instead of {}", what, used, kept));
}

std::string seconds_of(std::chrono::nanoseconds time) {
    return fmt::format("{} s", std::chrono::duration<double>(time).count());
}

std::string timeout_text(const ExecutorOptions& options) {
    return options.timeout ? seconds_of(*options.timeout) : "from earlier runs";
}

std::string or_none(const std::optional<std::string>& text) {
    return text.value_or("none");
}

// A line about a run in which the scheduler itself was disturbed.
std::string disturbed_line(const RunResult& run) {
    if (!run.disturbed())
        return {};
    return fmt::format(
        "  disturbed, so its order need not be the seed's: calls of the scheduler left "
        "out by the kernel: {}, calls of the policy not kept apart: {}\n",
        run.skipped_calls, run.unlocked_hooks);
}

std::string try_text(const RunResult& run) {
    std::string text = fmt::format("{}\n", outcome_text(run));
    if (const std::string_view words = last_line(run.err); run.failed() && !words.empty())
        text += fmt::format("  its last words: {}\n", printable(words, 200));
    text += fmt::format("  order of steps: {:016x} ({}, {}, switches: {})\n", run.order_hash,
                        counted(run.threads, "thread"), counted(run.steps, "step"), run.switches);
    return text + disturbed_line(run);
}

// "in all 5 tries", "in 3 of 5 tries"; with one try "" or "not".
std::string share(std::uint64_t count, std::uint64_t tries) {
    return count == tries ? fmt::format("in all {} tries", tries)
                          : fmt::format("in {} of {} tries", count, tries);
}

std::string verdict_text(const ReplayVerdict& verdict) {
    const std::string order = "order of steps";
    if (verdict.has_reference && verdict.tries == 1)
        return fmt::format("{} outcome, {} {} as the kept run\n",
                           verdict.same_outcome ? "same" : "DIFFERENT",
                           verdict.same_order ? "same" : "DIFFERENT", order);
    if (verdict.has_reference)
        return fmt::format("same outcome as the kept run {}, same {} {}\n",
                           share(verdict.same_outcome, verdict.tries), order,
                           share(verdict.same_order, verdict.tries));
    if (verdict.tries > 1)
        return fmt::format("same outcome as the first {}, same {} {}\n",
                           share(verdict.same_outcome, verdict.tries), order,
                           share(verdict.same_order, verdict.tries));
    return {};
}

// Why the same seed may lead to another order. Known causes come first.
std::string causes_text(const std::optional<RunRecord>& kept, const Report& report,
                        const std::string& kernel) {
    std::string text = "possible causes:\n";
    if (kept) {
        for (const std::string& change : changed_options(kept->options, report.options))
            text += fmt::format("  - {}\n", change);
        if (kept->pctctl_version != kVersion)
            text += fmt::format("  - pctctl {} instead of {}\n", kVersion,
                                printable(kept->pctctl_version, 40));
        if (kept->kernel_release != kernel)
            text += fmt::format("  - kernel {} instead of {}\n", kernel,
                                printable(kept->kernel_release, 80));
    }
    bool cut = kept && kept->result.cut_off();
    for (const RunResult& run : report.campaign.runs)
        cut = cut || run.cut_off();
    if (cut)
        text += "  - the time limit (--timeout) ends a run at an arbitrary step, so such a run has "
                "no order\n    to compare\n";
    if (report.tally.interventions > 0)
        text += fmt::format("  - {}: a thread without progress was demoted; --spin-limit measures "
                            "CPU time, which varies\n",
                            counted(report.tally.interventions, "intervention"));
    if (report.tally.disturbed > 0 || (kept && kept->result.disturbed()))
        text += "  - the scheduler was disturbed in a run, see above\n";
    text += "  - timers, timed waits and clocks, signals and input from outside, files left by "
            "earlier runs\n"
            "  - random numbers, process ids and addresses that the program's decisions depend on\n"
            "  - another build of the program or of its libraries, another environment\n";
    return text;
}

} // namespace

bool same_order(const RunResult& a, const RunResult& b) {
    return a.order_hash == b.order_hash && a.steps == b.steps;
}

bool same_outcome(const RunResult& a, const RunResult& b) {
    return a.outcome == b.outcome && a.exit_code == b.exit_code && a.signal == b.signal;
}

ReplayVerdict judge_replay(const std::optional<RunRecord>& kept, std::span<const RunResult> tries) {
    ReplayVerdict verdict;
    verdict.has_reference = kept.has_value();
    verdict.tries = tries.size();
    if (tries.empty())
        return verdict;
    const RunResult& reference = kept ? kept->result : tries[0];
    for (const RunResult& run : tries) {
        verdict.failed += run.failed();
        verdict.same_outcome += same_outcome(run, reference);
        verdict.same_order += same_order(run, reference);
    }
    return verdict;
}

std::vector<std::string> changed_options(const ExecutorOptions& kept, const ExecutorOptions& used) {
    std::vector<std::string> changes;
    if (kept.command != used.command)
        changes.push_back(fmt::format("program {} instead of {}",
                                      printable(shell_quote(used.command), 200),
                                      printable(shell_quote(kept.command), 200)));
    note_change(changes, "depth", depth_text(kept.depth), depth_text(used.depth));
    note_change(changes, "policy", kept.policy, used.policy);
    for (const ParameterInfo& parameter : all_parameters())
        note_change(changes, parameter.option + 2, kept.parameters.text(parameter.id),
                    used.parameters.text(parameter.id));
    note_change(changes, "strides", kept.strides.text(), used.strides.text());
    if (kept.focus != used.focus)
        changes.emplace_back(kept.focus.on == used.focus.on ? "other objects that matter"
                             : used.focus.on                ? "focus on instead of off"
                                                            : "focus off instead of on");
    note_change(changes, "points", points_text(kept.points), points_text(used.points));
    note_change(changes, "spin limit", seconds_of(kept.spin_limit), seconds_of(used.spin_limit));
    note_change(changes, "timeout", timeout_text(kept), timeout_text(used));
    note_change(changes, "user", or_none(kept.user), or_none(used.user));
    note_change(changes, "cgroup", or_none(kept.cgroup), or_none(used.cgroup));
    note_change(changes, "pids limit", kept.pids_limit, used.pids_limit);
    return changes;
}

std::string replay_text(const std::optional<RunRecord>& kept, const std::string& from,
                        const Report& report, const std::string& kernel) {
    const ReplayVerdict verdict = judge_replay(kept, report.campaign.runs);
    if (report.campaign.runs.empty())
        return "no run was carried out\n";
    const RunResult& first = report.campaign.runs[0];
    std::string text =
        fmt::format("replay of {}seed {}: {}\n", from.empty() ? "" : printable(from, 200) + ", ",
                    first.seed.text(), printable(shell_quote(report.options.command), 200));
    if (kept)
        text += fmt::format("kept run: {}\n  order of steps: {:016x} ({}, {})\n",
                            outcome_text(kept->result), kept->result.order_hash,
                            counted(kept->result.threads, "thread"),
                            counted(kept->result.steps, "step")) +
                disturbed_line(kept->result);
    std::size_t shown = 0;
    for (const RunResult& run : report.campaign.runs) {
        if (shown++ == kTriesShown)
            break;
        text += (verdict.tries == 1 ? "this run: " : fmt::format("try {}: ", run.number)) +
                try_text(run);
    }
    if (verdict.tries > kTriesShown)
        text += fmt::format("... and {} more\n", verdict.tries - kTriesShown);
    text += verdict_text(verdict);
    if (verdict.same_order < verdict.tries || verdict.same_outcome < verdict.tries)
        text += causes_text(kept, report, kernel);
    if (report.tally.violations)
        text += fmt::format("witness: {}\n", counted(*report.tally.violations, "violation"));
    return text;
}

} // namespace pctctl
