// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=1001 timers=no
//
// 1,000 threads that are all alive at the same time: each waits at a barrier for main.
#include "zoo.h"

enum { THREADS = 1000 };

static pthread_barrier_t everybody;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void* work(void* unused) {
    (void)unused;
    pthread_barrier_wait(&everybody);
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    static pthread_t threads[THREADS];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    pthread_barrier_init(&everybody, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        errno = pthread_create(&threads[i], &small, work, NULL);
        zoo_need(errno == 0, "pthread_create");
    }
    pthread_barrier_wait(&everybody);
    for (int i = 0; i < THREADS; i++)
        zoo_join(threads[i]);
    return total == THREADS ? 0 : zoo_bug("a thread did not count");
}
