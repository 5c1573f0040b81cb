// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=rate depth=1 threads=4 outcome=exit points=pthread
// rate: d=1 p=1/4
//
// Main M creates A, which initialises, then B and C, which use; M uses as well, before it joins.
// Constraint: {use by M, use by B, use by C} -> initialisation by A.
//
// By hand, d = 1: A runs after all uses exactly when A is the lowest.
//   A lowest: A does not run before M blocks in pthread_join(A), that is after M's use; B and C,
//   being higher, have then run or run next: fails.
//   M < A: A runs as soon as it is created, before M's use: passes.
//   M > A > B (or C): once M has blocked, A runs before B (or C): passes.
// A is the lowest in 6 of 24 orders: p = 1/4 = 1/n, whatever k is.
#include "zoo.h"

static pthread_mutex_t own[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                 PTHREAD_MUTEX_INITIALIZER};
static volatile int initialised;
static int early[3];

static void use_as(int me) {
    pthread_mutex_lock(&own[me]);
    early[me] = !initialised;
    pthread_mutex_unlock(&own[me]);
}

static void* initialise(void* unused) {
    (void)unused;
    initialised = 1;
    return NULL;
}

static void* use(void* me) {
    use_as(*(const int*)me);
    return NULL;
}

int main(void) {
    static const int names[3] = {0, 1, 2};
    pthread_t a = zoo_start(initialise, NULL);
    pthread_t b = zoo_start(use, (void*)&names[1]);
    pthread_t c = zoo_start(use, (void*)&names[2]);
    use_as(0);
    zoo_join(a);
    zoo_join(b);
    zoo_join(c);
    return early[0] && early[1] && early[2];
}
