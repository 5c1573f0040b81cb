// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
//
// A bounded buffer with the C11 thread functions: call_once, mtx, cnd, thrd, tss.
#include "zoo.h"
#include <threads.h>

enum { ITEMS = 4 };

static once_flag made = ONCE_FLAG_INIT;
static mtx_t lock;
static cnd_t changed;
static tss_t slot;
static int full;
static int item;

static void make(void) {
    zoo_need(mtx_init(&lock, mtx_plain) == thrd_success, "mtx_init");
    zoo_need(cnd_init(&changed) == thrd_success, "cnd_init");
    zoo_need(tss_create(&slot, NULL) == thrd_success, "tss_create");
}

static int produce(void* unused) {
    (void)unused;
    call_once(&made, make);
    for (int i = 1; i <= ITEMS; i++) {
        mtx_lock(&lock);
        while (full)
            cnd_wait(&changed, &lock);
        item = i;
        full = 1;
        cnd_signal(&changed);
        mtx_unlock(&lock);
    }
    return 0;
}

static int consume(void* unused) {
    static int sum;
    (void)unused;
    call_once(&made, make);
    tss_set(slot, &sum);
    for (int i = 1; i <= ITEMS; i++) {
        mtx_lock(&lock);
        while (!full)
            cnd_wait(&changed, &lock);
        *(int*)tss_get(slot) += item;
        full = 0;
        cnd_signal(&changed);
        mtx_unlock(&lock);
    }
    return sum;
}

int main(void) {
    thrd_t producer, consumer;
    int sum = 0;
    zoo_need(thrd_create(&producer, produce, NULL) == thrd_success, "thrd_create");
    zoo_need(thrd_create(&consumer, consume, NULL) == thrd_success, "thrd_create");
    thrd_join(producer, NULL);
    thrd_join(consumer, &sum);
    return sum == ITEMS * (ITEMS + 1) / 2 ? 0 : zoo_bug("an item was lost");
}
