// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// A server process on an AF_UNIX socket serves two client processes, one request each; it waits
// for input without a time limit. The socket listens before the clients exist.
#include "zoo.h"
#include <sys/socket.h>
#include <sys/un.h>

static int client(const struct sockaddr_un* address, char letter) {
    char reply = 0;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    zoo_need(fd >= 0, "socket");
    zoo_need(connect(fd, (const struct sockaddr*)address, sizeof *address) == 0, "connect");
    zoo_need(write(fd, &letter, 1) == 1, "write");
    zoo_need(read(fd, &reply, 1) == 1, "read");
    return reply == letter + 1 ? 0 : zoo_bug("wrong reply");
}

static void serve_one(int server) {
    char letter;
    int fd = accept(server, NULL, NULL);
    zoo_need(fd >= 0, "accept");
    zoo_need(read(fd, &letter, 1) == 1, "read");
    letter++;
    zoo_need(write(fd, &letter, 1) == 1, "write");
    close(fd);
}

int main(void) {
    char dir[64];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    zoo_make_dir(dir, sizeof dir);
    zoo_path(address.sun_path, sizeof address.sun_path, dir, "socket");
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    zoo_need(server >= 0, "socket");
    zoo_need(bind(server, (struct sockaddr*)&address, sizeof address) == 0, "bind");
    zoo_need(listen(server, 4) == 0, "listen");
    pid_t clients[2];
    for (int i = 0; i < 2; i++) {
        clients[i] = zoo_fork();
        if (clients[i] == 0)
            _exit(client(&address, (char)('a' + i)));
    }
    serve_one(server);
    serve_one(server);
    int status = zoo_wait(clients[0]) | zoo_wait(clients[1]);
    unlink(address.sun_path);
    rmdir(dir);
    return status;
}
