// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=stale-decision depth=3 threads=2 outcome=exit points=pthread
//
// A connection goes from IDLE to CONNECTING to CONNECTED. A watcher that sees it CONNECTING
// takes a slow path, which assumes that the connection is still being made when it looks again.
//
// Constraints: CONNECTING set by main -> first look of the watcher, first look -> CONNECTED set
// by main, CONNECTED set -> second look of the watcher.
// Depth 3: the three form an alternation main, watcher, main, watcher. Main starts above the
// watcher, is demoted between its two settings, and the watcher is demoted below that between its
// two looks. One change point gives at most two of the three turns.
// n = 2: main, watcher.
// Shows as: the slow path finds a finished connection; message and exit status 1.
#include "zoo.h"

enum state { IDLE, CONNECTING, CONNECTED };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum state state;
static int surprised;

static enum state look(void) {
    pthread_mutex_lock(&lock);
    enum state seen = state;
    pthread_mutex_unlock(&lock);
    return seen;
}

static void set(enum state value) {
    pthread_mutex_lock(&lock);
    state = value;
    pthread_mutex_unlock(&lock);
}

static void* watch(void* unused) {
    (void)unused;
    if (look() == CONNECTING) {
#ifdef FIXED
        look(); // both answers are fine
#else
        if (look() != CONNECTING)
            surprised = 1;
#endif
    }
    return NULL;
}

int main(void) {
    pthread_t watcher = zoo_start(watch, NULL);
    set(CONNECTING);
    set(CONNECTED);
    zoo_join(watcher);
    return surprised ? zoo_bug("the connection changed under the slow path") : 0;
}
