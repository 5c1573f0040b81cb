// SPDX-License-Identifier: GPL-2.0-only
// How likely a campaign missed a bug, computed from the promises of its policies (plan/bound.h).
#pragma once

#include <string>

#include "report/report.h"

namespace pctctl {

// How likely these runs missed a bug. One sentence, on a line of its own, for each policy that
// promises something.
std::string chances_text(const Report& report);

// Runs that do not count for these chances: they are less certain than they look.
std::string doubts_text(const Report& report);

// The promises with their formulas and sources.
std::string formulas_text(const Report& report);

// The greatest depth that the report states a chance for; 0: none.
unsigned deepest_promise(const Report& report);

} // namespace pctctl
