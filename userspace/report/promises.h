// SPDX-License-Identifier: GPL-2.0-only
// What the runs of a campaign say about bugs that they did not find, by the promises of their
// policies (plan/bound.h).
#pragma once

#include <string>

#include "report/report.h"

namespace pctctl {

// How likely these runs missed a bug: one sentence for each policy that promises something, each on
// a line of its own.
std::string chances_text(const Report& report);

// What makes these chances less certain than they look: runs that do not count.
std::string doubts_text(const Report& report);

// The promises with their formulas and sources.
std::string formulas_text(const Report& report);

// The greatest depth that something is said about; 0: none.
unsigned deepest_promise(const Report& report);

} // namespace pctctl
