// SPDX-License-Identifier: GPL-2.0-only
#include "report/json.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "base/fd.h"
#include "base/files.h"
#include "base/text.h"
#include "plan/point_sets.h"
#include "plan/policies.h"

namespace pctctl {
namespace {

using nlohmann::ordered_json;

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
    j["time_limit_s"] = std::chrono::duration<double>(run.time_limit).count();
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
    j["unfinished"] = policy.unfinished;
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
    j["timeout_s"] =
        report.options.timeout
            ? ordered_json(std::chrono::duration<double>(*report.options.timeout).count())
            : ordered_json(nullptr);
    j["campaign_seed"] = report.campaign_seed
                             ? ordered_json(fmt::format("{:#018x}", *report.campaign_seed))
                             : ordered_json(nullptr);
    j["runs_done"] = t.runs;
    j["failures"] = t.failures;
    j["unfinished"] = t.unfinished;
    j["first_failure"] = or_null(t.first_failure);
    j["threads"] = t.threads;
    j["steps"] = t.steps;
    j["k_eff"] = t.k_eff;
    j["orders"] = t.orders;
    j["focus"] = report.options.focus.on;
    j["shared_names"] = t.known;
    // A single bound makes sense only if all runs promise the same.
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
    // Devices, pipes and links (symbolic or hard) are written to, not replaced by a new file.
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
