// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=2 timers=no
//
// The fixed twin of use_after_free_bug.c.
#define FIXED 1
#include "use_after_free_bug.c"
