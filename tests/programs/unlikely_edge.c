// SPDX-License-Identifier: GPL-2.0-only
// The stride paper's least likely order: the main thread makes 41 steps, the first of which creates
// the other thread, before that thread makes its only one. Exit status 1: that is what happened.
#include <pthread.h>

enum { kSteps = 40 };

static pthread_cond_t own[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static volatile int made;
static int last;

static void* single_step(void* unused) {
    pthread_cond_signal(&own[1]);
    last = made == kSteps;
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, single_step, NULL) != 0)
        return 70;
    while (made < kSteps) {
        pthread_cond_signal(&own[0]);
        made++;
    }
    pthread_join(thread, NULL);
    return last;
}
