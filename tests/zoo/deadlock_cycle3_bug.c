// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=deadlock-3-cycle depth=3 threads=4 outcome=deadlock points=pthread
//
// Three philosophers, three forks, everybody takes the fork on the left first.
//
// Constraints (P0 takes forks 0,1; P1 takes 1,2; P2 takes 2,0):
// first fork of P0 -> second of P2, of P1 -> second of P0, of P2 -> second of P1.
// Depth 3: each of the three second forks has to be held back, a directive of two events leaves
// one philosopher free to eat (section 2.3.1 of the paper: depth n for a cycle of n threads).
// Two demotions are not always needed, though: with P0 above P2 above P1 the demotion of P0
// before its second fork is enough, so campaigns of depth 2 meet this deadlock too.
// n = 4: main and the philosophers.
// Shows as: deadlock, main waiting in pthread_join.
#include "zoo.h"

static pthread_mutex_t forks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};
static int meals[3];

static void* dine(void* seat) {
    int left = *(const int*)seat;
    int right = (left + 1) % 3;
    int first = left;
    int second = right;
#ifdef FIXED
    if (right < left) {
        first = right;
        second = left;
    }
#endif
    pthread_mutex_lock(&forks[first]);
    pthread_mutex_lock(&forks[second]);
    meals[left]++;
    pthread_mutex_unlock(&forks[second]);
    pthread_mutex_unlock(&forks[first]);
    return NULL;
}

int main(void) {
    static const int seats[3] = {0, 1, 2};
    pthread_t philosophers[3];
    for (int i = 0; i < 3; i++)
        philosophers[i] = zoo_start(dine, (void*)&seats[i]);
    for (int i = 0; i < 3; i++)
        zoo_join(philosophers[i]);
    return meals[0] + meals[1] + meals[2] == 3 ? 0 : zoo_bug("somebody went hungry");
}
