// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=rate depth=2 threads=2 outcome=exit points=pthread
// rate: d=1 p=0
// rate: d=2 p=1/2/k
//
// The tight example of depth 2: main M raises a flag one step before it sets x, the worker W
// follows the flag. Fails when W sees the flag up and x not set.
// Constraints: flag (M) -> look (W), look (W) -> x (M).
//
// By hand, d = 2, change point at step s of the run:
//   W > M: W runs at its creation and sees the flag down. If s hits W before its look, W falls
//   below M, and M sets both flag and x first. If s hits M before the creation: as without it.
//   M > W: M raises the flag and sets x before it blocks, unless s is the one step between them
//   (the lock marked "here"): then W looks with the flag up and x not set: fails. A step of M
//   after its creation of W but before the flag lets W look too early, a later one too late.
// One order of two, one step of k: p = 1/(2k) = 1/(n k), the bound itself.
#include "zoo.h"

static pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile int flag;
static volatile int x;
static int torn;

static void* look(void* unused) {
    (void)unused;
    zoo_steps(&own[1], 1);
    torn = flag && !x;
    zoo_steps(&own[1], 1);
    return NULL;
}

int main(void) {
    pthread_t worker = zoo_start(look, NULL);
    zoo_steps(&own[0], 1);
    flag = 1;
    pthread_mutex_lock(&own[0]); // here
    x = 1;
    pthread_mutex_unlock(&own[0]);
    zoo_join(worker);
    return torn;
}
