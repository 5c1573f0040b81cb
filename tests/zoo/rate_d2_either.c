// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=rate depth=2 threads=2 outcome=exit points=pthread
// rate: d=1 p=0
// rate: d=2 p=1/1/k
//
// Main M and worker W each read a counter, pass one step, and write it back increased by one.
// Fails when an update is lost. Constraints: read (M) -> write (W), read (W) -> write (M).
//
// By hand, d = 2: without a change point in the one step between read and write, the thread that
// reads first also writes before the other reads. With it there, in the thread that is first,
// the other one reads and writes in between: fails. The thread that is second has the other's
// write behind it. M > W: one step of M. W > M: one step of W.
// One step of k in either order: p = 1/k, twice the bound 1/(n k).
#include "zoo.h"

static pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile int counter;

static void count(pthread_mutex_t* mutex) {
    pthread_mutex_lock(mutex);
    int seen = counter;
    pthread_mutex_unlock(mutex); // the step in between
    counter = seen + 1;
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
}

static void* body(void* unused) {
    (void)unused;
    count(&own[1]);
    return NULL;
}

int main(void) {
    pthread_t worker = zoo_start(body, NULL);
    count(&own[0]);
    zoo_join(worker);
    return counter != 2;
}
