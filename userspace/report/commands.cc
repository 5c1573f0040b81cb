// SPDX-License-Identifier: GPL-2.0-only
#include "report/commands.h"

#include <chrono>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "plan/point_sets.h"
#include "plan/policies.h"

namespace pctctl {
namespace {

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

// The options that differ from the defaults, as words of a command line.
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
            text != parameter.usual && parameter.is_of(find_policy(options.policy)->id))
            add(parameter.option, text);
    if (options.strides != usual.strides && !options.parameters.set_value(Parameter::stride_max))
        add("--strides", options.strides.text());
    if (options.focus != usual.focus)
        add("--focus", options.focus.text());
    if (options.points != usual.points)
        add("--points", points_text(options.points));
    if (options.timeout)
        add("--timeout", seconds_text(*options.timeout));
    if (options.spin_limit != usual.spin_limit)
        add("--spin-limit", seconds_text(options.spin_limit));
    if (options.user)
        add("--user", *options.user);
    if (options.pids_limit != usual.pids_limit)
        add("--pids-limit", fmt::format("{}", options.pids_limit));
    return words;
}

} // namespace

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

} // namespace pctctl
