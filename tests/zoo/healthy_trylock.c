// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// Two workers get a mutex by pthread_mutex_trylock in a loop; the holder passes sync points.
#include "zoo.h"

static pthread_mutex_t tried = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void* work(void* unused) {
    (void)unused;
    while (pthread_mutex_trylock(&tried) != 0)
        ;
    int seen = total;
    pthread_mutex_lock(&inner);
    pthread_mutex_unlock(&inner);
    total = seen + 1;
    pthread_mutex_unlock(&tried);
    return NULL;
}

int main(void) {
    pthread_t a = zoo_start(work, NULL);
    pthread_t b = zoo_start(work, NULL);
    zoo_join(a);
    zoo_join(b);
    return total == 2 ? 0 : zoo_bug("an update was lost");
}
