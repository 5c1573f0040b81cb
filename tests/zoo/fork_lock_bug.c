// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=fork-with-lock-held depth=2 threads=3 outcome=deadlock points=pthread
//
// Main forks while a worker thread may hold the lock of the journal. The child has a copy of the
// locked mutex but no copy of the thread that would unlock it.
//
// Constraints: lock by the worker -> fork by main, fork by main -> unlock by the worker.
// Depth 2: the worker has to be demoted inside its critical section.
// n = 3: main and the worker of the parent process, the one thread of the child process.
// Shows as: deadlock, the child in pthread_mutex_lock and the parent in waitpid.
#include "zoo.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int entries;

static void add_entry(void) {
    pthread_mutex_lock(&lock);
    entries++;
    pthread_mutex_unlock(&lock);
}

static void* work(void* unused) {
    (void)unused;
    add_entry();
    return NULL;
}

#ifdef FIXED
static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&lock);
}
#endif

int main(void) {
#ifdef FIXED
    pthread_atfork(before_fork, after_fork, after_fork);
#endif
    pthread_t worker = zoo_start(work, NULL);
    pid_t child = zoo_fork();
    if (child == 0) {
        add_entry();
        _exit(0);
    }
    int status = zoo_wait(child);
    zoo_join(worker);
    return status;
}
