// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// A double fork with setsid: the first child ends at once, the daemon goes on in a session of its
// own, as an orphan, and is told to end by the starter through a pipe.
#include "zoo.h"

static void run_daemon(int orders, int replies) {
    char order;
    zoo_need(write(replies, "r", 1) == 1, "write");
    zoo_need(read(orders, &order, 1) == 1, "read");
    zoo_need(write(replies, &order, 1) == 1, "write");
}

int main(void) {
    int orders[2];
    int replies[2];
    char reply;
    zoo_need(pipe(orders) == 0 && pipe(replies) == 0, "pipe");
    pid_t child = zoo_fork();
    if (child == 0) {
        zoo_need(setsid() > 0, "setsid");
        if (zoo_fork() == 0)
            run_daemon(orders[0], replies[1]);
        _exit(0);
    }
    close(replies[1]);
    int status = zoo_wait(child);
    zoo_need(read(replies[0], &reply, 1) == 1 && reply == 'r', "read");
    zoo_need(write(orders[1], "q", 1) == 1, "write");
    zoo_need(read(replies[0], &reply, 1) == 1 && reply == 'q', "read");
    zoo_need(read(replies[0], &reply, 1) == 0, "read"); // end of file: the daemon is gone
    return status;
}
