// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=4 timers=no
//
// Three workers use every kind of pthread object in turn: once, rwlock, semaphore, barrier,
// condition variable, recursive mutex.
#include "zoo.h"
#include <semaphore.h>

enum { WORKERS = 3 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_mutex_t recursive;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t tokens;
static int initialised;
static int written;
static int waiting;
static int serial_threads;

static void initialise(void) {
    initialised++;
}

static void* work(void* unused) {
    (void)unused;
    pthread_once(&once, initialise);

    pthread_rwlock_wrlock(&rwlock);
    written++;
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_rdlock(&rwlock);
    zoo_need(written > 0, "rwlock");
    pthread_rwlock_unlock(&rwlock);

    sem_wait(&tokens);
    sem_post(&tokens);

    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_mutex_lock(&recursive);
        pthread_mutex_lock(&recursive);
        serial_threads++;
        pthread_mutex_unlock(&recursive);
        pthread_mutex_unlock(&recursive);
    }

    pthread_mutex_lock(&lock);
    if (++waiting == WORKERS)
        pthread_cond_broadcast(&changed);
    while (waiting < WORKERS)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t workers[WORKERS];
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &kind);
    pthread_barrier_init(&barrier, NULL, WORKERS);
    sem_init(&tokens, 0, 2);
    for (int i = 0; i < WORKERS; i++)
        workers[i] = zoo_start(work, NULL);
    for (int i = 0; i < WORKERS; i++)
        zoo_join(workers[i]);
    return initialised == 1 && written == WORKERS && serial_threads == 1
               ? 0
               : zoo_bug("a pthread object did not do its work");
}
