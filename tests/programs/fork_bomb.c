// SPDX-License-Identifier: GPL-2.0-only
// Forks without end, in all processes.
#include <unistd.h>

int main(void) {
    for (;;)
        fork();
}
