// SPDX-License-Identifier: GPL-2.0-only
#include "cli/options.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "cli/help.h"
#include "cli/option_table.h"
#include "cli/words.h"
#include "pctctl/version.h"
#include "plan/policies.h"

namespace pctctl {
namespace {

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

// Puts the rows of a mode into CLI11, and what it reads into Options.
class Reader {
public:
    explicit Reader(Mode mode) : app_("", "pctctl") {
        options_.mode = mode;
        const HelpTexts texts = help_texts(mode);
        app_.formatter(std::make_shared<HelpFormatter>(texts.usage));
        app_.footer(texts.footer);
        for (OptionRow& row : option_rows(mode))
            add(std::move(row));
        app_.add_flag("--version", version_, "Show the version")
            ->group(kOtherGroup)
            ->disable_flag_override();
        app_.set_help_flag("-h,--help", "Show this help")->group(kOtherGroup);
        app_.add_option("words", free_);
    }

    // Throws what CLI11 throws. Once only.
    void read(const std::vector<std::string>& args) {
        std::vector<const char*> argv = {"pctctl"};
        for (const std::string& arg : args)
            argv.push_back(arg.c_str());
        app_.parse(static_cast<int>(argv.size()), argv.data());
    }

    Options& options() { return options_; }
    const std::vector<std::string>& free_words() const { return free_; }
    bool version_wanted() const { return version_; }

    std::string help() const {
        std::string text = app_.help();
        for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;)
            text.erase(at, 1);
        return text;
    }

private:
    void add(OptionRow row) {
        const auto set = [this, set = std::move(row.set)](const Said& said) {
            if (const Status ok = set(options_, said); !ok)
                throw CLI::ValidationError(ok.error().message);
        };
        CLI::Option* option = nullptr;
        if (row.is_flag())
            option = app_.add_flag_function(
                             row.names,
                             [set, name = row.names](std::int64_t times) {
                                 set({name, "", static_cast<unsigned>(times)});
                             },
                             row.help)
                         ->disable_flag_override();
        else
            option =
                app_.add_option_function<std::string>(
                        row.names,
                        [set, name = row.names](const std::string& value) { set({name, value}); },
                        row.help)
                    ->type_name(row.value_name)
                    ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
        option->group(row.shown & bit_of(options_.mode) ? row.group : kHidden);
    }

    static constexpr const char* kHidden = ""; // CLI11's group for those that --help leaves out

    CLI::App app_;
    Options options_;
    std::vector<std::string> free_;
    bool version_ = false;
};

// "The following argument was not expected: --x" -> "--x"
std::string unexpected(std::string_view what) {
    const std::size_t colon = what.find(": ");
    return printable(colon == std::string_view::npos ? what : what.substr(colon + 2));
}

// What CLI11 has thrown, in our words.
Error explained(const CLI::ParseError& error, bool dashes) {
    const std::string_view what = error.what();
    if (dynamic_cast<const CLI::ExtrasError*>(&error))
        return complaint(fmt::format("unknown option {}{}", unexpected(what),
                                     dashes ? ""
                                            : "; put -- before the program if it is the "
                                              "program's"));
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) &&
        what.find(" required ") != std::string_view::npos)
        return complaint(fmt::format("{}: a value is missing", what.substr(0, what.find(':'))));
    return complaint(what);
}

// What no single option can tell.
Status check_together(const Options& options) {
    if (options.mode == Mode::replay && options.given.policy &&
        portfolio(*options.given.policy)->size() > 1)
        return complaint("--policy: a replay is of one run; name that run's policy");
    // The policy of a kept run is not known yet.
    if (options.replay_dir.empty())
        return options.given.check_for(options.given.over({}).policy);
    return Done{};
}

Result<Invocation> read(Mode mode, Words words) {
    Reader reader(mode);
    try {
        reader.read(words.args);
    } catch (const CLI::CallForHelp&) {
        return Invocation(Print{reader.help()});
    } catch (const CLI::ParseError& error) {
        return explained(error, words.program.has_value());
    }
    if (reader.version_wanted())
        return Invocation(Print{fmt::format("pctctl {}\n", kVersion)});
    Options& options = reader.options();
    if (options.verbose && options.quiet)
        return complaint("--verbose and --quiet exclude each other");
    words.free = reader.free_words();
    if (const Status ok = take_words(words, options); !ok)
        return ok.error();
    if (const Status ok = check_together(options); !ok)
        return ok.error();
    return Invocation(std::move(options));
}

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
    base.focus = focus.value_or(base.focus);
    base.points = points.value_or(base.points);
    if (timeout)
        base.timeout = timeout;
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
    const auto at = [&](std::size_t i) { return argv.begin() + static_cast<std::ptrdiff_t>(i); };
    Words words;
    words.args.assign(at(std::min(first, end)), at(end));
    if (end < argv.size())
        words.program.emplace(at(end + 1), argv.end());
    auto parsed = read(mode, std::move(words));
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
