// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=2 timers=no
//
// Main polls a flag under a lock, without yielding or sleeping, until the worker has set it.
#include "zoo.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void* work(void* unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t worker = zoo_start(work, NULL);
    int seen;
    do {
        pthread_mutex_lock(&lock);
        seen = done;
        pthread_mutex_unlock(&lock);
    } while (!seen);
    zoo_join(worker);
    return 0;
}
