// SPDX-License-Identifier: GPL-2.0-only
// What a cgroup may be called.
#pragma once

#include <string_view>

#include "base/result.h"

namespace pctctl {

// Whether name can be a group's: path components separated by '/', none of them empty, "." or "..",
// without control characters, at most 200 bytes each, 1000 together. The error is of usage.
Status check_cgroup_name(std::string_view name);

} // namespace pctctl
