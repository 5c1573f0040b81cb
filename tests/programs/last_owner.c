// SPDX-License-Identifier: GPL-2.0-only
// The main thread sleeps on CPU 0. Another thread, named last-owner, sleeps on CPU 1 and ends
// before the main thread wakes. So it is the last one that has executed then.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static void bind(int cpu) {
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void* other(void* unused) {
    (void)unused;
    bind(1);
    pthread_setname_np(pthread_self(), "last-owner");
    sleep(2);
    return NULL;
}

int main(void) {
    pthread_t thread;

    bind(0);
    pthread_create(&thread, NULL, other, NULL);
    pthread_detach(thread);
    sleep(5);
    return 0;
}
