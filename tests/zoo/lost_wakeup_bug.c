// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=lost-wakeup depth=1 threads=2 outcome=deadlock points=pthread
//
// The waiter calls pthread_cond_wait without a predicate; a signal sent before it waits is lost.
//
// Constraint: signal by main -> wait by the waiter.
// Depth 1: main only has to outrank the waiter (p = 1/2).
// n = 2: main, waiter.
// Shows as: deadlock, the waiter in pthread_cond_wait and main in pthread_join.
#include "zoo.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER;
#ifdef FIXED
static int has_started;
#endif

static void* wait_for_start(void* unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!has_started)
#endif
        pthread_cond_wait(&started, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t waiter = zoo_start(wait_for_start, NULL);
    pthread_mutex_lock(&lock);
#ifdef FIXED
    has_started = 1;
#endif
    pthread_cond_signal(&started);
    pthread_mutex_unlock(&lock);
    zoo_join(waiter);
    return 0;
}
