// SPDX-License-Identifier: GPL-2.0-only
// What a command line names besides its options: the program, or a kept run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"

namespace pctctl {

struct Words {
    std::vector<std::string> args; // all before --, options included, but not the mode's own word
    std::vector<std::string> free; // those of them that are neither option nor value
    std::optional<std::vector<std::string>> program; // what follows --; absent: there is no --
};

// Sets command and replay_dir of `options`, of which mode and replay_seed are known.
Status take_words(const Words& words, Options& options);

} // namespace pctctl
