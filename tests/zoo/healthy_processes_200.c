// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=201 timers=no
//
// 200 child processes that are all alive at the same time: each reads from a pipe until the
// parent closes it.
#include "zoo.h"

enum { CHILDREN = 200 };

int main(void) {
    static pid_t children[CHILDREN];
    int gate[2];
    zoo_need(pipe(gate) == 0, "pipe");
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = zoo_fork();
        if (children[i] == 0) {
            char text;
            close(gate[1]);
            _exit(read(gate[0], &text, 1) == 0 ? 0 : 1);
        }
    }
    close(gate[1]);
    int status = 0;
    for (int i = 0; i < CHILDREN; i++)
        status |= zoo_wait(children[i]);
    return status;
}
