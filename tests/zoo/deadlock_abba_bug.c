// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=deadlock-abba depth=2 threads=3 outcome=deadlock points=pthread
//
// Two transfers in opposite directions lock the two accounts in opposite order.
//
// Constraints: lock a (T1) -> lock a (T2), lock b (T2) -> lock b (T1).
// Depth 2: one of the two has to be demoted between its first and its second lock.
// n = 3: main and the two transfers.
// Shows as: deadlock, main waiting in pthread_join.
#include "zoo.h"

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account a = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account b = {PTHREAD_MUTEX_INITIALIZER, 100};

static void move_money(struct account* from, struct account* to) {
    struct account* first = from;
    struct account* second = to;
#ifdef FIXED
    if (to < from) {
        first = to;
        second = from;
    }
#endif
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    from->balance -= 10;
    to->balance += 10;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void* forth(void* unused) {
    (void)unused;
    move_money(&a, &b);
    return NULL;
}

static void* back(void* unused) {
    (void)unused;
    move_money(&b, &a);
    return NULL;
}

int main(void) {
    pthread_t t1 = zoo_start(forth, NULL);
    pthread_t t2 = zoo_start(back, NULL);
    zoo_join(t1);
    zoo_join(t2);
    return a.balance + b.balance == 200 ? 0 : zoo_bug("money was lost");
}
