// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=rate depth=2 threads=2 outcome=exit points=syscall
// rate: d=1 p=0
// rate: d=2 p=3/1/k
//
// As rate_d2_window, with two processes and six writes between the flag and x.
// Constraints: flag (parent P) -> look (child C), look (C) -> x (P).
//
// By hand, d = 2: fails exactly when P > C and the change point is one of the six writes.
// One order of two, six steps of k: p = 6/(2k) = 3/k.
#include "zoo.h"

struct shared {
    volatile int flag;
    volatile int x;
    volatile int torn;
};

static void steps(int fd, int count) {
    while (count-- > 0)
        zoo_need(write(fd, "x", 1) == 1, "write");
}

int main(void) {
    struct shared* shared = zoo_shared(sizeof *shared);
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    zoo_need(fd >= 0, "open");
    pid_t child = zoo_fork();
    if (child == 0) {
        steps(fd, 3);
        shared->torn = shared->flag && !shared->x;
        _exit(0);
    }
    steps(fd, 2);
    shared->flag = 1;
    steps(fd, 6);
    shared->x = 1;
    zoo_need(zoo_wait(child) == 0, "child");
    return shared->torn;
}
