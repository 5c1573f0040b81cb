// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=rate depth=2 threads=3 outcome=exit points=pthread
// rate: d=1 p=0
// rate: d=2 p=8/3/k
//
// Main M creates A, which raises a flag, and B, which looks; M raises a flag of its own and sets
// x eight steps later. Fails when B sees both flags up and x not set.
// Constraints: {flag of M, flag of A} -> look (B), look (B) -> x (M).
//
// By hand, d = 2. B has to look while M is between its flag and x, so M has to be demoted there
// (eight steps), and at that time A must have run and B not.
//   M > A > B: M demoted, A runs, B looks: fails.    A > M > B: A has run already: fails.
//   M > B > A: B looks before A has run: passes.     B > M: B looks before M's flag: passes
//   (3 orders, also when B is demoted first: then M is not, and sets x before B looks).
//   A demoted before its flag: M is not demoted, x is set: passes.
// B is the lowest in 2 of 6 orders: p = 8/(3k), eight times the bound 1/(n k).
#include "zoo.h"

static pthread_mutex_t own[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                 PTHREAD_MUTEX_INITIALIZER};
static volatile int flag_m;
static volatile int flag_a;
static volatile int x;
static int torn;

static void* raise_flag(void* unused) {
    (void)unused;
    zoo_steps(&own[1], 1);
    flag_a = 1;
    zoo_steps(&own[1], 1);
    return NULL;
}

static void* look(void* unused) {
    (void)unused;
    zoo_steps(&own[2], 1);
    torn = flag_m && flag_a && !x;
    zoo_steps(&own[2], 1);
    return NULL;
}

int main(void) {
    pthread_t a = zoo_start(raise_flag, NULL);
    pthread_t b = zoo_start(look, NULL);
    zoo_steps(&own[0], 1);
    flag_m = 1;
    zoo_steps(&own[0], 4);
    x = 1;
    zoo_join(a);
    zoo_join(b);
    return torn;
}
