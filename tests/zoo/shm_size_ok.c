// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=2 timers=no
//
// The fixed twin of shm_size_bug.c.
#define FIXED 1
#include "shm_size_bug.c"
