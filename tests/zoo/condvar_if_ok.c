// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=2 timers=no
//
// The fixed twin of condvar_if_bug.c.
#define FIXED 1
#include "condvar_if_bug.c"
