// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=2 timers=yes
//
// Waits that have to run into their time-out (nothing else is left to end them, which is not a
// deadlock), and waits with a generous time-out that have to be ended by the other thread.
#include "zoo.h"
#include <poll.h>
#include <semaphore.h>
#include <sys/select.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t never_posted;
static sem_t posted;
static int done;

static struct timespec in_milliseconds(long milliseconds) {
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_nsec += milliseconds % 1000 * 1000000L;
    when.tv_sec += milliseconds / 1000 + when.tv_nsec / 1000000000L;
    when.tv_nsec %= 1000000000L;
    return when;
}

static void time_outs(void) {
    struct timespec soon = in_milliseconds(4);
    int result = 0;
    pthread_mutex_lock(&lock);
    while (result == 0)
        result = pthread_cond_timedwait(&changed, &lock, &soon);
    pthread_mutex_unlock(&lock);
    zoo_need(result == ETIMEDOUT, "pthread_cond_timedwait");

    soon = in_milliseconds(4);
    zoo_need(sem_timedwait(&never_posted, &soon) < 0 && errno == ETIMEDOUT, "sem_timedwait");
    soon = in_milliseconds(4);
    zoo_need(pthread_mutex_timedlock(&held, &soon) == ETIMEDOUT, "pthread_mutex_timedlock");

    int ends[2];
    zoo_need(pipe(ends) == 0, "pipe");
    struct pollfd poll_end = {.fd = ends[0], .events = POLLIN};
    zoo_need(poll(&poll_end, 1, 4) == 0, "poll");
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(ends[0], &readable);
    struct timeval wait = {0, 4000};
    zoo_need(select(ends[0] + 1, &readable, NULL, NULL, &wait) == 0, "select");
}

static void* work(void* unused) {
    (void)unused;
    time_outs();
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    sem_post(&posted);
    return NULL;
}

int main(void) {
    sem_init(&never_posted, 0, 0);
    sem_init(&posted, 0, 0);
    pthread_mutex_lock(&held);
    pthread_t worker = zoo_start(work, NULL);

    struct timespec late = in_milliseconds(600000);
    int result = 0;
    pthread_mutex_lock(&lock);
    while (!done && result == 0)
        result = pthread_cond_timedwait(&changed, &lock, &late);
    pthread_mutex_unlock(&lock);
    zoo_need(result == 0, "pthread_cond_timedwait");
    zoo_need(sem_timedwait(&posted, &late) == 0, "sem_timedwait");
    zoo_join(worker);
    return 0;
}
