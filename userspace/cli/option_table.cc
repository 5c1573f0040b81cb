// SPDX-License-Identifier: GPL-2.0-only
#include "cli/option_table.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <type_traits>

#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "pctctl/run.h"
#include "plan/cgroup_name.h"
#include "plan/depth.h"
#include "plan/point_sets.h"
#include "plan/policies.h"

namespace pctctl {
namespace {

constexpr std::uint64_t kMostRuns = 1'000'000'000;

constexpr const char* kLookFor = "What to look for";
constexpr const char* kLength = "How long to look";
constexpr const char* kProgram = "How the program runs";
constexpr const char* kResults = "Results";

// A replay accepts options of the campaign, so that its command line can be used again as it is.
constexpr unsigned kBoth = in_campaign | in_replay;
constexpr unsigned kAll = kBoth | in_doctor;
constexpr unsigned kNowhere = 0;

// Parsers: from the word on the command line to a value, or what is wrong with the word.

auto number_from(std::uint64_t low, std::uint64_t high) {
    return [low, high](const std::string& text) -> Result<std::uint64_t> {
        const auto value = parse_number(text);
        if (!value || *value < low || *value > high)
            return Error::usage(
                fmt::format("'{}' is not a number from {} to {}", printable(text), low, high));
        return *value;
    };
}

Result<unsigned> depth(const std::string& text) {
    if (text == "auto")
        return kDepthAuto;
    const auto number = number_from(1, PCT_MAX_DEPTH)(text);
    if (!number)
        return number.error();
    return static_cast<unsigned>(*number);
}

Result<std::string> policies(const std::string& text) {
    const auto names = portfolio(text);
    if (!names)
        return names.error();
    return text;
}

Result<std::uint64_t> campaign_seed(const std::string& text) {
    if (const auto seed = parse_number_or_hex(text))
        return *seed;
    return Error::usage(
        fmt::format("'{}' is not a 64-bit number, decimal or 0x hex; a single run's seed is for "
                    "'pctctl replay --seed'",
                    printable(text)));
}

Result<std::chrono::nanoseconds> seconds(const std::string& text, bool zero_allowed) {
    const auto value = parse_seconds(text);
    if (!value || (!zero_allowed && value->count() == 0))
        return Error::usage(fmt::format("'{}' is not a number of seconds{}", printable(text),
                                        zero_allowed ? " (0: never)" : " above 0"));
    return *value;
}

auto seconds_above_zero(const std::string& text) {
    return seconds(text, false);
}

auto seconds_or_never(const std::string& text) {
    return seconds(text, true);
}

Result<std::string> name_text(const std::string& text) {
    if (text.empty())
        return Error::usage("its value is empty");
    if (text.starts_with("--")) // CLI11 takes the next word, whatever it is
        return Error::usage(fmt::format("a value is missing before '{}'", printable(text)));
    return text;
}

Result<std::string> file_name(const std::string& text) {
    if (text == "-")
        return Error::usage("it needs a file; -vv shows the same on stderr");
    return name_text(text);
}

// Setters: from what was said to a field of Options.

template <typename T> struct Content {
    using Type = T;
};
template <typename T> struct Content<std::optional<T>> {
    using Type = T;
};

// A setter for a field of Options or of its Given.
template <typename Owner, typename Field, typename Parser>
auto into(Field Owner::* field, Parser parser) {
    return [field, parser](Options& options, const Said& said) -> Status {
        const auto value = parser(said.value);
        if (!value)
            return said.wrong(value.error().message);
        const auto put = [&](auto& owner) {
            owner.*field = static_cast<typename Content<Field>::Type>(*value);
        };
        if constexpr (std::is_same_v<Owner, Given>)
            put(options.given);
        else
            put(options);
        return Done{};
    };
}

template <typename Owner> auto flag(bool Owner::* field) {
    return [field](Options& options, const Said&) -> Status {
        if constexpr (std::is_same_v<Owner, Given>)
            options.given.*field = true;
        else
            options.*field = true;
        return Done{};
    };
}

Status set_cgroup(Options& options, const Said& said) {
    const auto name = name_text(said.value);
    if (!name)
        return said.wrong(name.error().message);
    if (const Status ok = check_cgroup_name(*name); !ok)
        return ok.error();
    options.given.cgroup = *name;
    return Done{};
}

Status set_verbose(Options& options, const Said& said) {
    options.verbose = true;
    options.debug = said.times > 1;
    return Done{};
}

Status set_inside_vm(Options& options, const Said& said) {
    options.inside_vm = true;
    options.invoked_as = said.value;
    return Done{};
}

OptionRow parameter_row(const ParameterInfo& parameter) {
    const auto set = [&parameter](Options& options, const Said& said) -> Status {
        const auto value = parse_parameter(parameter, said.value);
        if (!value)
            return value.error();
        options.given.parameters.set(parameter.id, *value);
        return Done{};
    };
    return {parameter.option,
            parameter.is_switch ? "on|off" : "N",
            kLookFor,
            kBoth,
            kBoth,
            parameter.explanation,
            set};
}

std::vector<OptionRow> all_rows() {
    // clang-format off
    std::vector<OptionRow> rows = {
        {"--depth", "D|auto", kLookFor, kBoth, kBoth,
         "Depth of the bugs looked for: how many orderings must\n"
         "coincide; 1 to 64, or auto: drawn for each run\n"
         "(auto)",
         into(&Given::depth, depth)},
        {"--points", "SETS", kLookFor, kBoth, kBoth,
         "Where order matters: pthread, syscall, or both with a\n"
         "comma (pthread,syscall)",
         into(&Given::points, parse_points)},
        {"--focus", "on|off", kLookFor, kBoth, kBoth,
         "Count only steps on objects that several threads\n"
         "touch, as earlier runs have shown (off)",
         into(&Given::focus, Focus::parse)},
        {"--policy", "NAMES", kLookFor, kBoth, kBoth,
         "Scheduling algorithm, see 'pctctl policies' (pct);\n"
         "several, with commas, take turns",
         into(&Given::policy, policies)},
    };
    std::ranges::transform(all_parameters(), std::back_inserter(rows), parameter_row);
    const std::vector<OptionRow> rest = {
        {"--runs", "N", kLength, kBoth, in_campaign,
         "Number of runs (100)",
         into(&Options::runs, number_from(1, kMostRuns))},
        {"--keep-going", nullptr, kLength, kBoth, in_campaign,
         "Go on after the first failure",
         flag(&Options::keep_going)},
        {"--seed", "S", kLength, in_campaign, in_campaign,
         "Seed of the campaign, 64 bits, decimal or 0x hex\n"
         "(random; always printed)",
         into(&Options::campaign_seed, campaign_seed)},
        {"--seed", "RUNSEED", kLength, in_replay, in_replay,
         "The run's seed, 24 hex digits",
         into(&Options::replay_seed, RunSeed::parse)},
        {"--strides", "LIST", kLookFor, in_replay, in_replay,
         "stride: of each thread, as the results of a campaign\n"
         "tell (1: the random walk)",
         into(&Given::strides, Strides::parse)},
        {"--times", "N", kLength, in_replay, in_replay,
         "Repeat it so many times (1)",
         into(&Options::times, number_from(1, kMostRuns))},
        {"--jobs", "J", kLength, kBoth, kBoth,
         "Runs under way at once, 1 to 64 (1)",
         into(&Given::jobs, number_from(1, PCT_MAX_RUNS))},

        {"--timeout", "SEC", kProgram, kBoth, kBoth,
         "A run's time limit. It has failed if it hangs, and is\n"
         "unfinished if it still makes progress (10 times the\n"
         "slowest run so far, from 20 to 600; at first 60)",
         into(&Given::timeout, seconds_above_zero)},
        {"--spin-limit", "SEC", kProgram, kBoth, kBoth,
         "CPU time without a scheduling point after which a\n"
         "thread is taken to spin and steps back; 0: never (0.5)",
         into(&Given::spin_limit, seconds_or_never)},
        {"--user", "NAME", kProgram, kBoth, kBoth,
         "Run the program as this user (as you are)",
         into(&Given::user, name_text)},
        {"--cgroup", "NAME", kProgram, kBoth, kBoth,
         "cgroup that holds the runs, made when absent (its own)",
         set_cgroup},
        {"--pids-limit", "N", kProgram, kBoth, kBoth,
         "Most processes and threads of a run at once (4096)",
         into(&Given::pids_limit, number_from(1, kMostPids))},
        {"--vm", nullptr, kProgram, kAll, kAll,
         "Run in a virtual machine whose kernel has all that\n"
         "is needed",
         flag(&Options::vm)},
        {"--inside-vm", "NAME", kProgram, kAll, kNowhere,
         "How the user calls us, from the one outside",
         set_inside_vm},

        {"--out", "DIR", kResults, kBoth, in_campaign,
         "Directory for failing runs (pctctl-out)",
         into(&Options::out, name_text)},
        {"--json", "FILE", kResults, kBoth, kBoth,
         "Write the results as JSON; -: to standard output",
         into(&Options::json, name_text)},
        {"--verify", nullptr, kResults, kBoth, kBoth,
         "Let an independent witness check each run's schedule,\n"
         "and count violations",
         flag(&Given::verify)},
        {"-v,--verbose", nullptr, kResults, kBoth, kBoth,
         "Show the program's output, a line for each run, what\n"
         "is loaded, and the formulas of the summary; -vv: also\n"
         "what each run meets with",
         set_verbose},
        {"-q,--quiet", nullptr, kResults, kBoth, kBoth,
         "Print only failures, warnings and errors",
         flag(&Options::quiet)},
        {"--log", "FILE", kResults, kBoth, kBoth,
         "Write diagnostics to FILE: all that -vv shows, with\n"
         "time stamps",
         into(&Options::log, file_name)},
    };
    // clang-format on
    rows.insert(rows.end(), rest.begin(), rest.end());
    return rows;
}

} // namespace

Error Said::wrong(const std::string& why) const {
    return Error::usage(fmt::format("{}: {}", option, why));
}

unsigned bit_of(Mode mode) {
    switch (mode) {
    case Mode::campaign:
        return in_campaign;
    case Mode::replay:
        return in_replay;
    case Mode::doctor:
        break;
    }
    return in_doctor;
}

std::vector<OptionRow> option_rows(Mode mode) {
    std::vector<OptionRow> rows = all_rows();
    std::erase_if(rows, [mode](const OptionRow& row) { return !(row.modes & bit_of(mode)); });
    return rows;
}

} // namespace pctctl
