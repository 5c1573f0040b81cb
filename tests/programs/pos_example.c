// SPDX-License-Identifier: GPL-2.0-only
// The running example of POS (Yuan, Yang, Gu, CAV 2018, Fig. 2): main is its thread A, with a
// thread B. Exit status 1: the steps were executed in the order B1 A1 B2 B3 A2 A3 B4 B5 B6 A4. Each
// event is one step: an access is a signal to a condition variable that nobody waits for, the lock
// w is a semaphore.
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static pthread_cond_t x = PTHREAD_COND_INITIALIZER;
static pthread_cond_t y = PTHREAD_COND_INITIALIZER;
static pthread_cond_t z = PTHREAD_COND_INITIALIZER;
static sem_t w;
static char order[16];
static int steps;

static void note(char thread) {
    order[steps++] = thread;
}

static void access_to(pthread_cond_t* object, char thread) {
    pthread_cond_signal(object);
    note(thread);
}

static void* thread_b(void* unused) {
    access_to(&x, 'B');
    access_to(&x, 'B');
    access_to(&y, 'B');
    sem_wait(&w);
    note('B');
    access_to(&y, 'B');
    access_to(&z, 'B');
    return unused;
}

int main(void) {
    pthread_t b;
    sem_init(&w, 0, 0);
    if (pthread_create(&b, NULL, thread_b, NULL) != 0)
        return 70;
    access_to(&x, 'A');
    access_to(&y, 'A');
    sem_post(&w);
    note('A');
    access_to(&z, 'A');
    pthread_join(b, NULL);
    return strcmp(order, "BABBAABBBA") == 0;
}
