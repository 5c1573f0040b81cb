// SPDX-License-Identifier: GPL-2.0-only
// Options that belong to some of the policies. (--depth has a default that is not a number, so it
// is not here.) To add one: its name in Parameter, its line in parameters.cc, its use in
// policy_config(), its policy's page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "table.h"

namespace pctctl {

enum class Parameter {
    skip_sequential,
    join_phases,
    final_wait,
    stride_max,
    stride_edges,
    radius,
    pos_readonly,
    preemptions,
    sleep_one_in,
    sleep_us
};
inline constexpr std::size_t kParameters = 10;

struct ParameterInfo {
    Parameter id;
    unsigned policies;       // whose it is: a bit for each pct_policy
    const char* option;      // on the command line: "--stride-max"
    const char* field;       // in run.json and in --json: "stride_max"
    bool is_switch;          // on (1) or off (0); else a number
    std::uint64_t low;       // the smallest and
    std::uint64_t high;      // the largest value
    const char* usual;       // the default as text; a number, on, off, or what it is computed from
    const char* explanation; // for --help, its lines ending in '\n' but the last

    bool is_of(pct_policy policy) const { return policies >> policy & 1U; }
};

// All of them, in the order of Parameter.
std::span<const ParameterInfo> all_parameters();
const ParameterInfo& info(Parameter parameter);

// Values for some or all of the parameters.
class PolicyParameters {
public:
    // The value that was set. Nothing: the default applies.
    std::optional<std::uint64_t> set_value(Parameter parameter) const {
        return values_[at(parameter)];
    }
    // The value that was set, or the default, which must be a number or a switch.
    std::uint64_t value(Parameter parameter) const;
    std::string text(Parameter parameter) const; // as on the command line, or the default's text
    void set(Parameter parameter, std::uint64_t value) { values_[at(parameter)] = value; }

    // The values set here, and for the others those of `base`.
    PolicyParameters over(PolicyParameters base) const;
    bool operator==(const PolicyParameters&) const = default;

private:
    static std::size_t at(Parameter parameter) { return static_cast<std::size_t>(parameter); }

    std::array<std::optional<std::uint64_t>, kParameters> values_;
};

// Reads a word of the command line.
Result<std::uint64_t> parse_parameter(const ParameterInfo& parameter, std::string_view text);

// An object with a field for each parameter of these policies: a number, true or false. null stands
// for a default that is computed.
nlohmann::json parameters_json(const PolicyParameters& parameters,
                               std::span<const pct_policy> policies);
// Reads such an object, for one policy. Throws std::invalid_argument or json::exception if a field
// is missing or makes no sense.
PolicyParameters parameters_from(const nlohmann::json& object, pct_policy policy);

} // namespace pctctl
