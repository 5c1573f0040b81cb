// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=2 timers=no
//
// An event loop: main waits with epoll for an eventfd and a pipe a worker writes to.
#include "zoo.h"
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static int event_fd;
static int ends[2];

static void* work(void* unused) {
    (void)unused;
    uint64_t one = 1;
    zoo_need(write(event_fd, &one, sizeof one) == sizeof one, "write");
    zoo_need(write(ends[1], "x", 1) == 1, "write");
    return NULL;
}

static void watch(int loop, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    zoo_need(epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

int main(void) {
    int loop = epoll_create1(EPOLL_CLOEXEC);
    event_fd = eventfd(0, EFD_CLOEXEC);
    zoo_need(loop >= 0 && event_fd >= 0 && pipe(ends) == 0, "epoll_create1, eventfd, pipe");
    watch(loop, event_fd);
    watch(loop, ends[0]);
    pthread_t worker = zoo_start(work, NULL);
    for (int seen = 0; seen < 2; seen++) {
        struct epoll_event event;
        char buffer[8];
        zoo_need(epoll_wait(loop, &event, 1, -1) == 1, "epoll_wait");
        zoo_need(read(event.data.fd, buffer, sizeof buffer) > 0, "read");
    }
    zoo_join(worker);
    return 0;
}
