// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=bind-before-listen depth=2 threads=2 outcome=exit points=syscall
//
// A server binds its socket, logs that, and then listens. A client that finds no socket does
// without the server; one that finds the socket expects to be served, but between bind and
// listen it is refused.
//
// Constraints: bind by the server -> connect by the client, connect -> listen by the server.
// Depth 2: a client that outranks the server finds no socket; the server has to be demoted
// between bind and listen (at its log line, or at the listen itself where that is a step).
// n = 2 processes of one thread: server (parent), client (child).
// Shows as: the client is refused; message and exit status 1 of the parent.
#include "zoo.h"
#include <sys/socket.h>
#include <sys/un.h>

enum { SERVED = 3, ALONE = 4, REFUSED = 5 };

static char dir[64];
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static int client(void) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    zoo_need(fd >= 0, "socket");
    if (connect(fd, (struct sockaddr*)&address, sizeof address) < 0)
        return errno == ECONNREFUSED ? REFUSED : ALONE;
    zoo_need(write(fd, "hello\n", 6) == 6, "write");
    return SERVED;
}

static void log_line(const char* text) {
    ssize_t length = (ssize_t)strlen(text);
    zoo_need(write(STDOUT_FILENO, text, (size_t)length) == length, "write");
}

static int open_server(void) {
    struct sockaddr_un name = address;
#ifdef FIXED
    // Listen under a private name first; rename makes a complete server appear.
    strcat(name.sun_path, ".new");
#endif
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    zoo_need(fd >= 0, "socket");
    zoo_need(bind(fd, (struct sockaddr*)&name, sizeof name) == 0, "bind");
    log_line("socket bound\n");
    zoo_need(listen(fd, 4) == 0, "listen");
#ifdef FIXED
    zoo_need(rename(name.sun_path, address.sun_path) == 0, "rename");
#endif
    return fd;
}

static void serve_one(int server) {
    char text[8];
    int connection = accept(server, NULL, NULL);
    zoo_need(connection >= 0, "accept");
    zoo_need(read(connection, text, sizeof text) == 6, "read");
    close(connection);
}

int main(void) {
    zoo_make_dir(dir, sizeof dir);
    zoo_path(address.sun_path, sizeof address.sun_path - 4, dir, "socket");
    pid_t child = zoo_fork();
    if (child == 0)
        _exit(client());
    int server = open_server();
    int status = zoo_wait(child);
    if (status == SERVED)
        serve_one(server);
    unlink(address.sun_path);
    rmdir(dir);
    zoo_need(status == SERVED || status == ALONE || status == REFUSED, "client");
    return status == REFUSED ? zoo_bug("the client was refused") : 0;
}
