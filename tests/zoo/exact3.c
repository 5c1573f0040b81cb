// SPDX-License-Identifier: GPL-2.0-only
// zoo: healthy threads=3 timers=no
// exact: main=12mmmm34 a=aaaa b=bbbb
//
// Three threads whose order of steps is written to stdout, for comparison with an order computed
// by hand for every change point and every permutation of the priorities.
//
// The steps of the program, in program order (nothing else in it is a step, apart from those the
// loader makes before main and the one write at the end; with `--points pthread` there are
// neither, so that K = 16):
//   M (main):  1 create A   2 create B   m m m m lock, unlock, lock, unlock of M's own mutex
//              3 join A     4 join B
//   A:         a a a a      lock, unlock, lock, unlock of A's own mutex
//   B:         b b b b      the same with B's own mutex
// No mutex is used by two threads; the only step that can block is a join. A thread ends by
// returning from its function, which is no step.
//
// A thread appends the letter of a step to a shared array as soon as it goes on after the step,
// before it does anything else. So the letter's place says when the step was over and its thread
// was running again. At its end M writes the 16 letters and a newline in one write.
//
// The rules, for initial priorities p(M), p(A), p(B), all above 1, and one change point k in
// 1..K (d = 2):
//   R1 A thread exists from the end of its creation; it is enabled unless it has ended or is M that
//      has been let into a join of a thread that has not ended.
//   R2 The enabled thread of highest priority runs. It goes on up to its next step.
//   R3 When a thread is about to make the k-th step of the run (by default, the k-th for which
//      another thread is enabled at that moment), its priority becomes 1 first. If
//      another one is enabled, that one runs, and the step is made when R2 picks the thread again
//      (it is counted once, at its first arrival). A join that blocks is counted when M arrives.
//   R4 Once a step has taken effect and enabled a thread of higher priority (a creation, the end
//      of a thread M waits for), that thread runs before the letter of the step is appended.
// Some results without a change point (k > K), that is in the order of priorities alone:
//   M > A > B: 12mmmmaaaa3bbbb4    M > B > A: 12mmmmbbbbaaaa34
//   A > M > B: aaaa12mmmm3bbbb4    B > M > A: 1bbbb2mmmmaaaa34
//   A > B > M: aaaa1bbbb2mmmm34    B > A > M: aaaa1bbbb2mmmm34
// and with one:
//   M > A > B, k = 4 (M's second m): 12maaaabbbbmmm34
//   A > M > B, k = 3 (A's second a; steps: 1 a a): a12mmmmbbbbaaa34
// (in the last line M waits in its join of A, B is above A with its priority of 1, then A ends).
// With the default points the s steps of the loader come first, all made by M: a change point
// in 1..s+1 makes M the lowest before A exists, k above s is step k - s of the list above.
#include "zoo.h"
#include <stdatomic.h>

static pthread_mutex_t own[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                 PTHREAD_MUTEX_INITIALIZER};
static char letters[64];
static atomic_int used;

static void append(char letter) {
    letters[atomic_fetch_add(&used, 1)] = letter;
}

static void steps(pthread_mutex_t* mutex, char letter) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(mutex);
        append(letter);
        pthread_mutex_unlock(mutex);
        append(letter);
    }
}

static void* body_a(void* unused) {
    (void)unused;
    steps(&own[1], 'a');
    return NULL;
}

static void* body_b(void* unused) {
    (void)unused;
    steps(&own[2], 'b');
    return NULL;
}

int main(void) {
    pthread_t a = zoo_start(body_a, NULL);
    append('1');
    pthread_t b = zoo_start(body_b, NULL);
    append('2');
    steps(&own[0], 'm');
    zoo_join(a);
    append('3');
    zoo_join(b);
    append('4');
    append('\n');
    size_t length = (size_t)atomic_load(&used);
    zoo_need(write(STDOUT_FILENO, letters, length) == (ssize_t)length, "write");
    return 0;
}
