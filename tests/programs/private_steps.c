// SPDX-License-Identifier: GPL-2.0-only
// Two threads, each of which takes a mutex of its own OWN times (the argument) and a common one
// twice: once before and once behind. Exit status 1: the other thread's common section came
// between.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t common = PTHREAD_MUTEX_INITIALIZER;
static int own, last, between;

static void section(int id, int first) {
    pthread_mutex_lock(&common);
    if (!first && last != id)
        between = 1;
    last = id;
    pthread_mutex_unlock(&common);
}

static void* work(void* id) {
    static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
    pthread_mutex_t* mine = &mutexes[(long)id];
    int i;

    section((int)(long)id, 1);
    for (i = 0; i < own; i++) {
        pthread_mutex_lock(mine);
        pthread_mutex_unlock(mine);
    }
    section((int)(long)id, 0);
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t threads[2];
    long i;

    own = argc > 1 ? atoi(argv[1]) : 0;
    for (i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, (void*)i))
            return 2;
    for (i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return between;
}
