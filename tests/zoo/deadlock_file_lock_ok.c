// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=4 timers=no
//
// The fixed twin of deadlock_file_lock_bug.c.
#define FIXED 1
#include "deadlock_file_lock_bug.c"
