// SPDX-License-Identifier: GPL-2.0-only
// From the system call in which a thread is blocked to what it waits for.
#pragma once

#include "base/proc_text.h"
#include "judge/run_view.h"
#include "judge/wait.h"

namespace pctctl {

// Of a thread in an interruptible sleep (state 'S').
Wait wait_in_call(const BlockedThread& thread, const SyscallText& call);

// Of a thread in an uninterruptible sleep (state 'D').
Wait uninterruptible_wait(const BlockedThread& thread, const SyscallText& call);

} // namespace pctctl
