// SPDX-License-Identifier: GPL-2.0-only
// kills_parent SIGNAL: sends the signal to its parent three times (to the next one, should the
// parent die), then goes on.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void* body(void* unused) {
    return unused;
}

int main(int argc, char** argv) {
    int sig = argc > 1 ? atoi(argv[1]) : SIGKILL;
    for (int i = 0; i < 3; i++)
        if (getppid() > 0)
            kill(getppid(), sig);
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL) != 0)
        return 70;
    pthread_join(thread, NULL);
    return 0;
}
