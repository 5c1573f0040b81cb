// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=rate depth=1 threads=2 outcome=exit points=pthread
// rate: d=1 p=1/2
//
// Constraint: look of the worker -> setting by main.
//
// By hand, d = 1 (no change point), priorities of main M and worker W in any order:
//   W > M: W runs as soon as it is created and looks before the setting: fails.
//   M > W: M runs up to pthread_join, which comes after the setting: passes.
// 1 of 2 orders fails: p = 1/2 = 1/n, whatever k is. No printing, so that k is the same in every
// run.
#include "zoo.h"

static pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile int is_set;
static int early;

static void* look(void* unused) {
    (void)unused;
    zoo_steps(&own[1], 2);
    early = !is_set;
    zoo_steps(&own[1], 2);
    return NULL;
}

int main(void) {
    pthread_t worker = zoo_start(look, NULL);
    zoo_steps(&own[0], 2);
    is_set = 1;
    zoo_steps(&own[0], 2);
    zoo_join(worker);
    return early;
}
