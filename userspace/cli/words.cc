// SPDX-License-Identifier: GPL-2.0-only
#include "cli/words.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "cli/help.h"

namespace pctctl {
namespace {

bool nothing(const std::vector<std::string>& words) {
    return words.empty() || words[0].empty();
}

bool ends_with(const std::vector<std::string>& all, const std::vector<std::string>& tail) {
    return tail.size() <= all.size() && std::equal(tail.rbegin(), tail.rend(), all.rbegin());
}

Status take_after_dashes(const std::vector<std::string>& program, Options& options) {
    if (nothing(program))
        return complaint("no program after --");
    options.given.command = program;
    return Done{};
}

// The program without -- before it.
Status take_program(const Words& words, Options& options) {
    const bool campaign = options.mode == Mode::campaign;
    if (nothing(words.free))
        return complaint(campaign ? "no program given: pctctl [OPTIONS] -- PROGRAM [ARG...]"
                                  : "no program given: pctctl replay --seed RUNSEED [OPTIONS] "
                                    "-- PROGRAM [ARG...]");
    const std::string& first = words.free[0];
    if (campaign && (first == "replay" || first == "doctor"))
        return complaint(fmt::format(
            "'{0}' must be the first word; put -- before a program of that name", first));
    // Options after the program could be meant for either: do not guess.
    if (!ends_with(words.args, words.free))
        return complaint(fmt::format("options after the program '{}': put -- before the program, "
                                     "and options of pctctl before that",
                                     printable(first)));
    options.given.command = words.free;
    return Done{};
}

Status take_kept_run(const std::vector<std::string>& words, Options& options) {
    if (nothing(words))
        return complaint("replay what? Name a kept run (OUT/run-N), or --seed RUNSEED and the "
                         "program");
    if (words.size() > 1)
        return complaint(fmt::format("unexpected '{}' after the kept run; a program follows "
                                     "after --",
                                     printable(words[1])));
    options.replay_dir = words[0];
    return Done{};
}

} // namespace

Status take_words(const Words& words, Options& options) {
    if (options.mode == Mode::doctor) {
        if (words.program || !words.free.empty())
            return complaint("doctor takes no program");
        return Done{};
    }
    if (options.mode == Mode::campaign || options.replay_seed) {
        if (!words.program)
            return take_program(words, options);
        if (!words.free.empty())
            return complaint(fmt::format("unexpected '{}' before --", printable(words.free[0])));
        return take_after_dashes(*words.program, options);
    }
    // A kept run; a program after -- takes the place of its own.
    if (words.program)
        if (const Status ok = take_after_dashes(*words.program, options); !ok)
            return ok;
    return take_kept_run(words.free, options);
}

} // namespace pctctl
