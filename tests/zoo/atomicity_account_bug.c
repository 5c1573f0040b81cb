// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=atomicity-violation depth=2 threads=3 outcome=exit points=pthread
//
// Two withdrawals check the balance in one critical section and debit it in another.
//
// Constraints: check(A) -> debit(B), check(B) -> debit(A): both checks before either debit.
// Depth 2: without a change point the withdrawal that starts first also ends first; one of the
// two has to be demoted between its check and its debit.
// n = 3: main and the two withdrawals.
// Shows as: the account is overdrawn; message and exit status 1.
#include "zoo.h"

enum { AMOUNT = 80 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static void* withdraw(void* unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int covered = balance >= AMOUNT;
#ifdef FIXED
    if (covered)
        balance -= AMOUNT;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    if (covered) {
        pthread_mutex_lock(&lock);
        balance -= AMOUNT;
        pthread_mutex_unlock(&lock);
    }
#endif
    return NULL;
}

int main(void) {
    pthread_t a = zoo_start(withdraw, NULL);
    pthread_t b = zoo_start(withdraw, NULL);
    zoo_join(a);
    zoo_join(b);
    return balance >= 0 ? 0 : zoo_bug("the account is overdrawn");
}
