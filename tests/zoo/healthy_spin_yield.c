// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// Two workers take turns (three each); whoever is not on turn calls sched_yield in a loop.
#include "zoo.h"
#include <sched.h>
#include <stdatomic.h>

enum { TURNS = 3 };

static atomic_int turn;
static int total;

static void* play(void* argument) {
    int me = *(const int*)argument;
    for (int i = 0; i < TURNS; i++) {
        while (atomic_load(&turn) % 2 != me)
            sched_yield();
        total++;
        atomic_fetch_add(&turn, 1);
    }
    return NULL;
}

int main(void) {
    static const int names[2] = {0, 1};
    pthread_t a = zoo_start(play, (void*)&names[0]);
    pthread_t b = zoo_start(play, (void*)&names[1]);
    zoo_join(a);
    zoo_join(b);
    return total == 2 * TURNS ? 0 : zoo_bug("a turn was lost");
}
