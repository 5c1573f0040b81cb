// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// Main leaves by pthread_exit; two detached threads go on and the last one ends the process.
#include "zoo.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ended;

static void* work(void* unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    ended++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void check(void) {
    if (ended != 2)
        _exit(zoo_bug("the process ended before its threads"));
}

int main(void) {
    atexit(check);
    for (int i = 0; i < 2; i++)
        pthread_detach(zoo_start(work, NULL));
    pthread_exit(NULL);
}
