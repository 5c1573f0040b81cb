// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=pid-file depth=2 threads=3 outcome=exit points=syscall
//
// Two instances of a service look for a pid file; an instance that finds none writes one and
// starts. Only one of them should.
//
// Constraints: look (A) -> create (B), look (B) -> create (A).
// Depth 2: one instance has to be demoted between its look and its create.
// n = 3 processes of one thread: the parent and the two instances.
// Shows as: both started; message and exit status 1 of the parent.
#include "zoo.h"

enum { REFUSED = 3, STARTED = 4 };

static char dir[200];
static char path[256];

static int service(void) {
#ifdef FIXED
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return REFUSED;
#else
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        return REFUSED;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    zoo_need(fd >= 0, "open");
#endif
    char text[24];
    int length = snprintf(text, sizeof text, "%d\n", (int)getpid());
    zoo_need(write(fd, text, (size_t)length) == length, "write");
    close(fd);
    return STARTED;
}

int main(void) {
    zoo_make_dir(dir, sizeof dir);
    zoo_path(path, sizeof path, dir, "service.pid");
    pid_t instances[2];
    for (int i = 0; i < 2; i++) {
        instances[i] = zoo_fork();
        if (instances[i] == 0)
            _exit(service());
    }
    int started = 0;
    int refused = 0;
    for (int i = 0; i < 2; i++) {
        int status = zoo_wait(instances[i]);
        started += status == STARTED;
        refused += status == REFUSED;
    }
    unlink(path);
    rmdir(dir);
    zoo_need(started + refused == 2, "service");
    return started == 1 ? 0 : zoo_bug("two instances of the service are running");
}
