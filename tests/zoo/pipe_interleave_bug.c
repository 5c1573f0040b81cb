// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=pipe-interleaved-writes depth=2 threads=3 outcome=exit points=syscall
//
// Two producer processes share a pipe to a consumer. A message is a head and a body; each is
// written by a write of its own, so the messages of the two can get mixed.
//
// Constraints: head (A) -> head (B), head (B) -> body (A), or the same with A and B swapped.
// Depth 2: one producer has to be demoted exactly before its body.
// n = 3 processes of one thread: consumer (parent) and the producers.
// Shows as: a body of the wrong producer; message and exit status 1 of the parent.
#include "zoo.h"

struct message {
    int head;
    int body;
};

static void produce(int fd, int producer) {
    struct message message = {producer, producer};
#ifdef FIXED
    // One write of at most PIPE_BUF bytes is atomic.
    zoo_need(write(fd, &message, sizeof message) == sizeof message, "write");
#else
    zoo_need(write(fd, &message.head, sizeof(int)) == sizeof(int), "write");
    zoo_need(write(fd, &message.body, sizeof(int)) == sizeof(int), "write");
#endif
}

static void read_fully(int fd, void* buffer, size_t size) {
    char* at = buffer;
    while (size > 0) {
        ssize_t got = read(fd, at, size);
        zoo_need(got > 0, "read");
        at += got;
        size -= (size_t)got;
    }
}

int main(void) {
    int ends[2];
    zoo_need(pipe(ends) == 0, "pipe");
    pid_t producers[2];
    for (int i = 0; i < 2; i++) {
        producers[i] = zoo_fork();
        if (producers[i] == 0) {
            produce(ends[1], i);
            _exit(0);
        }
    }
    int mixed = 0;
    for (int i = 0; i < 2; i++) {
        struct message message;
        read_fully(ends[0], &message, sizeof message);
        mixed |= message.head != message.body;
    }
    int status = zoo_wait(producers[0]) | zoo_wait(producers[1]);
    zoo_need(status == 0, "producer");
    return mixed ? zoo_bug("head and body are of different producers") : 0;
}
