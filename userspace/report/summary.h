// SPDX-License-Identifier: GPL-2.0-only
// What a campaign found, for people.
#pragma once

#include <string>

#include "report/report.h"

namespace pctctl {

enum class Detail {
    brief,  // only failures, and what casts doubt on the results; empty when there is neither
    normal, // what was found and how sure that is, then the numbers
    full,   // and the formulas these numbers come from
};

// Failures come first.
std::string summary_text(const Report& report, Detail detail = Detail::normal);

// "signal SIGSEGV: process app (thread 2) ...", one line, safe for a terminal.
std::string outcome_text(const RunResult& run);

// For stderr, whatever the verbosity; empty when something was controlled.
std::string uncontrolled_warning(const Report& report);

} // namespace pctctl
