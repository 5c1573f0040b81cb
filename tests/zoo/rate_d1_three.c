// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=rate depth=1 threads=3 outcome=exit points=pthread
// rate: d=1 p=1/3
//
// Main M creates A, which initialises, and then B, which uses.
// Constraint: use by B -> initialisation by A.
//
// By hand, d = 1:
//   A > M: A runs to its end as soon as it is created: passes (3 of 6 orders).
//   M > A > B: M blocks in pthread_join, A runs before B: passes (1 order).
//   M > B > A: the same with B first: fails. B > M > A: B runs as soon as it is created, before A
//   has run at all: fails. (2 orders, exactly those where A is the lowest.)
// p = 2/6 = 1/3 = 1/n, whatever k is.
#include "zoo.h"

static pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile int initialised;
static int early;

static void* initialise(void* unused) {
    (void)unused;
    zoo_steps(&own[0], 2);
    initialised = 1;
    return NULL;
}

static void* use(void* unused) {
    (void)unused;
    zoo_steps(&own[1], 2);
    early = !initialised;
    return NULL;
}

int main(void) {
    pthread_t a = zoo_start(initialise, NULL);
    pthread_t b = zoo_start(use, NULL);
    zoo_join(a);
    zoo_join(b);
    return early;
}
