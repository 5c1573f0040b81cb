// SPDX-License-Identifier: GPL-2.0-only
#include "plan/run_plan.h"

#include <array>
#include <charconv>

#include <spdlog/fmt/fmt.h>

namespace pctctl {
namespace {

constexpr std::size_t kStreamDigits = 16;
constexpr std::size_t kSeedDigits = 24;

template <typename T> bool parse_hex(std::string_view digits, T& value) {
    const char* begin = digits.data();
    const char* end = begin + digits.size();
    const auto [stop, error] = std::from_chars(begin, end, value, 16);
    return error == std::errc{} && stop == end;
}

struct OutcomeName {
    Outcome outcome;
    std::string_view name;
};
constexpr std::array kOutcomes = {
    OutcomeName{Outcome::pass, "pass"},       OutcomeName{Outcome::exit, "exit"},
    OutcomeName{Outcome::signal, "signal"},   OutcomeName{Outcome::deadlock, "deadlock"},
    OutcomeName{Outcome::timeout, "timeout"}, OutcomeName{Outcome::unfinished, "unfinished"},
};

} // namespace

std::string RunSeed::text() const {
    return fmt::format("{:08x}{:016x}", k, stream);
}

Result<RunSeed> RunSeed::parse(std::string_view text) {
    std::string_view digits = text;
    if (digits.starts_with("0x") || digits.starts_with("0X"))
        digits.remove_prefix(2);
    RunSeed seed;
    // For unsigned types from_chars accepts no minus sign. It refuses empty and malformed text.
    const std::size_t high = digits.size() > kStreamDigits ? digits.size() - kStreamDigits : 0;
    if (digits.empty() || digits.size() > kSeedDigits ||
        (high > 0 && !parse_hex(digits.substr(0, high), seed.k)) ||
        !parse_hex(digits.substr(high), seed.stream))
        return Error::usage(fmt::format(
            "'{}' is not a run's seed: it has 24 hex digits and is printed with each failure",
            text));
    return seed;
}

std::string_view name(Outcome outcome) {
    for (const OutcomeName& entry : kOutcomes)
        if (entry.outcome == outcome)
            return entry.name;
    return "unknown";
}

std::optional<Outcome> outcome_from(std::string_view name) {
    for (const OutcomeName& entry : kOutcomes)
        if (entry.name == name)
            return entry.outcome;
    return std::nullopt;
}

} // namespace pctctl
