// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=2 timers=yes
//
// A server polls for input without a time limit while its client still sleeps: for a while every
// thread is blocked, but this is no deadlock.
#include "zoo.h"
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

int main(void) {
    int ends[2];
    zoo_need(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    pid_t client = zoo_fork();
    if (client == 0) {
        struct timespec nap = {0, 30000000L};
        nanosleep(&nap, NULL);
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    struct pollfd input = {.fd = ends[0], .events = POLLIN};
    char text;
    zoo_need(poll(&input, 1, -1) == 1, "poll");
    zoo_need(read(ends[0], &text, 1) == 1, "read");
    return zoo_wait(client);
}
