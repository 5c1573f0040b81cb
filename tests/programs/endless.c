// SPDX-License-Identifier: GPL-2.0-only
// endless WHAT: never ends. Its two threads work, each in its way, or wait for what never comes.
//   work     lock, count, unlock
//   slow     the same, with a rest in between, 10,000 times in five minutes
//   write    to a pipe, which the other thread reads
//   start    processes one after the other
//   hang     wait for a client that never comes
//   spin     a loop without any call
//   yield, sleep, poll, try, open
//            again and again, until a flag is set, a client comes, a lock is free, a file is there
//   look     lock, look at a flag, unlock, sleep
//   timed    wait for a condition for a time, again and again
//   backoff  lock, try to take another lock, which is never free, unlock, yield
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile int flag;
static volatile unsigned long count;
static int server = -1;
static int ends[2];

static void rest_ms(long ms) {
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void* work(void* unused) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        ++count;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void* slow(void* unused) {
    for (int i = 0; i < 10000; ++i) {
        pthread_mutex_lock(&mutex);
        ++count;
        pthread_mutex_unlock(&mutex);
        rest_ms(30);
    }
    return unused;
}

static void* write_all(void* unused) {
    while (write(ends[1], "x", 1) == 1)
        ;
    return unused;
}

static void* read_all(void* unused) {
    char byte;
    while (read(ends[0], &byte, 1) == 1)
        ;
    return unused;
}

static void* start(void* unused) {
    for (;;) {
        const pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    return unused;
}

static void* hang(void* unused) {
    accept(server, NULL, NULL);
    return unused;
}

static void* spin(void* unused) {
    while (!flag)
        ;
    return unused;
}

static void* yield(void* unused) {
    while (!flag)
        sched_yield();
    return unused;
}

static void* sleep_on(void* unused) {
    while (!flag)
        rest_ms(5);
    return unused;
}

static void* poll_on(void* unused) {
    struct pollfd ready = {server, POLLIN, 0};
    while (poll(&ready, 1, 5) == 0)
        ;
    return unused;
}

static void* try(void* unused) {
    while (pthread_mutex_trylock(&taken) != 0)
        ;
    return unused;
}

static void* open_on(void* unused) {
    while (open("/nowhere/at/all", O_RDONLY) < 0)
        ;
    return unused;
}

static void* look(void* unused) {
    for (int seen = 0; !seen;) {
        pthread_mutex_lock(&mutex);
        seen = flag;
        pthread_mutex_unlock(&mutex);
        rest_ms(5);
    }
    return unused;
}

static void* timed(void* unused) {
    pthread_mutex_lock(&mutex);
    while (!flag) {
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_nsec += 5000000;
        end.tv_sec += end.tv_nsec / 1000000000;
        end.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&changed, &mutex, &end);
    }
    return unused;
}

static void* backoff(void* unused) {
    for (;;) {
        pthread_mutex_lock(&mutex);
        if (pthread_mutex_trylock(&taken) == 0)
            return unused;
        pthread_mutex_unlock(&mutex);
        sched_yield();
    }
}

static const struct {
    const char* name;
    void* (*one)(void*);
    void* (*other)(void*);
} all[] = {
    {"work", work, work},    {"slow", slow, slow},          {"write", write_all, read_all},
    {"start", start, start}, {"hang", hang, hang},          {"spin", spin, hang},
    {"yield", yield, hang},  {"sleep", sleep_on, hang},     {"poll", poll_on, poll_on},
    {"try", try, hang},      {"open", open_on, hang},       {"look", look, look},
    {"timed", timed, timed}, {"backoff", backoff, backoff},
};

int main(int argc, char** argv) {
    const struct sockaddr_un anywhere = {.sun_family = AF_UNIX};
    server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || bind(server, (const void*)&anywhere, sizeof(sa_family_t)) != 0 ||
        listen(server, 1) != 0 || pipe(ends) != 0)
        return 70;
    pthread_mutex_lock(&taken);
    for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {
        pthread_t thread;
        if (argc != 2 || strcmp(argv[1], all[i].name) != 0)
            continue;
        if (pthread_create(&thread, NULL, all[i].one, NULL) != 0)
            return 70;
        all[i].other(NULL);
        pthread_join(thread, NULL);
        return 0;
    }
    return 64;
}
