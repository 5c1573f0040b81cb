// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=signal-before-pause depth=2 threads=2 outcome=deadlock points=syscall
//
// A process looks whether a signal has arrived, says that it is going to wait, and pauses. A
// signal that comes between the look and the pause is handled too early: nobody ends the pause.
//
// Constraints: look by the parent -> kill by the child, kill by the child -> the parent's write.
// Depth 2: a child that outranks the parent signals before the look; the parent has to be demoted
// between the look and the pause, that is at the write of its message. (A process stopped at the
// very entry of pause() does not lose the signal: the kernel sees it pending and returns.)
// n = 2 processes of one thread: parent (waits), child (signals).
// Shows as: deadlock, the parent in pause() and no other process left.
#include "zoo.h"
#include <signal.h>

static volatile sig_atomic_t woken;

static void wake_up(int signal_number) {
    (void)signal_number;
    woken = 1;
}

static void say(const char* text) {
    ssize_t length = (ssize_t)strlen(text);
    zoo_need(write(STDOUT_FILENO, text, (size_t)length) == length, "write");
}

int main(void) {
    struct sigaction action = {.sa_handler = wake_up};
    zoo_need(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
#ifdef FIXED
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    zoo_need(sigprocmask(SIG_BLOCK, &blocked, &before) == 0, "sigprocmask");
#endif
    pid_t parent = getpid();
    pid_t child = zoo_fork();
    if (child == 0) {
        zoo_need(kill(parent, SIGUSR1) == 0, "kill");
        _exit(0);
    }
    while (!woken) {
        say("waiting for the signal\n");
#ifdef FIXED
        sigsuspend(&before);
#else
        pause();
#endif
    }
    return zoo_wait(child);
}
