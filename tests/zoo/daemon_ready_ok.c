// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// The fixed twin of daemon_ready_bug.c.
#define FIXED 1
#include "daemon_ready_bug.c"
