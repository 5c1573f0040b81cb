// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=futex-lost-waiter depth=1 threads=3 outcome=deadlock points=syscall
//
// A lock written by hand on futex(2): 0 free, 1 held, 2 held and somebody may be waiting. A
// thread that had to wait takes the lock as 1, which forgets the other waiters, so its unlock
// wakes nobody. (It has to take it as 2.)
//
// Main holds the lock while it starts the workers, so that none begins early.
// Constraint: {wait of worker A, wait of worker B} -> unlock by main. One constraint with two
// sources, hence depth 1; it holds exactly when main has the lowest priority: p = 1/n = 1/3.
// n = 3: main and the workers.
// Shows as: deadlock, the second worker in futex(FUTEX_WAIT) and main in pthread_join.
#include "zoo.h"
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static atomic_int lock_word;
static int done;

static void futex_lock(void) {
    int seen = 0;
    if (atomic_compare_exchange_strong(&lock_word, &seen, 1))
        return;
    for (;;) {
        // Say that somebody waits, unless the lock has become free meanwhile.
        if (seen == 2 || (seen == 1 && atomic_compare_exchange_strong(&lock_word, &seen, 2)))
            syscall(SYS_futex, &lock_word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
        seen = 0;
#ifdef FIXED
        if (atomic_compare_exchange_strong(&lock_word, &seen, 2))
#else
        if (atomic_compare_exchange_strong(&lock_word, &seen, 1))
#endif
            return;
    }
}

static void futex_unlock(void) {
    if (atomic_exchange(&lock_word, 0) == 2)
        syscall(SYS_futex, &lock_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void* work(void* unused) {
    (void)unused;
    futex_lock();
    done++;
    futex_unlock();
    return NULL;
}

int main(void) {
    futex_lock();
    pthread_t a = zoo_start(work, NULL);
    pthread_t b = zoo_start(work, NULL);
    futex_unlock();
    zoo_join(a);
    zoo_join(b);
    return done == 2 ? 0 : zoo_bug("a worker got lost");
}
