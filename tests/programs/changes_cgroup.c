// SPDX-License-Identifier: GPL-2.0-only
// Moves itself to the root cgroup, if it may, and leaves a child behind that has a session of its
// own and never ends. Then two threads take turns at a lock.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    int procs = open("/sys/fs/cgroup/cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (procs >= 0) {
        if (write(procs, "0", 1) < 0)
            return 1;
        close(procs);
    }
    if (fork() == 0) {
        setsid();
        for (;;)
            pause();
    }
    pthread_t a, b;
    if (pthread_create(&a, NULL, body, NULL) != 0 || pthread_create(&b, NULL, body, NULL) != 0)
        return 70;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
