// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=order-violation-event depth=1 threads=2 outcome=signal points=pthread
//
// Main announces "the table is ready" (sem_post) one step before it sets the pointer to it.
// The worker waits for the announcement and follows the pointer (Fig. 3 of the PCT paper).
//
// Constraint: use of `table` by the worker -> assignment by main.
// Depth 1 although main has to be preempted: a worker that outranks main waits first, and the
// post that wakes it hands the processor over before main's next step (p = 1/2).
// n = 2: main, worker.
// Shows as: SIGSEGV in the worker (null pointer).
#include "zoo.h"
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const int squares[4] = {0, 1, 4, 9};
static const int* volatile table;
static sem_t ready;
static volatile int result;

static void set_table(void) {
    pthread_mutex_lock(&lock);
    table = squares;
    pthread_mutex_unlock(&lock);
}

static void* look_up(void* unused) {
    (void)unused;
    sem_wait(&ready);
    result = table[3];
    return NULL;
}

int main(void) {
    zoo_need(sem_init(&ready, 0, 0) == 0, "sem_init");
    pthread_t worker = zoo_start(look_up, NULL);
#ifdef FIXED
    set_table();
    sem_post(&ready);
#else
    sem_post(&ready);
    set_table();
#endif
    zoo_join(worker);
    return result == 9 ? 0 : zoo_bug("wrong result");
}
