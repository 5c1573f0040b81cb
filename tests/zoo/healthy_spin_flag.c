// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=2 timers=no
//
// Main spins on a plain volatile flag, without a single sync point in the loop, until the worker
// has set it. Under strict priorities it only ends when main's spinning is noticed.
#include "zoo.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int ready;

static void* work(void* unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    ready = 1;
    return NULL;
}

int main(void) {
    pthread_t worker = zoo_start(work, NULL);
    while (!ready)
        ;
    zoo_join(worker);
    return 0;
}
