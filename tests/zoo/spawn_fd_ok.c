// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// The fixed twin of spawn_fd_bug.c.
#define FIXED 1
#include "spawn_fd_bug.c"
