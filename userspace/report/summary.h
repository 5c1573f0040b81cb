// SPDX-License-Identifier: GPL-2.0-only
// What a campaign found, for people.
#pragma once

#include <string>

#include "report/report.h"

namespace pctctl {

enum class Detail {
    brief,  // only failures and violations; empty when there are none
    normal, // what was found and how sure that is, then the numbers
    full,   // and the formulas these numbers come from
};

// Failures come first.
std::string summary_text(const Report& report, Detail detail = Detail::normal);

// "signal SIGSEGV: process app (thread 2) ...", one line, safe for a terminal.
std::string outcome_text(const RunResult& run);

// A warning for stderr, printed at any verbosity, that no run was under control. Else empty.
std::string uncontrolled_warning(const Report& report);
// The same, that no run of a campaign was finished.
std::string unfinished_warning(const Report& report);

} // namespace pctctl
