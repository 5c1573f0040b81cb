// SPDX-License-Identifier: GPL-2.0-only
// Names of sets of scheduling points, as --points and the reports use them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pctctl {

// "pthread,syscall" -> PCT_POINTS_*. An unknown name, or none at all, is an error that lists the
// known ones.
Result<unsigned> parse_points(std::string_view text);
std::vector<std::string> point_names(unsigned points);
std::string points_text(unsigned points); // as parse_points reads it

} // namespace pctctl
