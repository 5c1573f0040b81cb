// SPDX-License-Identifier: GPL-2.0-only
#include "plan/parameters.h"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "plan/strides.h"

namespace pctctl {
namespace {

constexpr std::uint64_t kLongest = kLongestStride;

constexpr unsigned bit(pct_policy policy) {
    return 1U << policy;
}

// All that decide who goes before whom.
constexpr unsigned kRanking = 0
#define X(id, ...)                                                                                 \
    | (pct_definition_##id.enforcement == PCT_ENFORCE_FREE ? 0U : bit(PCT_POLICY_##id))
    PCT_POLICIES(X)
#undef X
    ;

constexpr std::array<ParameterInfo, kParameters> kAll = {{
    {Parameter::skip_sequential, bit(PCT_POLICY_PCT), "--skip-sequential", "skip_sequential", true,
     0, 1, "on", "pct: on: change points only at steps where another\nthread could go first (on)"},
    {Parameter::join_phases, bit(PCT_POLICY_PCT), "--join-phases", "join_phases", true, 0, 1, "off",
     "pct: on: new priorities and change points whenever\nonly one thread is enabled (off)"},
    {Parameter::final_wait, kRanking, "--final-wait", "final_wait", true, 0, 1, "on",
     "on: a main thread that ends its process lets the\nother threads go first (on)"},
    {Parameter::stride_max, bit(PCT_POLICY_STRIDE), "--stride-max", "stride_max", false, 1,
     kLongest, "from thread lengths",
     "stride: most steps a thread makes at a time (from\nits length in earlier runs)"},
    {Parameter::stride_edges, bit(PCT_POLICY_STRIDE), "--stride-edges", "stride_edges", false, 1, 2,
     "1", "stride: without --stride-max: how many unlikely orders\none run must have, 1 or 2 (1)"},
    {Parameter::radius, bit(PCT_POLICY_RPRO), "--radius", "radius", false, 1, kLongest, "10",
     "rpro: at most so many steps from the first change\npoint to the last (10)"},
    {Parameter::pos_readonly, bit(PCT_POLICY_POS), "--pos-readonly", "pos_readonly", true, 0, 1,
     "on", "pos: on: two events that only read do not race,\noff: they do (on)"},
    {Parameter::preemptions, bit(PCT_POLICY_PREEMPT_BOUND), "--preemptions", "preemptions", false,
     0, PCT_MAX_DEPTH, "depth - 1", "preempt-bound: preemptions in a run (depth - 1)"},
    {Parameter::sleep_one_in, bit(PCT_POLICY_RANDOM_SLEEP), "--sleep-one-in", "sleep_one_in", false,
     1, kLongest, "50", "random-sleep: a thread sleeps before one in N steps\n(50)"},
    {Parameter::sleep_us, bit(PCT_POLICY_RANDOM_SLEEP), "--sleep-us", "sleep_us", false, 1,
     1'000'000, "1000", "random-sleep: for how long, in microseconds (1000)"},
}};

std::uint64_t in_range(const ParameterInfo& parameter, std::uint64_t value) {
    if (value < parameter.low || value > parameter.high)
        throw std::invalid_argument(fmt::format("{} is out of range", parameter.field));
    return value;
}

} // namespace

std::span<const ParameterInfo> all_parameters() {
    return kAll;
}

const ParameterInfo& info(Parameter parameter) {
    return kAll[static_cast<std::size_t>(parameter)];
}

std::uint64_t PolicyParameters::value(Parameter parameter) const {
    if (const auto value = set_value(parameter))
        return *value;
    const auto usual = parse_parameter(info(parameter), info(parameter).usual);
    return *usual; // a programming error for a default that is computed
}

std::string PolicyParameters::text(Parameter parameter) const {
    const auto value = set_value(parameter);
    if (!value)
        return info(parameter).usual;
    return info(parameter).is_switch ? (*value ? "on" : "off") : fmt::format("{}", *value);
}

PolicyParameters PolicyParameters::over(PolicyParameters base) const {
    for (std::size_t i = 0; i < kParameters; ++i)
        if (values_[i])
            base.values_[i] = values_[i];
    return base;
}

Result<std::uint64_t> parse_parameter(const ParameterInfo& parameter, std::string_view text) {
    if (parameter.is_switch) {
        if (text == "on" || text == "off")
            return std::uint64_t{text == "on"};
        return Error::usage(
            fmt::format("{}: '{}' is neither on nor off", parameter.option, printable(text)));
    }
    const auto value = parse_number(text);
    if (!value || *value < parameter.low || *value > parameter.high)
        return Error::usage(fmt::format("{}: '{}' is not a number from {} to {}", parameter.option,
                                        printable(text), parameter.low, parameter.high));
    return *value;
}

nlohmann::json parameters_json(const PolicyParameters& parameters,
                               std::span<const pct_policy> policies) {
    nlohmann::json object = nlohmann::json::object();
    for (const ParameterInfo& parameter : kAll) {
        if (std::ranges::none_of(policies, [&](pct_policy id) { return parameter.is_of(id); }))
            continue;
        auto& field = object[parameter.field];
        const auto value = parse_parameter(parameter, parameters.text(parameter.id));
        if (!value)
            field = nullptr;
        else if (parameter.is_switch)
            field = *value != 0;
        else
            field = *value;
    }
    return object;
}

PolicyParameters parameters_from(const nlohmann::json& object, pct_policy policy) {
    PolicyParameters parameters;
    // A parameter that we do not know would be ignored, and the schedule silently be another one.
    if (!object.is_object() ||
        static_cast<std::ptrdiff_t>(object.size()) !=
            std::count_if(kAll.begin(), kAll.end(),
                          [policy](const ParameterInfo& info) { return info.is_of(policy); }))
        throw std::invalid_argument("the parameters are not those of the policy");
    for (const ParameterInfo& parameter : kAll) {
        if (!parameter.is_of(policy))
            continue;
        const nlohmann::json& field = object.at(parameter.field);
        if (parameter.is_switch)
            parameters.set(parameter.id, field.get<bool>());
        else if (field.is_number_unsigned())
            parameters.set(parameter.id, in_range(parameter, field.get<std::uint64_t>()));
        else if (!field.is_null() || parse_parameter(parameter, parameter.usual))
            throw std::invalid_argument(fmt::format("{} is no number", parameter.field));
    }
    return parameters;
}

} // namespace pctctl
