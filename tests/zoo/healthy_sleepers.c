// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=4 timers=yes
//
// Three workers do little more than sleep; now and then all threads are asleep or waiting.
#include "zoo.h"
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void* doze(void* argument) {
    int milliseconds = *(const int*)argument;
    for (int i = 0; i < 3; i++) {
        struct timespec nap = {0, milliseconds * 1000000L};
        nanosleep(&nap, NULL);
        pthread_mutex_lock(&lock);
        total++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    static const int naps[3] = {1, 3, 5};
    pthread_t sleepers[3];
    for (int i = 0; i < 3; i++)
        sleepers[i] = zoo_start(doze, (void*)&naps[i]);
    for (int i = 0; i < 3; i++)
        zoo_join(sleepers[i]);
    return total == 9 ? 0 : zoo_bug("a sleeper did not wake up");
}
