// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=shm-not-sized depth=2 threads=2 outcome=signal points=syscall
//
// One process creates a shared memory object and then gives it its size; another one that opens
// it in between maps an object of zero bytes. The parent does not look at how its child ended,
// so the run fails although the exit status of the program is 0.
//
// Constraints: shm_open by the parent -> shm_open by the child, first access by the child ->
// ftruncate by the parent.
// Depth 2: a child that comes too early finds no object and leaves; the parent has to be demoted
// exactly before its ftruncate (p = 1/(2k)).
// n = 2 processes of one thread: parent (creates), child (attaches).
// Shows as: SIGBUS in the child, the parent still ends with 0.
#include "zoo.h"

enum { SIZE = 4096 };

static void create(const char* name) {
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    zoo_need(fd >= 0, "shm_open");
    zoo_need(ftruncate(fd, SIZE) == 0, "ftruncate");
    volatile int* counter = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    zoo_need(counter != MAP_FAILED, "mmap");
    *counter = 42;
}

static void attach(const char* name) {
    int fd = shm_open(name, O_RDWR, 0);
    if (fd < 0)
        return; // not there yet: nothing to do
#ifdef FIXED
    struct stat status;
    if (fstat(fd, &status) < 0 || status.st_size < SIZE)
        return; // not complete yet: the same
#endif
    volatile int* counter = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    zoo_need(counter != MAP_FAILED, "mmap");
    *counter = *counter + 1;
}

int main(void) {
    char name[40];
    snprintf(name, sizeof name, "/zoo-shm-size-%d", (int)getpid());
    pid_t child = zoo_fork();
    if (child == 0) {
        attach(name);
        _exit(0);
    }
    create(name);
    zoo_wait(child);
    shm_unlink(name);
    return 0;
}
