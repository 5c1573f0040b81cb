// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// The fixed twin of futex_lock_bug.c.
#define FIXED 1
#include "futex_lock_bug.c"
