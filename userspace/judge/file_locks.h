// SPDX-License-Identifier: GPL-2.0-only
// Waits for locks of files: flock(), fcntl().
#pragma once

#include "judge/run_view.h"
#include "judge/wait.h"

namespace pctctl {

// A lock that the thread's process asks for: flock(), F_SETLKW.
Wait process_lock_wait(const BlockedThread& thread);

// A lock that an open file asks for, F_OFD_SETLKW; fd: a descriptor of it.
Wait open_file_lock_wait(const BlockedThread& thread, int fd);

} // namespace pctctl
