// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=double-checked-file depth=2 threads=2 outcome=exit points=syscall
//
// Initialisation "once" through a file: who does not find the configuration file creates it and
// then writes it; who finds it reads it. The file exists before it is complete.
//
// Constraints (either thread can be the creator): create by the creator -> open by the reader,
// read by the reader -> write by the creator.
// Depth 2: the creator has to be demoted exactly before its write.
// n = 2: main, worker.
// Shows as: a reader got an empty configuration; message and exit status 1.
#include "zoo.h"

static char dir[200];
static char path[256];
static int empty[2];

static void write_defaults(int thread) {
    char name[300];
#ifdef FIXED
    // Complete under a private name first; rename makes it appear all at once.
    snprintf(name, sizeof name, "%s.%d", path, thread);
#else
    (void)thread;
    snprintf(name, sizeof name, "%s", path);
#endif
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    zoo_need(fd >= 0, "open");
    zoo_need(write(fd, "port=8080\n", 10) == 10, "write");
    close(fd);
#ifdef FIXED
    zoo_need(rename(name, path) == 0, "rename");
#endif
}

static void* load(void* argument) {
    int thread = *(const int*)argument;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        write_defaults(thread);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        zoo_need(fd >= 0, "open");
    }
    char text[32];
    empty[thread] = read(fd, text, sizeof text) != 10;
    close(fd);
    return NULL;
}

int main(void) {
    static const int names[2] = {0, 1};
    zoo_make_dir(dir, sizeof dir);
    zoo_path(path, sizeof path, dir, "config");
    pthread_t worker = zoo_start(load, (void*)&names[1]);
    load((void*)&names[0]);
    zoo_join(worker);
    unlink(path);
    rmdir(dir);
    return empty[0] || empty[1] ? zoo_bug("the configuration file was empty") : 0;
}
