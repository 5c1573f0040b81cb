// SPDX-License-Identifier: GPL-2.0-only
// What one thread waits for, from its state and its system call.
#pragma once

#include <optional>

#include "judge/run_view.h"
#include "judge/wait.h"

namespace pctctl {

// Nothing: the thread has ended.
std::optional<Wait> wait_of(const BlockedThread& thread);

} // namespace pctctl
