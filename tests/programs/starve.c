// SPDX-License-Identifier: GPL-2.0-only
// starve SECONDS THREADS: all threads compute for that long at the same time. Under strict
// priorities only the first one does. It counts what the others do, which are ready and must
// execute nothing.
//
// A thread counts in its own cell while it computes. All sleep once in between. So some are
// interrupted in the middle of counting, when a higher one wakes up, and others before they have
// begun. Exit status 1: a cell changed while the highest thread was computing.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 1000 };

static pthread_barrier_t barrier;
static struct {
    volatile unsigned long count;
    char pad[56]; // a cache line each
} cells[MOST];
static int threads;
static double seconds;
static atomic_int done;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static unsigned long others(long me) {
    unsigned long sum = 0;
    for (long i = 0; i < threads; i++)
        if (i != me)
            sum += cells[i].count;
    return sum;
}

static void compute(long me, double time) {
    double end = now() + time;
    while (!atomic_load(&done) && now() < end)
        for (int i = 0; i < 1000; i++)
            cells[me].count++;
}

static void* body(void* argument) {
    long me = (long)argument;
    pthread_barrier_wait(&barrier);
    // One after the other wakes up, whatever their priorities are.
    nanosleep(&(struct timespec){.tv_nsec = (300 + 4 * (me % 100)) * 1000 * 1000}, NULL);
    compute(me, 2); // by now all are awake, and the highest is the one that has got here
    if (atomic_load(&done))
        return NULL;
    unsigned long before = others(me);
    compute(me, seconds);
    if (atomic_exchange(&done, 1))
        return NULL;
    unsigned long moved = others(me) - before;
    int waiting = 0;
    for (long i = 0; i < threads; i++)
        waiting += i != me && cells[i].count == 0;
    printf("others moved %lu, not begun %d, interrupted %d\n", moved, waiting,
           threads - 1 - waiting);
    fflush(stdout);
    if (moved != 0)
        exit(1);
    return NULL;
}

int main(int argc, char** argv) {
    if (argc != 3)
        return 70;
    seconds = atof(argv[1]);
    threads = atoi(argv[2]);
    if (threads < 1 || threads > MOST)
        return 70;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    pthread_t ids[MOST];
    for (long i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, body, (void*)i) != 0)
            return 70;
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
