// SPDX-License-Identifier: GPL-2.0-only
// counted WHAT: makes a known number of steps with one thread. The number is beside each case.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t outer = PTHREAD_ONCE_INIT;
static pthread_once_t inner = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static sem_t awaited;
static sem_t other;
static int signals;
static const struct itimerval once = {{0, 0}, {0, 100000}};

static void lock_and_unlock(void) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void once_more(void) {
    pthread_once(&inner, lock_and_unlock);
}

// The first signal leaves the waiting call to be taken up again.
static void post(int number) {
    (void)number;
    if (++signals == 1)
        setitimer(ITIMER_REAL, &once, NULL);
    sem_post(signals == 2 ? &awaited : &other);
}

static void wait_for_signals(void) {
    struct sigaction action = {.sa_handler = post, .sa_flags = SA_RESTART};
    sem_init(&awaited, 0, 0);
    sem_init(&other, 0, 0);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &once, NULL);
    while (sem_wait(&awaited) != 0) {
    }
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "nothing";
    if (strcmp(what, "once") == 0) // 3: once, lock, unlock
        pthread_once(&outer, lock_and_unlock);
    else if (strcmp(what, "once-once") == 0) // 4: once, once, lock, unlock
        pthread_once(&outer, once_more);
    else if (strcmp(what, "call-once") == 0) // 3
        call_once(&flag, lock_and_unlock);
    else if (strcmp(what, "handler") == 0) // 3: wait, and a post in each of two handlers
        wait_for_signals();
    else if (strcmp(what, "futex2") == 0) // 2, both futex_wake
        for (int i = 0; i < 2; i++)
            syscall(454, &signals, ~0UL, 1, 2);
    return 0;
}
