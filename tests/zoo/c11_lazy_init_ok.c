// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// The fixed twin of c11_lazy_init_bug.c.
#define FIXED 1
#include "c11_lazy_init_bug.c"
