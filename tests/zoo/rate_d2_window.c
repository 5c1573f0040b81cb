// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=rate depth=2 threads=2 outcome=exit points=pthread
// rate: d=1 p=0
// rate: d=2 p=5/1/k
//
// As rate_d2_tight, with ten steps between the flag and x instead of one.
// Constraints: flag (M) -> look (W), look (W) -> x (M).
//
// By hand, d = 2: fails exactly when M > W and the change point is one of the ten steps between
// flag and x. One order of two, ten steps of k: p = 10/(2k) = 5/k, ten times the bound 1/(n k).
#include "zoo.h"

static pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile int flag;
static volatile int x;
static int torn;

static void* look(void* unused) {
    (void)unused;
    zoo_steps(&own[1], 4);
    torn = flag && !x;
    zoo_steps(&own[1], 4);
    return NULL;
}

int main(void) {
    pthread_t worker = zoo_start(look, NULL);
    zoo_steps(&own[0], 2);
    flag = 1;
    zoo_steps(&own[0], 5);
    x = 1;
    zoo_steps(&own[0], 2);
    zoo_join(worker);
    return torn;
}
