// SPDX-License-Identifier: GPL-2.0-only
// left_behind deadlock|semaphore|signal|queue: the main process ends at once, and leaves something
// behind.
// deadlock: a child whose two threads wait for each other, one for a lock, one in a join.
// semaphore, signal: a child that waits to be asked for something.
// queue: a message queue of System V. Exit status 1: there was one before.
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* lock(void* unused) {
    pthread_mutex_lock(&mutex);
    return unused;
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "queue") == 0)
        return msgget(0x6c656674, IPC_CREAT | IPC_EXCL | 0600) < 0;
    const pid_t child = fork();
    if (child != 0)
        return child > 0 ? 0 : 70;
    if (strcmp(what, "deadlock") == 0) {
        pthread_t thread;
        pthread_mutex_lock(&mutex);
        if (pthread_create(&thread, NULL, lock, NULL) != 0)
            return 70;
        pthread_join(thread, NULL);
    } else if (strcmp(what, "semaphore") == 0) {
        sem_t posted_on_demand;
        sem_init(&posted_on_demand, 0, 0);
        sem_wait(&posted_on_demand);
    }
    pause();
    return 0;
}
