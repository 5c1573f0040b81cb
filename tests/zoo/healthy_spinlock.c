// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=4 timers=no
//
// Three workers contend for a pthread spinlock; there is a sync point inside the critical
// section, so its holder can be preempted while the others spin.
#include "zoo.h"

enum { WORKERS = 3, ROUNDS = 2 };

static pthread_spinlock_t spin;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void* work(void* unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_spin_lock(&spin);
        int seen = total;
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
        total = seen + 1;
        pthread_spin_unlock(&spin);
    }
    return NULL;
}

int main(void) {
    pthread_t workers[WORKERS];
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < WORKERS; i++)
        workers[i] = zoo_start(work, NULL);
    for (int i = 0; i < WORKERS; i++)
        zoo_join(workers[i]);
    return total == WORKERS * ROUNDS ? 0 : zoo_bug("an update was lost");
}
