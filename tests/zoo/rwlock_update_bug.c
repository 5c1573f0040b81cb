// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=rwlock-lost-update depth=2 threads=3 outcome=exit points=pthread
//
// Two threads read a counter under the read lock and write the new value under the write lock;
// an update in between is lost.
//
// Constraints: read (A) -> write (B), read (B) -> write (A): both reads before either write.
// Depth 2: one thread has to be demoted between its read and its write.
// n = 3: main and the two threads.
// Shows as: the counter is 1 instead of 2; message and exit status 1.
#include "zoo.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int counter;

static void* count(void* unused) {
    (void)unused;
#ifdef FIXED
    pthread_rwlock_wrlock(&lock);
    counter++;
    pthread_rwlock_unlock(&lock);
#else
    pthread_rwlock_rdlock(&lock);
    int seen = counter;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    counter = seen + 1;
    pthread_rwlock_unlock(&lock);
#endif
    return NULL;
}

int main(void) {
    pthread_t a = zoo_start(count, NULL);
    pthread_t b = zoo_start(count, NULL);
    zoo_join(a);
    zoo_join(b);
    return counter == 2 ? 0 : zoo_bug("an update was lost");
}
