// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// The fixed twin of atomicity_account_bug.c.
#define FIXED 1
#include "atomicity_account_bug.c"
