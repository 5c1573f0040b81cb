// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=condvar-if depth=2 threads=2 outcome=exit points=pthread
//
// A consumer waits for an item with `if` instead of `while`. Main puts one item, then shuts the
// queue down and takes back what is left; a consumer that is slow to get the lock again after
// its wake-up does not look a second time and takes an item that is no longer there.
//
// Constraints: wait by the consumer -> put by main, take-back by main -> return from the wait.
// Depth 2: the consumer has to outrank main so as to wait in time, and to rank below it when it
// is woken; the demotion has to hit its call of pthread_cond_wait, the only step in between.
// n = 2: main, consumer. One step of one order: p = 1/(2k), the tightest possible.
// Shows as: a negative number of items; message and exit status 1.
#include "zoo.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int items;
static int closed;
static int lowest;

static void* consume(void* unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!closed && items == 0)
        pthread_cond_wait(&changed, &lock);
    if (items > 0)
        items--;
#else
    if (!closed || items > 0) {
        if (items == 0)
            pthread_cond_wait(&changed, &lock);
        items--;
    }
#endif
    if (items < lowest)
        lowest = items;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t consumer = zoo_start(consume, NULL);

    pthread_mutex_lock(&lock);
    items++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);

    pthread_mutex_lock(&lock);
    items = 0;
    closed = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);

    zoo_join(consumer);
    return lowest == 0 ? 0 : zoo_bug("the consumer took an item that was not there");
}
