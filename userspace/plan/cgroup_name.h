// SPDX-License-Identifier: GPL-2.0-only
// What a cgroup may be called.
#pragma once

#include <string_view>

#include "base/result.h"

namespace pctctl {

// Can a group be called that? A name is path components separated by '/', without control
// characters, at most 200 bytes each and 1000 together. No component is empty, "." or "..". Error
// of usage.
Status check_cgroup_name(std::string_view name);

} // namespace pctctl
