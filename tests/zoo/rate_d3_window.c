// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=rate depth=3 threads=2 outcome=exit points=pthread
// rate: d=1 p=0
// rate: d=2 p=0
// rate: d=3 p=32/1/k^2
//
// Main M sets a value to 1 and, eight steps later, to 2. The worker W reads it twice, eight steps
// apart. Fails when the first look gives 1 and the second 2.
// Constraints: 1 set (M) -> first look (W), first look (W) -> 2 set (M), 2 set (M) -> second look
// (W).
//
// By hand, d = 3, change points k_1 (new priority 1) and k_2 (new priority 2), independent and
// uniform in 1..k:
//   M > W: M has to be demoted between its two settings (8 steps), else W looks at 0 or at 2
//   first. Then W looks, and has to fall below M between its looks (8 steps), so M's change point
//   is the one with priority 2 and W's the one with priority 1: k_2 in M's window, k_1 in W's.
//   W > M: the first look comes at once and gives 0, unless W is demoted before it. Then M runs
//   with the higher priority and W has to look between the two settings: that takes M's
//   demotion, and W's second look then comes before the 2, for want of a third change point.
// One order of two, 8 * 8 pairs of k * k: p = 64/(2 k^2) = 32/k^2, 64 times the bound 1/(n k^2).
#include "zoo.h"

static pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile int value;
static int stale;

static void* look_twice(void* unused) {
    (void)unused;
    zoo_steps(&own[1], 1);
    int first = value;
    zoo_steps(&own[1], 4);
    stale = first == 1 && value == 2;
    return NULL;
}

int main(void) {
    pthread_t worker = zoo_start(look_twice, NULL);
    value = 1;
    zoo_steps(&own[0], 4);
    value = 2;
    zoo_join(worker);
    return stale;
}
