// SPDX-License-Identifier: GPL-2.0-only
// What --help says around the list of options, and how a wrong command line is answered.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cli/options.h"

namespace pctctl {

struct HelpTexts {
    const char* usage;  // before the options
    const char* footer; // behind them
};
HelpTexts help_texts(Mode mode);

// Error of usage, one line that ends in the way to --help.
Error complaint(std::string_view text);

} // namespace pctctl
