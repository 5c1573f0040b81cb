// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=rate depth=1 threads=2 outcome=exit points=syscall
// rate: d=1 p=1/2
//
// Two processes. Constraint: look of the child -> setting by the parent.
//
// By hand, d = 1, priorities of parent P and child C:
//   C > P: C runs as soon as it is forked and looks before the setting: fails.
//   P > C: P runs up to waitpid, which comes after the setting: passes.
// 1 of 2 orders fails: p = 1/2 = 1/n, whatever k is.
#include "zoo.h"

struct shared {
    volatile int is_set;
    volatile int early;
};

static void steps(int count) {
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    zoo_need(fd >= 0, "open");
    while (count-- > 0)
        zoo_need(write(fd, "x", 1) == 1, "write");
    close(fd);
}

int main(void) {
    struct shared* shared = zoo_shared(sizeof *shared);
    pid_t child = zoo_fork();
    if (child == 0) {
        steps(3);
        shared->early = !shared->is_set;
        _exit(0);
    }
    steps(3);
    shared->is_set = 1;
    zoo_need(zoo_wait(child) == 0, "child");
    return shared->early;
}
