// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=4 timers=no
//
// Four threads that all the time tell the kernel to run themselves and each other on another CPU,
// or more nicely, between their uses of a lock. A thread is in no queue while the kernel moves it;
// the lower ones must not slip past it.
#include "zoo.h"
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>

enum { ROUNDS = 6 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t ids[4];
static int counter;

static void ask_for_cpu(pid_t thread, int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(thread, sizeof set, &set); // fails with one CPU, or for a thread that is gone
}

static void use_lock(void) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
}

static void* body(void* argument) {
    const int self = (int)(intptr_t)argument;
    pthread_mutex_lock(&mutex);
    ids[self] = gettid();
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < ROUNDS; i++) {
        ask_for_cpu(0, (i + self) & 1);
        use_lock();
        pthread_mutex_lock(&mutex);
        const pid_t other = ids[(self + i) & 3];
        pthread_mutex_unlock(&mutex);
        if (other)
            ask_for_cpu(other, i & 1);
        use_lock();
        setpriority(PRIO_PROCESS, 0, i);
        use_lock();
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    for (intptr_t i = 1; i < 4; i++)
        threads[i] = zoo_start(body, (void*)i);
    body(NULL);
    for (int i = 1; i < 4; i++)
        zoo_join(threads[i]);
    return counter == 4 * 3 * ROUNDS ? 0 : zoo_bug("the lock let two in");
}
