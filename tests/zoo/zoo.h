// SPDX-License-Identifier: GPL-2.0-only
// The few helpers shared by the programs of the zoo. They add no sync point of their own: each
// wraps exactly the calls its name says.
#ifndef ZOO_H
#define ZOO_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ZOO_BUG = 1,    // exit status when the bug showed
    ZOO_BROKEN = 70 // exit status when the environment refused a call; never the bug's doing
};

// Says on stderr which bug showed; the result is the exit status to return from main.
static inline int zoo_bug(const char* what) {
    fprintf(stderr, "zoo: %s\n", what);
    return ZOO_BUG;
}

// Ends the process when a call that has to work did not.
static inline void zoo_need(int worked, const char* call) {
    if (!worked) {
        fprintf(stderr, "zoo: %s: %s\n", call, strerror(errno));
        _exit(ZOO_BROKEN);
    }
}

static inline pthread_t zoo_start(void* (*body)(void*), void* arg) {
    pthread_t thread;
    errno = pthread_create(&thread, NULL, body, arg);
    zoo_need(errno == 0, "pthread_create");
    return thread;
}

static inline void zoo_join(pthread_t thread) {
    errno = pthread_join(thread, NULL);
    zoo_need(errno == 0, "pthread_join");
}

// Two steps for each pair, of no effect on a mutex that nobody else uses.
static inline void zoo_steps(pthread_mutex_t* mutex, int pairs) {
    while (pairs-- > 0) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
}

static inline pid_t zoo_fork(void) {
    pid_t pid = fork();
    zoo_need(pid >= 0, "fork");
    return pid;
}

// Waits for one child; its exit status, or 128 + the signal that ended it.
static inline int zoo_wait(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        zoo_need(errno == EINTR, "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Zeroed memory that children created later share.
static inline void* zoo_shared(size_t size) {
    void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    zoo_need(memory != MAP_FAILED, "mmap");
    return memory;
}

// Makes an empty directory and writes its path to dir (one mkdir when the name is free).
static inline void zoo_make_dir(char* dir, size_t size) {
    const char* base = getenv("TMPDIR");
    int length = snprintf(dir, size, "%s/zoo-XXXXXX", base && *base ? base : "/tmp");
    errno = ENAMETOOLONG;
    zoo_need(length > 0 && (size_t)length < size, "TMPDIR");
    zoo_need(mkdtemp(dir) != NULL, "mkdtemp");
}

// Writes the path of a file in dir to path.
static inline void zoo_path(char* path, size_t size, const char* dir, const char* name) {
    int length = snprintf(path, size, "%s/%s", dir, name);
    errno = ENAMETOOLONG;
    zoo_need(length > 0 && (size_t)length < size, "path");
}

#endif
