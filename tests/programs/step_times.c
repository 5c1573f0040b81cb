// SPDX-License-Identifier: GPL-2.0-only
// step_times STEPS FILE: four threads make steps at the same time. Each posts a semaphore of its
// own, which never waits. FILE gets a line for each thread, in the order of their creation, with
// the microseconds from one step to the next, and a last line with the microseconds of all threads
// together.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4, MOST = 1000 };

struct row {
    sem_t semaphore;
    long us[MOST];
} __attribute__((aligned(4096)));

static struct row rows[THREADS];
static int steps;

static long now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void* measure(void* argument) {
    struct row* row = argument;
    long before = now_us();
    for (int i = 0; i < steps; i++) {
        sem_post(&row->semaphore);
        const long after = now_us();
        row->us[i] = after - before;
        before = after;
    }
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t threads[THREADS];
    if (argc != 3 || (steps = atoi(argv[1])) < 1 || steps > MOST)
        return 70;
    const long start = now_us();
    for (int t = 0; t < THREADS; t++)
        if (sem_init(&rows[t].semaphore, 0, 0) ||
            pthread_create(&threads[t], NULL, measure, &rows[t]))
            return 70;
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    const long all = now_us() - start;
    FILE* file = fopen(argv[2], "a");
    if (!file)
        return 70;
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < steps; i++)
            fprintf(file, "%ld%c", rows[t].us[i], i + 1 < steps ? ' ' : '\n');
    fprintf(file, "%ld\n", all);
    return fclose(file) ? 70 : 0;
}
