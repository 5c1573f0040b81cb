// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=rate depth=2 threads=3 outcome=exit points=pthread
// rate: d=1 p=1/6
//
// Main M creates A, then B, then leaves its mark; A and B leave theirs. Fails when the marks come
// in the order B, M, A. Two constraints (B -> M, M -> A), but no change point is needed.
//
// By hand, d = 1, the six orders and their marks:
//   A > B > M: A B M     A > M > B: A M B     B > A > M: A B M
//   B > M > A: B M A     M > A > B: M A B     M > B > A: M B A
// (A runs to its end when it is created if A > M, B likewise; else they wait for M to block.)
// One order of six fails: p = 1/6, whatever k is.
#include "zoo.h"
#include <stdatomic.h>

static pthread_mutex_t own[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                 PTHREAD_MUTEX_INITIALIZER};
static atomic_int marks;
static int mark_of[3];

static void leave_mark(int me) {
    pthread_mutex_lock(&own[me]);
    mark_of[me] = atomic_fetch_add(&marks, 1);
    pthread_mutex_unlock(&own[me]);
}

static void* body(void* me) {
    leave_mark(*(const int*)me);
    return NULL;
}

int main(void) {
    static const int names[3] = {0, 1, 2};
    pthread_t a = zoo_start(body, (void*)&names[1]);
    pthread_t b = zoo_start(body, (void*)&names[2]);
    leave_mark(0);
    zoo_join(a);
    zoo_join(b);
    return mark_of[2] == 0 && mark_of[0] == 1 && mark_of[1] == 2;
}
