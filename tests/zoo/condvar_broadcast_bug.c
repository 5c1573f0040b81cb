// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=condvar-if-broadcast depth=1 threads=3 outcome=exit points=pthread
//
// Two consumers wait with `if`; main puts one item and wakes both.
//
// Constraint: {wait of consumer A, wait of consumer B} -> first put by main. One constraint with
// two sources (Def. 5 of the paper), hence depth 1.
// It holds exactly when main has the lowest priority: p = 1/n = 1/3.
// n = 3: main and the consumers.
// Shows as: the second consumer to wake finds no item; message and exit status 1.
#include "zoo.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int items;
static int underflow;

static void* consume(void* unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (items == 0)
#else
    if (items == 0)
#endif
        pthread_cond_wait(&changed, &lock);
    if (items == 0)
        underflow = 1;
    items--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void put(void) {
    pthread_mutex_lock(&lock);
    items++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

int main(void) {
    pthread_t a = zoo_start(consume, NULL);
    pthread_t b = zoo_start(consume, NULL);
    put();
    put();
    zoo_join(a);
    zoo_join(b);
    return underflow ? zoo_bug("a consumer woke up to an empty queue") : 0;
}
