// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=2 timers=no
//
// Main cancels a thread that waits, or is about to wait, for a semaphore nobody posts.
#include "zoo.h"
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t never_posted;
static int cleaned;

static void clean(void* unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    cleaned = 1;
    pthread_mutex_unlock(&lock);
}

static void* wait_for_ever(void* unused) {
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    pthread_cleanup_push(clean, unused);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    for (;;)
        sem_wait(&never_posted);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    void* result;
    zoo_need(sem_init(&never_posted, 0, 0) == 0, "sem_init");
    pthread_t thread;
    errno = pthread_create(&thread, NULL, wait_for_ever, NULL);
    zoo_need(errno == 0, "pthread_create");
    zoo_need(pthread_cancel(thread) == 0, "pthread_cancel");
    zoo_need(pthread_join(thread, &result) == 0, "pthread_join");
    return result == PTHREAD_CANCELED ? 0 : zoo_bug("the thread was not cancelled");
}
