// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// Fork and exec of /bin/true, twice.
#include "zoo.h"

static int run_true(void) {
    pid_t child = zoo_fork();
    if (child == 0) {
        execl("/bin/true", "true", (char*)NULL);
        _exit(127);
    }
    return zoo_wait(child);
}

int main(void) {
    return run_true() | run_true();
}
