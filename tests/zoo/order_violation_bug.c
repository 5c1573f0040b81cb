// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=order-violation depth=1 threads=2 outcome=exit points=pthread
//
// The main thread starts a worker and only then publishes the configuration the worker uses.
// Both sides take the lock, so there is no data race; the order is wrong all the same.
//
// Constraint: read of `current` by the worker -> publication by main.
// Depth 1: the worker only has to outrank main, it then runs as soon as it is created (p = 1/2).
// n = 2: main, worker.
// Shows as: the worker saw no configuration; message and exit status 1.
#include "zoo.h"

struct config {
    int port;
};

static struct config defaults = {8080};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct config* current;
static int port_used;

static void publish(void) {
    pthread_mutex_lock(&lock);
    current = &defaults;
    pthread_mutex_unlock(&lock);
}

static void* serve(void* unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    port_used = current ? current->port : -1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
#ifdef FIXED
    publish();
    pthread_t worker = zoo_start(serve, NULL);
#else
    pthread_t worker = zoo_start(serve, NULL);
    publish();
#endif
    zoo_join(worker);
    return port_used == 8080 ? 0 : zoo_bug("the worker ran before the configuration was there");
}
