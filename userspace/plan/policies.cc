// SPDX-License-Identifier: GPL-2.0-only
#include "plan/policies.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "base/text.h"

namespace pctctl {
namespace {

// See the policies' pages in docs/policies/.
constexpr unsigned kYieldsPerReset = 1000;

constexpr PolicyInfo info_of(pct_policy id, const pct_policy_definition& policy) {
    return {id, policy.name, policy.enforcement, policy.summary, policy.guarantee};
}

constexpr PolicyInfo kAll[] = {
#define X(id, ...) info_of(PCT_POLICY_##id, pct_definition_##id),
    PCT_POLICIES(X)
#undef X
};

std::string known_names() {
    std::string names;
    for (const PolicyInfo& policy : known_policies())
        names += (names.empty() ? "" : ", ") + std::string(policy.name);
    return names;
}

// "--depth D (2), --radius N (10)", "none".
std::string parameters_text(pct_policy policy) {
    std::string text = uses_depth(policy) ? "--depth D|auto (auto)" : "";
    for (const ParameterInfo& parameter : all_parameters())
        if (parameter.is_of(policy))
            text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", parameter.option,
                                parameter.is_switch ? "on|off" : "N", parameter.usual);
    return text.empty() ? "none" : text;
}

// "pct", "pct or pos".
std::string owners_of(const ParameterInfo& parameter) {
    std::string names;
    for (const PolicyInfo& policy : known_policies())
        if (parameter.is_of(policy.id))
            names += (names.empty() ? "" : " or ") + std::string(policy.name);
    return names;
}

} // namespace

std::span<const PolicyInfo> known_policies() {
    return kAll;
}

const PolicyInfo* find_policy(std::string_view name) {
    for (const PolicyInfo& policy : known_policies())
        if (policy.name == name)
            return &policy;
    return nullptr;
}

std::string_view name_of(pct_policy policy) {
    return kAll[policy].name;
}

bool uses_depth(pct_policy policy) {
    return policy == PCT_POLICY_PCT || policy == PCT_POLICY_PPCT || policy == PCT_POLICY_RPRO ||
           policy == PCT_POLICY_PREEMPT_BOUND;
}

bool skips_sequential(pct_policy policy, const PolicyParameters& parameters) {
    return policy == PCT_POLICY_PCT && parameters.value(Parameter::skip_sequential);
}

bool has_phases(pct_policy policy, const PolicyParameters& parameters) {
    return skips_sequential(policy, parameters) && parameters.value(Parameter::join_phases);
}

std::uint64_t k_eff(const RunResult& run, const PolicyParameters& parameters) {
    return has_phases(PCT_POLICY_PCT, parameters) ? run.longest_phase : run.concurrent;
}

std::optional<std::string> strides_text(const Algorithm& algorithm) {
    if (find_policy(algorithm.policy)->id != PCT_POLICY_STRIDE)
        return std::nullopt;
    return algorithm.strides.text();
}

Result<std::vector<std::string>> portfolio(std::string_view list) {
    std::vector<std::string> names;
    for (const std::string_view name : comma_separated(list)) {
        if (!find_policy(name))
            return Error::usage(
                fmt::format("unknown policy '{}'; known: {}", printable(name), known_names()));
        if (std::find(names.begin(), names.end(), name) != names.end())
            return Error::usage(fmt::format("policy '{}' is named twice", name));
        names.emplace_back(name);
    }
    return names;
}

std::vector<pct_policy> portfolio_ids(std::string_view list) {
    const auto names = portfolio(list);
    std::vector<pct_policy> ids;
    for (const std::string& name : *names)
        ids.push_back(find_policy(name)->id);
    return ids;
}

Status check_parameters(const PolicyParameters& set, std::string_view policies) {
    const std::vector<pct_policy> ids = portfolio_ids(policies);
    for (const ParameterInfo& parameter : all_parameters())
        if (set.set_value(parameter.id) &&
            std::ranges::none_of(ids, [&](pct_policy id) { return parameter.is_of(id); }))
            return Error::usage(fmt::format("{} is an option of policy {}, not of {} (see pctctl "
                                            "policies)",
                                            parameter.option, owners_of(parameter), policies));
    if (set.set_value(Parameter::stride_max) && set.set_value(Parameter::stride_edges))
        return Error::usage("--stride-edges is for strides from thread lengths, which --stride-max "
                            "replaces");
    if (set.set_value(Parameter::skip_sequential) == 0 &&
        set.set_value(Parameter::join_phases) == 1)
        return Error::usage("--join-phases on needs --skip-sequential on");
    return Done{};
}

pct_policy_config policy_config(const Algorithm& algorithm, const RunSeed& seed,
                                const PolicyParameters& parameters) {
    const PolicyInfo& policy = *find_policy(algorithm.policy);
    const unsigned depth = algorithm.depth;
    pct_policy_config config = {};
    config.seed = seed.stream;
    config.policy = policy.id;
    if (policy.id != PCT_POLICY_POS || parameters.value(Parameter::pos_readonly))
        config.options = PCT_OPTION_READ_ONLY;
    if (skips_sequential(policy.id, parameters))
        config.options |= PCT_OPTION_COUNT_CONCURRENT;
    if (has_phases(policy.id, parameters))
        config.options |= PCT_OPTION_PHASES;
    config.change_range = seed.k;
    if (info(Parameter::final_wait).is_of(policy.id) && parameters.value(Parameter::final_wait))
        config.options |= PCT_OPTION_FINAL_WAIT;
    config.stride_max = algorithm.strides.others;
    for (const auto& [identity, stride_max] : algorithm.strides.threads)
        config.strides[config.nr_strides++] = {identity, stride_max};
    config.yields_per_reset = kYieldsPerReset;
    config.sleep_one_in = static_cast<__u32>(parameters.value(Parameter::sleep_one_in));
    config.sleep_ns = parameters.value(Parameter::sleep_us) * 1000;
    const auto radius = static_cast<__u32>(parameters.value(Parameter::radius));
    std::uint64_t points = depth - 1;
    if (policy.id == PCT_POLICY_PREEMPT_BOUND)
        points = parameters.set_value(Parameter::preemptions).value_or(points);
    for (unsigned i = 1; seed.k > 0 && i <= points; ++i) {
        auto& point = config.change_points[config.nr_change_points++];
        if (policy.id == PCT_POLICY_RPRO)
            point = rpro_change_point(seed.stream, i, depth, seed.k, radius);
        else if (policy.id == PCT_POLICY_PREEMPT_BOUND)
            point = preempt_bound_point(seed.stream, i, seed.k);
        else
            point = pct_change_point(seed.stream, i, seed.k, 0);
    }
    std::stable_sort(config.change_points, config.change_points + config.nr_change_points,
                     [](const auto& a, const auto& b) { return a.step < b.step; });
    return config;
}

bool is_parallel(const pct_policy_config& config) {
    return !pct_is_serial(pct_policy_enforcement(&config));
}

bool is_stepwise(const pct_policy_config& config) {
    return pct_policy_enforcement(&config) == PCT_ENFORCE_STEPWISE;
}

Promise promise_of(pct_policy policy) {
    switch (policy) {
    case PCT_POLICY_PCT:
    case PCT_POLICY_PPCT:
        return Promise::depth;
    case PCT_POLICY_RPRO:
        return Promise::radius;
    case PCT_POLICY_POS:
        return Promise::partial_orders;
    default:
        return Promise::nothing;
    }
}

std::string policies_text() {
    std::string text;
    for (const PolicyInfo& policy : known_policies())
        text += fmt::format("{:<15} {}\n{:<15} guarantee: {}\n{:<15} parameters: {}\n", policy.name,
                            policy.summary, "", policy.guarantee, "", parameters_text(policy.id));
    return text;
}

} // namespace pctctl
