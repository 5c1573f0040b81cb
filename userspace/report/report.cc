// SPDX-License-Identifier: GPL-2.0-only
#include "report/report.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "base/fd.h"
#include "base/files.h"
#include "base/text.h"
#include "plan/bound.h"
#include "plan/point_sets.h"
#include "plan/policies.h"

namespace pctctl {
namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t kFailuresShown = 10;
constexpr std::size_t kViolationsShown = 5;
constexpr double kWantedMiss = 0.05;

std::vector<std::string> caller_words(const Caller& caller) {
    std::vector<std::string> words;
    if (caller.sudo)
        words.emplace_back("sudo");
    words.push_back(caller.name);
    words.emplace_back("replay");
    if (caller.vm)
        words.emplace_back("--vm");
    return words;
}

std::string seconds_text(std::chrono::nanoseconds time) {
    return fmt::format("{}", std::chrono::duration<double>(time).count());
}

// What differs from the defaults, as options.
std::vector<std::string> option_words(const ExecutorOptions& options) {
    const ExecutorOptions usual;
    std::vector<std::string> words;
    const auto add = [&](const char* option, std::string value) {
        words.emplace_back(option);
        words.push_back(std::move(value));
    };
    if (options.cgroup)
        add("--cgroup", *options.cgroup);
    if (options.depth != usual.depth)
        add("--depth", depth_text(options.depth));
    if (options.policy != usual.policy)
        add("--policy", options.policy);
    for (const ParameterInfo& parameter : all_parameters())
        if (const std::string text = options.parameters.text(parameter.id);
            text != parameter.usual && find_policy(options.policy)->id == parameter.policy)
            add(parameter.option, text);
    if (options.strides != usual.strides && !options.parameters.set_value(Parameter::stride_max))
        add("--strides", options.strides.text());
    if (options.points != usual.points)
        add("--points", points_text(options.points));
    if (options.timeout != usual.timeout)
        add("--timeout", seconds_text(options.timeout));
    if (options.spin_limit != usual.spin_limit)
        add("--spin-limit", seconds_text(options.spin_limit));
    if (options.user)
        add("--user", *options.user);
    if (options.pids_limit != usual.pids_limit)
        add("--pids-limit", fmt::format("{}", options.pids_limit));
    return words;
}

std::string headline(const Report& report) {
    const Tally& t = report.tally;
    std::string line = fmt::format("{}: ", printable(shell_quote(report.options.command), 200));
    line += t.failures == 0 ? fmt::format("no failure in {}", counted(t.runs, "run"))
                            : fmt::format("{} of {} failed", t.failures, counted(t.runs, "run"));
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
        text += fmt::format(
            "  replay: {}\n",
            replay_command(report.caller, run.seed, options_for(report.options, run.algorithm)));
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

// "pct", "stride (stride-max 20)"; without switches at their default and what is not used.
std::string policy_text(const Report& report, const std::string& name) {
    const PolicyParameters& set = report.options.parameters;
    std::string values;
    for (const ParameterInfo& parameter : all_parameters()) {
        const std::string value = set.text(parameter.id);
        if (parameter.policy != find_policy(name)->id ||
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

// Who found how much, when several took turns.
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

// The words for what a policy promises about bugs.
struct Words {
    std::string bug;
    std::string formula;
    std::string source;
    std::uint64_t odds = 0; // 0: too large to be exact
};

bool within_radius(const PolicyTally& policy, const DepthTally& d) {
    return policy.promise == Promise::radius && d.depth > 2; // else rpro is PCT
}

// "of depth <= 2", "of depth 3 within 10 steps".
std::string which_bugs(const Report& report, const PolicyTally& policy, const DepthTally& d) {
    const PolicyParameters& parameters = report.options.parameters;
    if (within_radius(policy, d))
        return fmt::format("of depth {} within {} steps", d.depth,
                           parameters.value(Parameter::radius));
    return fmt::format("of depth <= {}{}", d.depth,
                       has_phases(find_policy(policy.policy)->id, parameters) ? " within one phase"
                                                                              : "");
}

Words words_for(const Report& report, const PolicyTally& policy, const DepthTally& d) {
    const Tally& t = report.tally;
    const std::string bug = fmt::format("a bug {} at these points", which_bugs(report, policy, d));
    if (within_radius(policy, d))
        return {bug, "1/(n*k*(d-1)*r^(d-2))", "RPro, by the proof of PCT's Theorem 9",
                exact_rpro_odds(t.threads, policy.k, d.depth,
                                report.options.parameters.value(Parameter::radius))};
    const pct_policy id = find_policy(policy.policy)->id;
    const bool skips = skips_sequential(id, report.options.parameters);
    return {bug, skips ? "1/(n*k_eff^(d-1))" : "1/(n*k^(d-1))",
            id == PCT_POLICY_PPCT ? "PPCT, Theorem 9" : "PCT, Theorem 9",
            exact_odds(t.threads, policy.k, d.depth)};
}

// `strictly`: what is left without the runs that departed.
std::string interventions_text(const PolicyTally& policy, const std::string& strictly) {
    if (policy.interventions == 0)
        return {};
    return fmt::format("{} in {} let a thread step back that made no progress. That departs from "
                       "PCT:\nstrictly, {}\n",
                       counted(policy.interventions, "intervention"),
                       counted(policy.perturbed, "run"), strictly);
}

// About the runs of one depth. `who`: "" or " of pct".
std::string depth_statement(const Report& report, const PolicyTally& policy, const DepthTally& d,
                            const std::string& who) {
    const Words words = words_for(report, policy, d);
    if (d.bound_run == 0 || report.tally.uncontrolled())
        return fmt::format("nothing can be said about {}\n", words.bug);
    std::string text = fmt::format(
        "one run{} finds {} with probability at least\n  {} = {}{} ({})\n", who, words.bug,
        words.formula, words.odds > 1 ? fmt::format("1/{} = ", words.odds) : "",
        at_least(d.bound_run), words.source);
    if (d.counted == 0) {
        text += fmt::format("no run counts towards that yet: {}\n",
                            report.tally.runs == 1 ? "the first one only measures k"
                            : report.tally.disturbed > 0
                                ? "they were disturbed, or knew a smaller k"
                                : "none had its change points drawn from the k above");
    } else {
        text += fmt::format("{} would have been missed with probability at most {}\n", words.bug,
                            at_most(d.miss));
        text +=
            fmt::format("  ({} of {}{})\n", d.counted,
                        d.runs == 1 ? "1 run counts" : fmt::format("{} runs count", d.runs),
                        d.counted == d.runs
                            ? ""
                            : "; the first measures k, and one that knew a smaller k or ran out "
                              "of time does not");
    }
    const std::uint64_t needed = runs_needed(d.bound_run, kWantedMiss);
    const std::uint64_t uncounted = d.runs - d.counted;
    if (needed > d.counted && !report.replay)
        text += fmt::format("  (for at most {}: --runs {})\n", kWantedMiss,
                            (needed + uncounted) * report.tally.policies.size());
    return text + interventions_text(
                      policy, "the statement counts only the others: missed with probability at "
                              "most " +
                                  at_most(d.miss_unperturbed));
}

// About all depths, if they were drawn: a line for each. `who` as above.
std::string drawn_depths_text(const Report& report, const PolicyTally& policy,
                              const std::string& who) {
    if (policy.depths.empty())
        return {};
    if (policy.depths.front().bound_run == 0 || report.tally.uncontrolled())
        return "nothing can be said about bugs at these points\n";
    std::string text =
        fmt::format("one run{}, of the depth d that was drawn for it, finds a bug at "
                    "these points\n",
                    who);
    std::string strictly;
    for (const DepthTally& d : policy.depths) {
        const Words words = words_for(report, policy, d);
        text += fmt::format(
            "  {} with probability at least {}{}; missed with at most {} ({} of {} "
            "count)\n",
            which_bugs(report, policy, d), words.odds > 1 ? fmt::format("1/{} = ", words.odds) : "",
            at_least(d.bound_run), at_most(d.miss), d.counted, counted(d.runs, "run"));
        strictly += fmt::format("{}{} (depth {})", strictly.empty() ? "" : ", ",
                                at_most(d.miss_unperturbed), d.depth);
    }
    const Words words = words_for(report, policy, policy.depths.back());
    text += fmt::format("  {} ({}){}\n", words.formula, words.source,
                        policy.promise == Promise::radius ? "" : "; deeper runs count as well");
    return text +
           interventions_text(policy, "only the others count: missed with at most " + strictly);
}

std::string orders_text(const Report& report, const PolicyTally& policy, const std::string& who) {
    const Tally& t = report.tally;
    if (t.threads < 2 || t.uncontrolled())
        return "nothing can be said about partial orders: there is only one\n";
    const double bound = policy.log_order_bound;
    const bool printable = bound > -690; // as a double
    if (policy.races)
        return fmt::format(
            "one run{} takes a given partial order of its steps that has at most D = {} "
            "races, as\nthose seen have, with probability at least\n  (1/n)^k R^U = {} "
            "(POS, Theorem 1); it promises nothing about bugs\n",
            who, *policy.races,
            printable ? at_least(std::exp(bound))
                      : fmt::format("10^{}", std::floor(bound / std::log(10))));
    return fmt::format("one run{} takes a given partial order of its steps with probability at "
                       "least\n  1/n^k = 1/{}^{}{}, the more the fewer of them race (POS, Theorem "
                       "1); it promises nothing about bugs\n",
                       who, t.threads, t.steps, printable ? " = " + at_least(std::exp(bound)) : "");
}

std::string promise_text(const Report& report, const PolicyTally& policy) {
    const std::string who = report.tally.policies.size() > 1 ? " of " + policy.policy : "";
    if (policy.promise == Promise::partial_orders)
        return orders_text(report, policy, who);
    if (policy.promise == Promise::nothing)
        return fmt::format("policy {} promises nothing about the bugs that were not found\n",
                           policy.policy);
    if (report.tally.depth_drawn)
        return drawn_depths_text(report, policy, who);
    std::string text;
    for (const DepthTally& depth : policy.depths)
        text += depth_statement(report, policy, depth, who);
    return text;
}

std::string disturbed_text(const Tally& t) {
    std::string text;
    if (t.skipped_calls > 0)
        text += fmt::format("the kernel left out {} of the scheduler\n",
                            counted(t.skipped_calls, "call"));
    if (t.unlocked_hooks > 0)
        text += fmt::format("the policy was called {} while another call was under way\n",
                            counted(t.unlocked_hooks, "time"));
    if (t.disturbed > 0)
        text += fmt::format("  {} with that: not counted below\n", counted(t.disturbed, "run"));
    return text;
}

std::string bound_text(const Report& report) {
    const Tally& t = report.tally;
    std::string text = fmt::format("\nthreads n = {}, steps k = {}, k_eff = {}, depth d = {}; {}, "
                                   "points {}\n",
                                   t.threads, t.steps, t.k_eff, depth_text(report.options.depth),
                                   policies_of(report), points_text(report.options.points));
    if (t.policies.size() > 1)
        text += shares_text(report);
    text += disturbed_text(t);
    unsigned deepest = 0; // that something is promised about
    for (const PolicyTally& policy : t.policies) {
        text += promise_text(report, policy);
        if (!policy.depths.empty() && policy.depths.back().bound_run > 0)
            deepest = std::max(deepest, policy.depths.back().depth);
    }
    if (deepest > 0 && !t.uncontrolled())
        text += fmt::format(
            "not covered: races of plain memory accesses between points, other inputs, bugs of "
            "depth > {},\nschedules with more threads or steps than seen, programs that depend on "
            "timers\n",
            deepest);
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
    text += "  the scheduler did not keep its promise: do not trust the results above\n";
    std::size_t shown = 0;
    for (const RunResult& run : report.campaign.runs)
        for (const std::string& line : run.violation_details)
            if (shown++ < kViolationsShown)
                text += fmt::format("  run {}: {}\n", run.number, printable(line));
    return text;
}

template <typename T> ordered_json or_null(const std::optional<T>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json run_json(const RunResult& run, const PolicyParameters& parameters) {
    ordered_json j;
    j["run"] = run.number;
    j["seed"] = run.seed.text();
    j["outcome"] = name(run.outcome);
    j["exit_code"] = run.exit_code;
    j["signal"] = run.signal;
    j["policy"] = run.algorithm.policy;
    j["depth"] = run.algorithm.depth;
    j["strides"] = or_null(strides_text(run.algorithm));
    j["threads"] = run.threads;
    j["steps"] = run.steps;
    j["k_eff"] = k_eff(run, parameters);
    j["switches"] = run.switches;
    j["duration_ms"] = run.duration_ms;
    j["order_hash"] = fmt::format("{:016x}", run.order_hash);
    return j;
}

std::string_view name(Promise promise) {
    switch (promise) {
    case Promise::depth:
        return "depth";
    case Promise::radius:
        return "depth within radius";
    case Promise::partial_orders:
        return "partial orders";
    case Promise::nothing:
        break;
    }
    return "nothing";
}

ordered_json policy_json(const PolicyTally& policy) {
    ordered_json j;
    j["policy"] = policy.policy;
    j["runs"] = policy.runs;
    j["failures"] = policy.failures;
    j["first_failure"] = or_null(policy.first_failure);
    j["rate"] = policy.runs ? ordered_json(policy.rate()) : ordered_json(nullptr);
    j["interventions"] = policy.interventions;
    j["promise"] = name(policy.promise);
    j["bounds"] = ordered_json::array();
    for (const DepthTally& d : policy.depths)
        j["bounds"].push_back({{"depth", d.depth},
                               {"runs", d.runs},
                               {"counted", d.counted},
                               {"bound_run", d.bound_run},
                               {"bound_campaign", d.bound_campaign}});
    if (policy.promise == Promise::partial_orders)
        j["bounds"].push_back(
            {{"bound_run", std::exp(policy.log_order_bound)}, {"races", or_null(policy.races)}});
    return j;
}

// Returns 0 or an errno value.
int write_in_place(const std::string& file, std::string_view text) {
    Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd)
        return errno;
    if (const int error = write_all(fd.get(), text))
        return error;
    return ::close(fd.release()) == 0 ? 0 : errno;
}

int write_by_renaming(const std::string& file, std::string_view text) {
    std::string draft = file + ".XXXXXX";
    Fd fd(::mkostemp(draft.data(), O_CLOEXEC));
    if (!fd)
        return errno;
    int error = write_all(fd.get(), text);
    if (!error && ::fchmod(fd.get(), 0644) != 0)
        error = errno;
    if (::close(fd.release()) != 0 && !error)
        error = errno;
    if (!error && ::rename(draft.c_str(), file.c_str()) != 0)
        error = errno;
    if (error)
        ::unlink(draft.c_str());
    return error;
}

} // namespace

std::string outcome_text(const RunResult& run) {
    std::string text(name(run.outcome));
    std::string_view more = run.detail;
    if (run.outcome == Outcome::exit) {
        text += fmt::format(" {}", run.exit_code);
        // The detail begins by saying the same.
        if (more.starts_with("exit status"))
            more.remove_prefix(std::min(more.find("; "), more.size() - 2) + 2);
    }
    if (run.outcome == Outcome::signal)
        text += ' ' + signal_name(run.signal);
    if (!more.empty())
        text += ": " + printable(more);
    return text;
}

std::string replay_command(const Caller& caller, std::string_view kept_in) {
    std::vector<std::string> words = caller_words(caller);
    words.push_back((kept_in.starts_with('-') ? "./" : "") + std::string(kept_in));
    return shell_quote(words);
}

std::string replay_command(const Caller& caller, const RunSeed& seed,
                           const ExecutorOptions& options) {
    std::vector<std::string> words = caller_words(caller);
    words.insert(words.end(), {"--seed", seed.text()});
    for (std::string& word : option_words(options))
        words.push_back(std::move(word));
    words.emplace_back("--");
    words.insert(words.end(), options.command.begin(), options.command.end());
    return shell_quote(words);
}

std::string summary_text(const Report& report, bool brief) {
    const bool doubt = report.tally.violations.value_or(0) > 0;
    if (brief && report.tally.failures == 0 && !doubt)
        return {};
    std::string text = headline(report) + failures_text(report);
    if (!brief && report.tally.runs > 0)
        text += bound_text(report);
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
                           "scheduler, its runs say nothing; 'pctctl doctor' may know why",
                           program);
    return fmt::format("WARNING: NOTHING WAS CONTROLLED: no scheduling point was reached by {}: it "
                       "makes no call of --points {}, or contains its own copy of them (statically "
                       "linked)",
                       program, points_text(report.options.points));
}

std::string summary_json(const Report& report) {
    const Tally& t = report.tally;
    ordered_json j;
    j["schema"] = 1;
    j["command"] = report.options.command;
    j["policy"] = report.options.policy;
    j["depth"] = t.depth_drawn ? ordered_json(nullptr) : ordered_json(report.options.depth);
    j["parameters"] =
        parameters_json(report.options.parameters, portfolio_ids(report.options.policy));
    j["points"] = point_names(report.options.points);
    j["campaign_seed"] = report.campaign_seed
                             ? ordered_json(fmt::format("{:#018x}", *report.campaign_seed))
                             : ordered_json(nullptr);
    j["runs_done"] = t.runs;
    j["failures"] = t.failures;
    j["first_failure"] = or_null(t.first_failure);
    j["threads"] = t.threads;
    j["steps"] = t.steps;
    j["k_eff"] = t.k_eff;
    // One number stands for the campaign only when all its runs promise the same.
    if (t.policies.size() > 1 || (t.depth_drawn && !t.policies[0].depths.empty())) {
        j["bound_run"] = nullptr;
        j["bound_campaign"] = nullptr;
    } else {
        const bool depth = t.only_depth() && t.policies[0].promise == Promise::depth;
        j["bound_run"] = depth ? t.only_depth()->bound_run : 0.0;
        j["bound_campaign"] = depth ? t.only_depth()->bound_campaign : 0.0;
    }
    j["policies"] = ordered_json::array();
    for (const PolicyTally& policy : t.policies)
        j["policies"].push_back(policy_json(policy));
    j["interventions"] = t.interventions;
    j["disturbed"] = t.disturbed;
    j["violations"] = or_null(t.violations);
    j["elapsed_s"] = report.campaign.elapsed_s;
    j["results"] = ordered_json::array();
    for (const RunResult& run : report.campaign.runs)
        j["results"].push_back(run_json(run, report.options.parameters));
    if (report.replay) {
        const ReplayVerdict& verdict = *report.replay;
        j["replay"]["tries"] = verdict.tries;
        j["replay"]["failed"] = verdict.failed;
        j["replay"]["same_outcome"] = verdict.same_outcome;
        j["replay"]["same_order"] = verdict.same_order;
    }
    return j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Status write_report(const std::string& file, std::string_view text) {
    // Devices, pipes and links to somewhere are written to, not replaced.
    struct stat status{};
    const bool exists = ::lstat(file.c_str(), &status) == 0;
    const int error = exists && !(S_ISREG(status.st_mode) && status.st_nlink == 1)
                          ? write_in_place(file, text)
                          : write_by_renaming(file, text);
    if (error)
        return Error::environment(fmt::format("cannot write {}: {}; name another file with --json",
                                              printable(file), errno_text(error)));
    return Done{};
}

} // namespace pctctl
