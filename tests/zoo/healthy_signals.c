// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// A thread takes signals by sigwait; a child process sends one, another thread the other.
#include "zoo.h"
#include <signal.h>

static sigset_t both;

static void* take_two(void* unused) {
    int sum = 0;
    (void)unused;
    for (int i = 0; i < 2; i++) {
        int number;
        zoo_need(sigwait(&both, &number) == 0, "sigwait");
        sum += number;
    }
    zoo_need(sum == SIGUSR1 + SIGUSR2, "signals");
    return NULL;
}

int main(void) {
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    zoo_need(pthread_sigmask(SIG_BLOCK, &both, NULL) == 0, "pthread_sigmask");
    pthread_t taker = zoo_start(take_two, NULL);
    pid_t parent = getpid();
    pid_t child = zoo_fork();
    if (child == 0)
        _exit(kill(parent, SIGUSR1) == 0 ? 0 : 1);
    zoo_need(pthread_kill(taker, SIGUSR2) == 0, "pthread_kill");
    zoo_join(taker);
    return zoo_wait(child);
}
