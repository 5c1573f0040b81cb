// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=daemon-not-ready depth=1 threads=3 outcome=exit points=syscall
//
// A service becomes a daemon by forking twice. The first child tells the starter "started" as
// soon as it has forked the daemon, but the daemon itself may not have run yet.
//
// Constraint: look by the starter -> initialisation by the daemon.
// Depth 1: it holds exactly when the daemon has the lowest priority, p = 1/n = 1/3. (Otherwise
// the daemon runs before the first child can tell, or before the starter looks.)
// n = 3 processes of one thread: starter, first child, daemon.
// Shows as: the starter finds no service; message and exit status 1 of the starter.
#include "zoo.h"

struct service {
    volatile int ready;
};

static void tell(int news) {
    zoo_need(write(news, "s", 1) == 1, "write");
}

static void run_daemon(struct service* service, int news) {
    service->ready = 1;
#ifdef FIXED
    tell(news);
#else
    (void)news;
#endif
}

static void become_daemon(struct service* service, int news) {
    zoo_need(setsid() > 0, "setsid");
    if (zoo_fork() == 0) {
        run_daemon(service, news);
        _exit(0);
    }
#ifndef FIXED
    tell(news);
#endif
}

int main(void) {
    int news[2];
    char text;
    struct service* service = zoo_shared(sizeof *service);
    zoo_need(pipe(news) == 0, "pipe");
    pid_t child = zoo_fork();
    if (child == 0) {
        become_daemon(service, news[1]);
        _exit(0);
    }
    zoo_need(read(news[0], &text, 1) == 1, "read");
    int ready = service->ready;
    zoo_need(zoo_wait(child) == 0, "first child");
    return ready ? 0 : zoo_bug("the daemon is not ready");
}
