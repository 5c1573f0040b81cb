// SPDX-License-Identifier: GPL-2.0-only
#include "cli/options.h"

#include <algorithm>
#include <array>
#include <functional>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "pctctl/run.h"
#include "pctctl/version.h"
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
constexpr const char* kOther = "Other";
constexpr const char* kHidden = "";

constexpr const char* kCampaignUsage =
    "Usage: pctctl [OPTIONS] -- PROGRAM [ARG...]\n"
    "       pctctl replay OUT/run-N [OPTIONS]\n"
    "       pctctl replay --seed RUNSEED [OPTIONS] -- PROGRAM [ARG...]\n"
    "       pctctl doctor\n"
    "       pctctl policies\n"
    "\n"
    "Runs PROGRAM again and again under a randomized kernel scheduler that finds its\n"
    "concurrency bugs with a known probability, and repeats any run from its seed.\n"
    "All that follows -- is the program's own. 'pctctl replay --help' tells about replays,\n"
    "'pctctl doctor' whether this machine has what is needed.\n";

constexpr const char* kCampaignFooter =
    "Example:\n"
    "  sudo pctctl --depth 2 --runs 500 -- ./app input.txt\n"
    "  sudo pctctl replay pctctl-out/run-17\n"
    "A failure is a run that exits with a non-zero status, in which a process dies by a\n"
    "signal, that deadlocks, or that exceeds --timeout. It is kept in OUT/run-N: run.json,\n"
    "stdout and stderr.\n"
    "\n"
    "Exit status:\n"
    "  0  no run failed          2  the command line is wrong\n"
    "  1  at least one failed    3  this machine cannot do it, results were lost, or the\n"
    "                               witness objects; the message says why\n"
    "With --vm, 124 to 127 say that the virtual machine failed.";

constexpr const char* kReplayUsage =
    "Usage: pctctl replay OUT/run-N [OPTIONS]\n"
    "       pctctl replay --seed RUNSEED [OPTIONS] -- PROGRAM [ARG...]\n"
    "\n"
    "Repeats a run: one that a campaign has kept, or the one that a run's seed and the\n"
    "campaign's options describe. Says whether outcome and order of steps were the same.\n"
    "Options override what was kept with the run; so does a PROGRAM after --.\n"
    "Those of a campaign that mean nothing here (--runs, --keep-going, --out) are ignored.\n";

constexpr const char* kReplayFooter =
    "Example:\n"
    "  sudo pctctl replay pctctl-out/run-17 --times 10\n"
    "\n"
    "Exit status:\n"
    "  0  it passed              2  the command line is wrong\n"
    "  1  it failed (again)      3  this machine cannot do it; the message says why";

constexpr const char* kDoctorUsage = "Usage: pctctl doctor [--vm]\n"
                                     "\n"
                                     "Checks what pctctl needs of this machine, one line each, "
                                     "with the remedy.\n";

constexpr const char* kDoctorFooter =
    "Exit status: 0 when runs are possible, here or with --vm; 3 when not.";

// CLI11's own usage line does not know about --.
class HelpFormatter : public CLI::Formatter {
public:
    explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) { column_width(24); }
    std::string make_usage(const CLI::App*, std::string) const override { return usage_; }
    std::string make_positionals(const CLI::App*) const override { return {}; }
    std::string make_description(const CLI::App*) const override { return {}; }

private:
    std::string usage_;
};

std::uint64_t number(const char* option, const std::string& text, std::uint64_t low,
                     std::uint64_t high) {
    const auto value = parse_number(text);
    if (!value || *value < low || *value > high)
        throw CLI::ValidationError(
            option, fmt::format("'{}' is not a number from {} to {}", printable(text), low, high));
    return *value;
}

std::string name_text(const char* option, const std::string& text) {
    if (text.empty())
        throw CLI::ValidationError(option, "its value is empty");
    if (text.starts_with("--")) // CLI11 takes the next word, whatever it is
        throw CLI::ValidationError(option,
                                   fmt::format("a value is missing before '{}'", printable(text)));
    return text;
}

std::chrono::nanoseconds seconds(const char* option, const std::string& text, bool zero_allowed) {
    const auto value = parse_seconds(text);
    if (!value || (!zero_allowed && value->count() == 0))
        throw CLI::ValidationError(option,
                                   fmt::format("'{}' is not a number of seconds{}", printable(text),
                                               zero_allowed ? " (0: never)" : " above 0"));
    return *value;
}

// One use of CLI11: declares the options of a mode and collects what is said into Options.
class Parser {
public:
    explicit Parser(Mode mode) : app_("", "pctctl") {
        options_.mode = mode;
        const bool campaign = mode == Mode::campaign;
        const bool replay = mode == Mode::replay;
        app_.formatter(std::make_shared<HelpFormatter>(campaign ? kCampaignUsage
                                                       : replay ? kReplayUsage
                                                                : kDoctorUsage));
        app_.footer(campaign ? kCampaignFooter : replay ? kReplayFooter : kDoctorFooter);
        if (mode != Mode::doctor) {
            add_search_options();
            add_length_options();
            add_program_options();
        }
        add_common_options();
        if (mode != Mode::doctor)
            add_result_options();
        flag("--version", version_, kOther, "Show the version");
        app_.set_help_flag("-h,--help", "Show this help")->group(kOther);
        app_.add_option("words", words_);
    }

    // `args`: without the mode's own word; `program`: what followed --, absent when there was none.
    Result<Invocation> parse(const std::vector<std::string>& args,
                             std::optional<std::vector<std::string>> program) {
        std::vector<const char*> argv = {"pctctl"};
        for (const std::string& arg : args)
            argv.push_back(arg.c_str());
        try {
            app_.parse(static_cast<int>(argv.size()), argv.data());
        } catch (const CLI::CallForHelp&) {
            return Invocation(Print{help()});
        } catch (const CLI::ExtrasError& error) {
            return complaint(fmt::format("unknown option {}{}", unexpected(error.what()),
                                         program ? ""
                                                 : "; put -- before the program if it is the "
                                                   "program's"));
        } catch (const CLI::ArgumentMismatch& error) {
            const std::string_view what = error.what();
            if (what.find(" required ") != std::string_view::npos)
                return complaint(
                    fmt::format("{}: a value is missing", what.substr(0, what.find(':'))));
            return complaint(what);
        } catch (const CLI::ParseError& error) {
            return complaint(error.what());
        }
        if (version_)
            return Invocation(Print{fmt::format("pctctl {}\n", kVersion)});
        if (options_.verbose && options_.quiet)
            return complaint("--verbose and --quiet exclude each other");
        if (auto wrong = take_words(args, std::move(program)))
            return *wrong;
        if (options_.mode == Mode::replay && options_.given.policy &&
            portfolio(*options_.given.policy)->size() > 1)
            return complaint("--policy: a replay is of one run; name that run's policy");
        // The policy of a kept run is not known yet.
        if (options_.replay_dir.empty())
            if (const Status ok = options_.given.check_for(options_.given.over({}).policy); !ok)
                return ok.error();
        return Invocation(options_);
    }

private:
    using Text = const std::string&;

    void value(const char* name, const char* type, const char* group, const char* description,
               const std::function<void(Text)>& take) {
        app_.add_option_function<std::string>(name, take, description)
            ->type_name(type)
            ->group(group)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }

    void flag(const char* name, bool& target, const char* group, const char* description) {
        app_.add_flag(name, target, description)
            ->group(group)
            ->disable_flag_override()
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }

    void add_search_options() {
        Given& given = options_.given;
        value("--depth", "D|auto", kLookFor,
              "Depth of the bugs looked for: how many orderings must\n"
              "coincide; 1 to 64, or auto: drawn for each run\n"
              "(auto)",
              [&given](Text text) {
                  given.depth =
                      text == "auto"
                          ? kDepthAuto
                          : static_cast<unsigned>(number("--depth", text, 1, PCT_MAX_DEPTH));
              });
        value("--points", "SETS", kLookFor,
              "Where order matters: pthread, syscall, or both with a\n"
              "comma (pthread,syscall)",
              [&given](Text text) {
                  const auto points = parse_points(text);
                  if (!points)
                      throw CLI::ValidationError("--points", points.error().message);
                  given.points = *points;
              });
        value("--policy", "NAMES", kLookFor,
              "Scheduling algorithm, see 'pctctl policies' (pct);\n"
              "several, with commas, take turns",
              [&given](Text text) {
                  const auto names = portfolio(text);
                  if (!names)
                      throw CLI::ValidationError("--policy", names.error().message);
                  given.policy = text;
              });
        for (const ParameterInfo& parameter : all_parameters())
            value(parameter.option, parameter.is_switch ? "on|off" : "N", kLookFor,
                  parameter.explanation, [&given, &parameter](Text text) {
                      const auto value = parse_parameter(parameter, text);
                      if (!value)
                          throw CLI::ValidationError(value.error().message);
                      given.parameters.set(parameter.id, *value);
                  });
    }

    // A replay accepts the campaign's, so that its command line can be used again as it is.
    void add_length_options() {
        const bool campaign = options_.mode == Mode::campaign;
        const char* group = campaign ? kLength : kHidden;
        value("--runs", "N", group, "Number of runs (100)", [this](Text text) {
            options_.runs = static_cast<std::uint32_t>(number("--runs", text, 1, kMostRuns));
        });
        flag("--keep-going", options_.keep_going, group, "Go on after the first failure");
        if (campaign) {
            value("--seed", "S", kLength,
                  "Seed of the campaign, 64 bits, decimal or 0x hex\n"
                  "(random; always printed)",
                  [this](Text text) { take_campaign_seed(text); });
        } else {
            value("--seed", "RUNSEED", kLength, "The run's seed, 24 hex digits",
                  [this](Text text) { take_run_seed(text); });
            value("--strides", "LIST", kLookFor,
                  "stride: of each thread, as the results of a campaign\ntell (1: the random walk)",
                  [this](Text text) {
                      const auto strides = Strides::parse(text);
                      if (!strides)
                          throw CLI::ValidationError("--strides", strides.error().message);
                      options_.given.strides = *strides;
                  });
            value("--times", "N", kLength, "Repeat it so many times (1)", [this](Text text) {
                options_.times = static_cast<std::uint32_t>(number("--times", text, 1, kMostRuns));
            });
        }
        value("--jobs", "J", kLength, "Runs under way at once, 1 to 64 (1)", [this](Text text) {
            options_.given.jobs = static_cast<unsigned>(number("--jobs", text, 1, PCT_MAX_RUNS));
        });
    }

    void add_program_options() {
        Given& given = options_.given;
        value("--timeout", "SEC", kProgram, "A run's wall time before it counts as failed (60)",
              [&given](Text text) { given.timeout = seconds("--timeout", text, false); });
        value("--spin-limit", "SEC", kProgram,
              "CPU time without a scheduling point after which a\n"
              "thread is taken to spin and steps back; 0: never (0.5)",
              [&given](Text text) { given.spin_limit = seconds("--spin-limit", text, true); });
        value("--user", "NAME", kProgram, "Run the program as this user (as you are)",
              [&given](Text text) { given.user = name_text("--user", text); });
        value("--cgroup", "NAME", kProgram,
              "cgroup that holds the runs, made when absent (its own)", [&given](Text text) {
                  if (const Status ok = check_cgroup_name(name_text("--cgroup", text)); !ok)
                      throw CLI::ValidationError(ok.error().message);
                  given.cgroup = text;
              });
        value(
            "--pids-limit", "N", kProgram, "Most processes and threads of a run at once (4096)",
            [&given](Text text) { given.pids_limit = number("--pids-limit", text, 1, kMostPids); });
    }

    void add_result_options() {
        value("--out", "DIR", options_.mode == Mode::campaign ? kResults : kHidden,
              "Where failing runs are kept (pctctl-out)",
              [this](Text text) { options_.out = name_text("--out", text); });
        value("--json", "FILE", kResults, "Write the results as JSON; -: to standard output",
              [this](Text text) { options_.json = name_text("--json", text); });
        flag("--verify", options_.given.verify, kResults,
             "Check each run with an independent witness that the\n"
             "schedule was the one meant, and count violations");
        flag("-v,--verbose", options_.verbose, kResults,
             "Show the program's output and a line for each run");
        flag("-q,--quiet", options_.quiet, kResults, "Say nothing but failures and errors");
    }

    void add_common_options() {
        flag("--vm", options_.vm, kProgram,
             "Do all of it in a virtual machine whose kernel has\n"
             "what is needed");
        value("--inside-vm", "NAME", kHidden, "", [this](Text text) {
            options_.inside_vm = true;
            options_.invoked_as = text;
        });
    }

    void take_campaign_seed(Text text) {
        options_.campaign_seed = parse_number_or_hex(text);
        if (!options_.campaign_seed)
            throw CLI::ValidationError(
                "--seed", fmt::format("'{}' is not a 64-bit number, decimal or 0x hex; a single "
                                      "run's seed is for 'pctctl replay --seed'",
                                      printable(text)));
    }

    void take_run_seed(Text text) {
        const auto seed = RunSeed::parse(text);
        if (!seed)
            throw CLI::ValidationError("--seed", seed.error().message);
        options_.replay_seed = *seed;
    }

    std::string help() const {
        std::string text = app_.help();
        for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;)
            text.erase(at, 1);
        return text;
    }

    static Error complaint(std::string_view text) {
        std::string line(text);
        std::replace(line.begin(), line.end(), '\n', ' ');
        return Error::usage(line + " (see pctctl --help)");
    }

    // "The following argument was not expected: --x" -> "--x"
    static std::string unexpected(std::string_view what) {
        const std::size_t colon = what.find(": ");
        return printable(colon == std::string_view::npos ? what : what.substr(colon + 2));
    }

    std::optional<Error> take_words(const std::vector<std::string>& args,
                                    std::optional<std::vector<std::string>> program) {
        const Mode mode = options_.mode;
        const bool program_wanted = mode == Mode::campaign || options_.replay_seed;
        if (mode == Mode::doctor) {
            if (program || !words_.empty())
                return complaint("doctor takes no program");
            return std::nullopt;
        }
        if (program) {
            if (program_wanted && !words_.empty())
                return complaint(fmt::format("unexpected '{}' before --", printable(words_[0])));
            options_.given.command = std::move(*program);
            if (options_.given.command.empty() || options_.given.command[0].empty())
                return complaint("no program after --");
        } else if (program_wanted) {
            if (words_.empty() || words_[0].empty())
                return complaint(mode == Mode::campaign
                                     ? "no program given: pctctl [OPTIONS] -- PROGRAM [ARG...]"
                                     : "no program given: pctctl replay --seed RUNSEED [OPTIONS] "
                                       "-- PROGRAM [ARG...]");
            if (mode == Mode::campaign && (words_[0] == "replay" || words_[0] == "doctor"))
                return complaint(
                    fmt::format("'{0}' must be the first word; put -- before a program "
                                "of that name",
                                words_[0]));
            // Options after the program could be meant for either: do not guess.
            if (!std::equal(words_.rbegin(), words_.rend(), args.rbegin(),
                            args.rbegin() + static_cast<std::ptrdiff_t>(words_.size())))
                return complaint(fmt::format(
                    "options after the program '{}': put -- before the program, and options of "
                    "pctctl before that",
                    printable(words_[0])));
            options_.given.command = words_;
        }
        if (program_wanted)
            return std::nullopt;
        if (words_.empty() || words_[0].empty())
            return complaint("replay what? Name a kept run (OUT/run-N), or --seed RUNSEED and the "
                             "program");
        if (words_.size() > 1)
            return complaint(fmt::format("unexpected '{}' after the kept run; a program follows "
                                         "after --",
                                         printable(words_[1])));
        options_.replay_dir = words_[0];
        return std::nullopt;
    }

    CLI::App app_;
    Options options_;
    std::vector<std::string> words_;
    bool version_ = false;
};

// Where the options end: at the first --, or at the end.
std::size_t options_end(std::span<const std::string> argv) {
    return static_cast<std::size_t>(std::find(argv.begin(), argv.end(), "--") - argv.begin());
}

Mode mode_of(std::span<const std::string> argv) {
    if (argv.size() > 1 && argv[1] == "replay")
        return Mode::replay;
    if (argv.size() > 1 && argv[1] == "doctor")
        return Mode::doctor;
    return Mode::campaign;
}

} // namespace

ExecutorOptions Given::over(ExecutorOptions base) const {
    if (!command.empty())
        base.command = command;
    if (cgroup)
        base.cgroup = cgroup;
    base.depth = depth.value_or(base.depth);
    base.policy = policy.value_or(base.policy);
    base.parameters = parameters.over(base.parameters);
    if (const auto all = parameters.set_value(Parameter::stride_max))
        base.strides = {.others = static_cast<std::uint32_t>(*all), .threads = {}};
    else
        base.strides = strides.value_or(base.strides);
    base.points = points.value_or(base.points);
    base.timeout = timeout.value_or(base.timeout);
    base.spin_limit = spin_limit.value_or(base.spin_limit);
    if (user)
        base.user = user;
    base.pids_limit = pids_limit.value_or(base.pids_limit);
    base.jobs = jobs.value_or(base.jobs);
    base.verify = base.verify || verify;
    return base;
}

Status Given::check_for(std::string_view policies) const {
    const std::vector<pct_policy> ids = portfolio_ids(policies);
    if (strides && std::find(ids.begin(), ids.end(), PCT_POLICY_STRIDE) == ids.end())
        return Error::usage(fmt::format("--strides is an option of policy stride, not of {} (see "
                                        "pctctl policies)",
                                        policies));
    if (strides && parameters.set_value(Parameter::stride_max))
        return Error::usage("--strides and --stride-max exclude each other");
    return check_parameters(parameters, policies);
}

Result<Invocation> parse(std::span<const std::string> argv) {
    if (argv.size() == 2 && argv[1] == "policies")
        return Invocation(Print{policies_text()});
    const Mode mode = mode_of(argv);
    const std::size_t first = std::min<std::size_t>(mode == Mode::campaign ? 1 : 2, argv.size());
    const std::size_t end = options_end(argv);
    std::optional<std::vector<std::string>> program;
    if (end < argv.size())
        program.emplace(argv.begin() + static_cast<std::ptrdiff_t>(end) + 1, argv.end());
    Parser parser(mode);
    auto parsed = parser.parse({argv.begin() + static_cast<std::ptrdiff_t>(std::min(first, end)),
                                argv.begin() + static_cast<std::ptrdiff_t>(end)},
                               std::move(program));
    if (parsed && !argv.empty() && std::holds_alternative<Options>(*parsed)) {
        Options& options = std::get<Options>(*parsed);
        if (!options.inside_vm)
            options.invoked_as = argv[0];
    }
    return parsed;
}

std::vector<std::string> argv_inside_vm(std::span<const std::string> argv,
                                        const std::string& self) {
    const std::size_t end = options_end(argv);
    std::vector<std::string> inner = {self};
    std::size_t next = 1;
    if (mode_of(argv) != Mode::campaign)
        inner.push_back(argv[next++]);
    inner.insert(inner.end(), {"--inside-vm", argv.empty() ? "pctctl" : argv[0]});
    // No value of an option can be "--vm": parse() refuses those that begin with two dashes.
    for (; next < argv.size(); ++next)
        if (next >= end || (argv[next] != "--vm" && !argv[next].starts_with("--vm=")))
            inner.push_back(argv[next]);
    return inner;
}

} // namespace pctctl
