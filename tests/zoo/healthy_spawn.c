// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// /bin/true started through posix_spawn and through vfork: the parent stands still, holding the
// memory it shares with the child, until the child has called exec.
#include "zoo.h"
#include <spawn.h>

int main(void) {
    char* const arguments[] = {"true", NULL};
    pid_t spawned;
    errno = posix_spawn(&spawned, "/bin/true", NULL, NULL, arguments, environ);
    zoo_need(errno == 0, "posix_spawn");

    pid_t child = vfork();
    if (child == 0) {
        execv("/bin/true", arguments);
        _exit(127);
    }
    zoo_need(child > 0, "vfork");
    return zoo_wait(spawned) | zoo_wait(child);
}
