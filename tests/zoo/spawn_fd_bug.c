// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=spawn-inherits-pipe depth=2 threads=3 outcome=deadlock points=pthread
//
// A thread makes a pipe, enters it in a register and then marks it close-on-exec. A helper that
// main spawns in between inherits the writing end, so the thread, which reads to the end of file,
// never gets there: the helper waits for main, main for the thread, the thread for the helper.
//
// Constraints: pipe by the thread -> spawn by main, spawn by main -> fcntl by the thread.
// Depth 2: the thread has to be demoted between pipe and fcntl.
// n = 3: main, the thread, the one thread of the spawned helper (this program again, started by
// posix_spawn, that is through vfork).
// Shows as: deadlock, main in pthread_join, the thread and the helper in read.
#include "zoo.h"
#include <spawn.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int open_pipes;

static void read_to_end(int fd) {
    char text[16];
    ssize_t got;
    do {
        got = read(fd, text, sizeof text);
        zoo_need(got >= 0, "read");
    } while (got > 0);
}

static void* talk_to_itself(void* unused) {
    (void)unused;
    int ends[2];
#ifdef FIXED
    zoo_need(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
#else
    zoo_need(pipe2(ends, 0) == 0, "pipe2");
#endif
    pthread_mutex_lock(&lock);
    open_pipes++;
    pthread_mutex_unlock(&lock);
    zoo_need(fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0, "fcntl");
    zoo_need(fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0, "fcntl");
    zoo_need(write(ends[1], "note\n", 5) == 5, "write");
    close(ends[1]);
    read_to_end(ends[0]);
    close(ends[0]);
    return NULL;
}

static pid_t spawn_helper(int input) {
    char* const arguments[] = {"helper", "read", NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    errno = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, arguments, environ);
    zoo_need(errno == 0, "posix_spawn");
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

int main(int argc, char** argv) {
    (void)argv;
    if (argc > 1) { // the helper
        read_to_end(STDIN_FILENO);
        return 0;
    }
    int control[2];
    zoo_need(pipe2(control, O_CLOEXEC) == 0, "pipe2");
    pthread_t thread = zoo_start(talk_to_itself, NULL);
    pid_t helper = spawn_helper(control[0]);
    close(control[0]);
    zoo_join(thread);
    close(control[1]); // tells the helper to end
    return zoo_wait(helper);
}
