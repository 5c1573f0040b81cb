// SPDX-License-Identifier: GPL-2.0-only
// Input and output that the kernel may complete while all threads of a run are blocked.
#pragma once

#include <optional>
#include <string>

#include "judge/run_view.h"

namespace pctctl {

// Says which process may have requests under way; nothing when none has.
std::optional<std::string> asynchronous_io(const RunView& run);

} // namespace pctctl
