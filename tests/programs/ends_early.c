// SPDX-License-Identifier: GPL-2.0-only
// Main ends the process without waiting for its two threads. Exit status 1: both have made all of
// their steps by then.
#include <pthread.h>
#include <unistd.h>

enum { kSteps = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int left = 2;

static void* work(void* unused) {
    int last = 0;
    for (int i = 0; i < kSteps; i++) {
        pthread_mutex_lock(&lock);
        last = i + 1 == kSteps && --left == 0;
        pthread_mutex_unlock(&lock);
    }
    if (last)
        _exit(1);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 70;
    return 0;
}
