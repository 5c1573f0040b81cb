// SPDX-License-Identifier: GPL-2.0-only
// Waits for child processes: wait4(), waitid().
#pragma once

#include "judge/run_view.h"
#include "judge/wait.h"

namespace pctctl {

Wait children_wait(const BlockedThread& thread);

} // namespace pctctl
