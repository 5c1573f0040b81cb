// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=c11-lazy-initialisation depth=2 threads=3 outcome=exit points=pthread
//
// Two C11 threads create a shared object on first use; the look for it and its creation are two
// critical sections. All thread functions are those of <threads.h>.
//
// Constraints: look (A) -> creation (B), look (B) -> creation (A).
// Depth 2: one thread has to be demoted between its look and its creation.
// n = 3: main and the two users.
// Shows as: two objects were made; message and exit status 1.
#include "zoo.h"
#include <threads.h>

static once_flag locks_made = ONCE_FLAG_INIT;
static mtx_t lock;
static int exists;
static int created;

static void make_locks(void) {
    zoo_need(mtx_init(&lock, mtx_plain) == thrd_success, "mtx_init");
}

static void create(void) {
    created++;
    exists = 1;
}

static int use(void* unused) {
    (void)unused;
    mtx_lock(&lock);
    int missing = !exists;
#ifdef FIXED
    if (missing)
        create();
    mtx_unlock(&lock);
#else
    mtx_unlock(&lock);
    if (missing) {
        mtx_lock(&lock);
        create();
        mtx_unlock(&lock);
    }
#endif
    return 0;
}

int main(void) {
    thrd_t users[2];
    call_once(&locks_made, make_locks);
    for (int i = 0; i < 2; i++)
        zoo_need(thrd_create(&users[i], use, NULL) == thrd_success, "thrd_create");
    for (int i = 0; i < 2; i++)
        zoo_need(thrd_join(users[i], NULL) == thrd_success, "thrd_join");
    return created == 1 ? 0 : zoo_bug("the object was created twice");
}
