// SPDX-License-Identifier: GPL-2.0-only
// What a campaign found, as JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "report/report.h"

namespace pctctl {

// One JSON object, "schema": 1, as documented in docs/results.md, with a newline at the end.
std::string summary_json(const Report& report);

// Writes text to `file`, by way of a temporary file where `file` is or becomes a regular one, so
// that nobody reads half of it.
Status write_report(const std::string& file, std::string_view text);

} // namespace pctctl
