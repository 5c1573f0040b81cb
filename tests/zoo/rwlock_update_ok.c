// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// The fixed twin of rwlock_update_bug.c.
#define FIXED 1
#include "rwlock_update_bug.c"
