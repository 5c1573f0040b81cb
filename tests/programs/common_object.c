// SPDX-License-Identifier: GPL-2.0-only
// Two processes use one object, each by a name of its own: the child seven times, the parent once.
// The child does not begin before the parent has come to its use. Exit status 1: the parent came
// last. The argument says what the object is: a pair of sockets, a TCP connection, or a semaphore
// in memory that they have mapped at different addresses. With "apart" each process has its own
// pair of sockets, so there is no common object.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kTimes = 7 };

static int ends[2];
static sem_t* semaphores[2];

static void use(int side) {
    if (semaphores[side])
        sem_post(semaphores[side]);
    else
        send(ends[side], "x", 1, 0);
}

static int connect_tcp(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof(address);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr*)&address, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr*)&address, &length) ||
        connect(ends[0], (struct sockaddr*)&address, length))
        return 2;
    ends[1] = accept(listener, NULL, NULL);
    return ends[1] < 0 ? 2 : 0;
}

static int map_semaphore(void) {
    const int file = memfd_create("common", 0);
    if (file < 0 || ftruncate(file, 8192))
        return 2;
    for (int i = 0; i < 2; i++) {
        char* base = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (base == MAP_FAILED)
            return 2;
        semaphores[i] = (sem_t*)(base + 4096);
    }
    return sem_init(semaphores[0], 1, 0) ? 2 : 0;
}

static int two_pairs(void) {
    int one[2], other[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, one) || socketpair(AF_UNIX, SOCK_STREAM, 0, other))
        return 2;
    ends[0] = one[0];
    ends[1] = other[0];
    return 0;
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    int failed = 2;
    if (!strcmp(what, "unix"))
        failed = socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    else if (!strcmp(what, "tcp"))
        failed = connect_tcp();
    else if (!strcmp(what, "memory"))
        failed = map_semaphore();
    else if (!strcmp(what, "apart"))
        failed = two_pairs();
    atomic_int* uses = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int news[2];
    char told;
    if (failed || uses == MAP_FAILED || pipe(news))
        return 2;
    // fork() takes locks in some C libraries (glibc 2.41), which are steps.
    const pid_t child = (pid_t)syscall(SYS_fork);
    if (child == 0) {
        if (read(news[0], &told, 1) != 1)
            _exit(2);
        for (int i = 0; i < kTimes; i++) {
            use(1);
            ++*uses;
        }
        _exit(0);
    }
    if (write(news[1], "t", 1) != 1)
        return 2;
    use(0);
    const int before = *uses;
    if (waitpid(child, NULL, 0) != child)
        return 2;
    return before == kTimes;
}
