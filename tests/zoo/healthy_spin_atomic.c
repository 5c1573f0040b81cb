// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// Two workers take turns by spinning on an atomic variable (two turns each): whoever is not on
// turn burns its processor without any sync point.
#include "zoo.h"
#include <stdatomic.h>

enum { TURNS = 2 };

static atomic_int turn;
static int total;

static void* play(void* argument) {
    int me = *(const int*)argument;
    for (int i = 0; i < TURNS; i++) {
        while (atomic_load_explicit(&turn, memory_order_acquire) % 2 != me)
            ;
        total++;
        atomic_fetch_add_explicit(&turn, 1, memory_order_release);
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
