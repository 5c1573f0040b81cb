// SPDX-License-Identifier: GPL-2.0-only
// Closes its standard streams, then goes on.
#include <pthread.h>
#include <unistd.h>

static void* body(void* unused) {
    return unused;
}

int main(void) {
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL) != 0)
        return 70;
    pthread_join(thread, NULL);
    return write(1, "x", 1) == -1 ? 0 : 1;
}
