// SPDX-License-Identifier: GPL-2.0-only
// Asks the kernel for another scheduling policy, priority and CPU affinity in every way there is,
// before and inside of two threads that then take turns at a lock. Exit status 1: a counter is
// wrong.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct attributes { // as the kernel's struct sched_attr
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void ask(void) {
    struct sched_param real_time = {.sched_priority = 50};
    struct sched_param fair = {.sched_priority = 0};
    struct attributes attributes = {.size = sizeof(attributes), .policy = SCHED_RR, .priority = 9};
    sched_setscheduler(0, SCHED_FIFO, &real_time);
    syscall(SYS_sched_setattr, 0, &attributes, 0);
    pthread_setschedparam(pthread_self(), SCHED_RR, &real_time);
    sched_setparam(0, &real_time);
    sched_setscheduler(0, SCHED_OTHER, &fair);
    setpriority(PRIO_PROCESS, 0, -20);
}

static void* body(void* unused) {
    ask();
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    ask();
    pthread_attr_t attr;
    struct sched_param real_time = {.sched_priority = 10};
    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &real_time);
    pthread_t a, b;
    if (pthread_create(&a, &attr, body, NULL) != 0 || pthread_create(&b, NULL, body, NULL) != 0)
        return 70;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counter == 10 ? 0 : 1;
}
