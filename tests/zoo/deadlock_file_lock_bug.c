// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=deadlock-file-lock depth=2 threads=4 outcome=deadlock points=syscall
//
// Two processes lock two files in opposite order, one file with flock, the other with the record
// lock of an open file. Their first lock is taken for them by a child that ends, as flock(1) does
// it in a shell script: nobody is left who has taken it, and it is held all the same.
//
// Constraints: first lock (A) -> second lock (B), first lock (B) -> second lock (A).
// Depth 2: one of the two has to be demoted between its first and its second lock. It is below both
// children by some of the permutations, which then need no demotion.
// n = 4 processes of one thread: the two, the first one being the main process, and their children.
// Shows as: deadlock, both waiting for a lock.
#include "zoo.h"
#include <sys/file.h>

enum { BY_FLOCK, BY_RECORD, FILES };

static void lock(int kind, int fd) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (kind == BY_FLOCK)
        zoo_need(flock(fd, LOCK_EX) == 0, "flock");
    else
        zoo_need(fcntl(fd, F_OFD_SETLKW, &all) == 0, "fcntl");
}

static void unlock(int kind, int fd) {
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (kind == BY_FLOCK)
        zoo_need(flock(fd, LOCK_UN) == 0, "flock");
    else
        zoo_need(fcntl(fd, F_OFD_SETLK, &all) == 0, "fcntl");
}

static int work(const int fds[FILES], int first) {
    const int second = 1 - first;
    pid_t child = zoo_fork();
    if (child == 0) {
        lock(first, fds[first]);
        _exit(0);
    }
    int status = zoo_wait(child);
    lock(second, fds[second]);
    unlock(second, fds[second]);
    unlock(first, fds[first]);
    return status;
}

int main(void) {
    static const char* const names[FILES] = {"a", "b"};
    char dir[200];
    char path[256];
    int fds[2][FILES]; // open files of each process
    zoo_make_dir(dir, sizeof dir);
    for (int file = 0; file < FILES; file++) {
        zoo_path(path, sizeof path, dir, names[file]);
        for (int process = 0; process < 2; process++) {
            fds[process][file] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
            zoo_need(fds[process][file] >= 0, "open");
        }
        unlink(path);
    }
    rmdir(dir);
    pid_t other = zoo_fork();
    if (other == 0) {
#ifdef FIXED
        _exit(work(fds[1], BY_FLOCK));
#else
        _exit(work(fds[1], BY_RECORD));
#endif
    }
    int status = work(fds[0], BY_FLOCK);
    return status | zoo_wait(other);
}
