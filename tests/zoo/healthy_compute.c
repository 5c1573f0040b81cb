// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// Two workers compute for a while without a sync point and without waiting for anybody: from
// outside they cannot be told from threads that spin on a flag, but they end by themselves.
#include "zoo.h"

static volatile unsigned results[2];

static void* compute(void* argument) {
    int me = *(const int*)argument;
    unsigned value = 1;
    for (int i = 0; i < 10 * 1000 * 1000; i++)
        value = value * 1664525u + 1013904223u;
    results[me] = value;
    return NULL;
}

int main(void) {
    static const int names[2] = {0, 1};
    pthread_t a = zoo_start(compute, (void*)&names[0]);
    pthread_t b = zoo_start(compute, (void*)&names[1]);
    zoo_join(a);
    zoo_join(b);
    return results[0] == results[1] ? 0 : zoo_bug("different results");
}
