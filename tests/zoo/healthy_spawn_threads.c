// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=7 timers=no
//
// Threads that start programs. A process that ends is the last to close its program's file, which
// takes a while where that is on a file server; the others' order must not depend on how long.
#include "zoo.h"
#include <spawn.h>

enum { THREADS = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static pid_t start(void) {
    char* const arguments[] = {"true", NULL};
    pid_t child;
    errno = posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ);
    zoo_need(errno == 0, "posix_spawn");
    return child;
}

static void* work(void* unused) {
    pid_t first = start();
    zoo_steps(&mutex, 3);
    pid_t second = start();
    zoo_steps(&mutex, 3);
    int status = zoo_wait(first) | zoo_wait(second);
    pthread_mutex_lock(&mutex);
    done += status == 0;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = zoo_start(work, NULL);
    zoo_steps(&mutex, 3);
    for (int i = 0; i < THREADS; i++)
        zoo_join(threads[i]);
    return done == THREADS ? 0 : zoo_bug("a program failed");
}
