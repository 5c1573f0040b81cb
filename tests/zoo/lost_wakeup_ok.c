// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=2 timers=no
//
// The fixed twin of lost_wakeup_bug.c.
#define FIXED 1
#include "lost_wakeup_bug.c"
