// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=lost-wakeup-check depth=2 threads=2 outcome=deadlock points=pthread
//
// The waiter has a predicate but drops the lock between checking it and waiting.
//
// Constraints: check by the waiter -> `done` set by main, signal by main -> wait by the waiter.
// Depth 2: a waiter above main waits before main signals, a waiter below main finds `done` set;
// it has to start above main and be demoted between the check and the wait.
// n = 2: main, waiter.
// Shows as: deadlock, the waiter in pthread_cond_wait and main in pthread_join.
#include "zoo.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done;

static void* wait_until_done(void* unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!done)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
#else
    int must_wait = !done;
    pthread_mutex_unlock(&lock);
    if (must_wait) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
#endif
    return NULL;
}

int main(void) {
    pthread_t waiter = zoo_start(wait_until_done, NULL);
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    zoo_join(waiter);
    return 0;
}
