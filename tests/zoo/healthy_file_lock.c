// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// Two processes update a number in a file under locks taken with flock and with fcntl.
#include "zoo.h"
#include <sys/file.h>

static char path[256];

static void add_one(int fd) {
    int number = 0;
    zoo_need(pread(fd, &number, sizeof number, 0) >= 0, "pread");
    number++;
    zoo_need(pwrite(fd, &number, sizeof number, 0) == sizeof number, "pwrite");
}

static void record_lock(int fd, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = sizeof(int)};
    zoo_need(fcntl(fd, F_SETLKW, &lock) == 0, "fcntl");
}

static int work(void) {
    int lock_fd = open(path, O_RDWR | O_CLOEXEC);
    zoo_need(lock_fd >= 0, "open");
    zoo_need(flock(lock_fd, LOCK_EX) == 0, "flock");
    record_lock(lock_fd, F_WRLCK);
    add_one(lock_fd);
    record_lock(lock_fd, F_UNLCK);
    zoo_need(flock(lock_fd, LOCK_UN) == 0, "flock");

    record_lock(lock_fd, F_WRLCK);
    add_one(lock_fd);
    record_lock(lock_fd, F_UNLCK);
    return 0;
}

int main(void) {
    char dir[200];
    zoo_make_dir(dir, sizeof dir);
    zoo_path(path, sizeof path, dir, "number");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    zoo_need(fd >= 0, "open");
    pid_t workers[2];
    for (int i = 0; i < 2; i++) {
        workers[i] = zoo_fork();
        if (workers[i] == 0)
            _exit(work());
    }
    int status = zoo_wait(workers[0]) | zoo_wait(workers[1]);
    int number = 0;
    zoo_need(pread(fd, &number, sizeof number, 0) == sizeof number, "pread");
    unlink(path);
    rmdir(dir);
    return status == 0 && number == 4 ? 0 : zoo_bug("an update was lost");
}
