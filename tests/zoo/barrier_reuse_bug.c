// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=barrier-reuse depth=2 threads=2 outcome=deadlock points=pthread
//
// A hand-made barrier for two that cannot be used twice: the last to arrive resets the counter
// and wakes the other, but when it arrives at the next round before the other has looked at the
// counter, the other takes the new arrival for its own round and sleeps on.
//
// Constraints: wait of one thread (round 1) -> arrival of the other (round 1), arrival of the
// other (round 2) -> return of the first from its wait.
// Depth 2: the thread that waits in round 1 outranks the other and would leave the wait first;
// it has to be demoted in its call of pthread_cond_wait. Either thread can play either part.
// n = 2: main, worker.
// Shows as: deadlock, both waiting at the barrier.
#include "zoo.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int arrived;
#ifdef FIXED
static unsigned round_number;
#endif

static void barrier(void) {
    pthread_mutex_lock(&lock);
#ifdef FIXED
    unsigned mine = round_number;
#endif
    if (++arrived == 2) {
        arrived = 0;
#ifdef FIXED
        round_number++;
#endif
        pthread_cond_broadcast(&all_here);
    } else {
#ifdef FIXED
        while (mine == round_number)
#else
        while (arrived != 0)
#endif
            pthread_cond_wait(&all_here, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static void* work(void* unused) {
    (void)unused;
    barrier();
    barrier();
    return NULL;
}

int main(void) {
    pthread_t worker = zoo_start(work, NULL);
    work(NULL);
    zoo_join(worker);
    return 0;
}
