// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=2 timers=no
//
// Two processes that share a mutex, a condition variable and two semaphores in shared memory.
#include "zoo.h"
#include <semaphore.h>

enum { ROUNDS = 3 };

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sem_t ping, pong;
    int total;
    int ended;
};

static void add(struct shared* shared) {
    pthread_mutex_lock(&shared->lock);
    shared->total++;
    pthread_mutex_unlock(&shared->lock);
}

static void child(struct shared* shared) {
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&shared->ping);
        add(shared);
        sem_post(&shared->pong);
    }
    pthread_mutex_lock(&shared->lock);
    shared->ended = 1;
    pthread_cond_signal(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
}

int main(void) {
    struct shared* shared = zoo_shared(sizeof *shared);
    pthread_mutexattr_t mutex_kind;
    pthread_condattr_t cond_kind;
    pthread_mutexattr_init(&mutex_kind);
    pthread_condattr_init(&cond_kind);
    pthread_mutexattr_setpshared(&mutex_kind, PTHREAD_PROCESS_SHARED);
    pthread_condattr_setpshared(&cond_kind, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &mutex_kind);
    pthread_cond_init(&shared->changed, &cond_kind);
    sem_init(&shared->ping, 1, 0);
    sem_init(&shared->pong, 1, 0);

    pid_t pid = zoo_fork();
    if (pid == 0) {
        child(shared);
        _exit(0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        sem_post(&shared->ping);
        add(shared);
        sem_wait(&shared->pong);
    }
    pthread_mutex_lock(&shared->lock);
    while (!shared->ended)
        pthread_cond_wait(&shared->changed, &shared->lock);
    pthread_mutex_unlock(&shared->lock);
    int status = zoo_wait(pid);
    return status == 0 && shared->total == 2 * ROUNDS ? 0 : zoo_bug("an update was lost");
}
