// SPDX-License-Identifier: GPL-2.0-only
// Three threads that, again and again, each make a step on the same object and then sleep in a
// system call that is no step: what the step means for the others is left to whoever looks for the
// next thread. With the argument "apart" one of them executes on a CPU of its own, with "together"
// none.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { OTHERS = 2, ROUNDS = 50, BROKEN = 70 };

// Nobody waits for it: a step that never has to wait.
static pthread_cond_t object = PTHREAD_COND_INITIALIZER;
static int done[2], go[OTHERS][2], apart;

static void put(int pipe[2]) {
    if (write(pipe[1], "x", 1) != 1)
        _exit(BROKEN);
}

static void get(int pipe[2]) {
    char byte;
    if (read(pipe[0], &byte, 1) != 1)
        _exit(BROKEN);
}

static void leave_cpu_0(void) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(1, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0)
        _exit(BROKEN);
}

static void* other(void* pipe) {
    if (apart && pipe == go[0])
        leave_cpu_0();
    for (int round = 0; round < ROUNDS; round++) {
        pthread_cond_signal(&object);
        put(done);
        get(pipe);
    }
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t threads[OTHERS];
    apart = argc > 1 && strcmp(argv[1], "apart") == 0;
    if (pipe(done) != 0)
        return BROKEN;
    for (int i = 0; i < OTHERS; i++)
        if (pipe(go[i]) != 0 || pthread_create(&threads[i], NULL, other, go[i]) != 0)
            return BROKEN;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_cond_signal(&object);
        for (int i = 0; i < OTHERS; i++)
            get(done);
        for (int i = 0; i < OTHERS; i++)
            put(go[i]);
    }
    for (int i = 0; i < OTHERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
