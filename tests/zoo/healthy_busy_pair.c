// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=4 timers=no
//
// Two threads hand a turn to each other until a third one says that it is enough: neither of them
// spins, each blocks in every round, and there is always one of them enabled.
#include "zoo.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static int enough;

static void* take_turns(void* arg) {
    const int me = *(const int*)arg;
    pthread_mutex_lock(&mutex);
    while (!enough) {
        if (turn == me) {
            turn = !me;
            pthread_cond_broadcast(&changed);
        } else {
            pthread_cond_wait(&changed, &mutex);
        }
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void* end_it(void* unused) {
    pthread_mutex_lock(&mutex);
    enough = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    static const int names[] = {0, 1};
    pthread_t a = zoo_start(take_turns, (void*)&names[0]);
    pthread_t b = zoo_start(take_turns, (void*)&names[1]);
    pthread_t last = zoo_start(end_it, NULL);
    zoo_join(a);
    zoo_join(b);
    zoo_join(last);
    return 0;
}
