// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=4 timers=no
//
// The fixed twin of deadlock_cycle3_bug.c.
#define FIXED 1
#include "deadlock_cycle3_bug.c"
