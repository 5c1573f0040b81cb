// SPDX-License-Identifier: GPL-2.0-only
// What a campaign found, as JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "report/report.h"

namespace pctctl {

// One JSON object with a newline at the end. docs/results.md documents its fields ("schema": 1).
std::string summary_json(const Report& report);

// Writes text to `file`. A regular file is written under a temporary name and renamed, so that
// nobody reads half of it.
Status write_report(const std::string& file, std::string_view text);

} // namespace pctctl
