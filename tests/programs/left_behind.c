// SPDX-License-Identifier: GPL-2.0-only
// left_behind deadlock|signal|queue: main ends at once; the child that it leaves waits for itself,
// or for a signal. Or main leaves a message queue of System V, which it must not find there before.
#include <pthread.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <unistd.h>

int main(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "queue") == 0)
        return msgget(0x6c656674, IPC_CREAT | IPC_EXCL | 0600) < 0;
    const pid_t child = fork();
    if (child != 0)
        return child > 0 ? 0 : 70;
    if (argc > 1 && strcmp(argv[1], "deadlock") == 0) {
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
    }
    pause();
    return 0;
}
