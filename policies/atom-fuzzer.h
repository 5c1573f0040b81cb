/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AtomFuzzer: a thread goes on until it blocks, ends, or is about to acquire a lock that it has
 * held before; there another thread goes on, so that whatever was meant to be one atomic operation
 * in two critical sections is torn apart. NeedlePoint: Nagarakatte, Burckhardt, Martin, Musuvathi,
 * PLDI 2012, section 3.2.
 *
 * Deviations:
 * - The thread competes again as soon as one other thread was chosen; the paper does not say how
 *   long the pause is. All choices are uniform.
 * - A thread is remembered to have held the last PCT_LOCKS_KEPT different locks, in the order in
 *   which it acquired them first. (Where a lock lies in memory must not matter: it differs from run
 *   to run.)
 * - A lock counts as held once an operation that acquires it is over, even if that failed. Taking
 *   the mutex again inside a wait for a condition is no step: no pause, and nothing remembered.
 * - Starvation: the signs and probabilities are those of pct.h.
 */
#ifndef PCTCTL_POLICY_ATOM_FUZZER_H
#define PCTCTL_POLICY_ATOM_FUZZER_H

#include "clock.h"

static inline bool atom_fuzzer_held(const struct pct_policy_thread *th)
{
    int i;

    for (i = 0; i < PCT_LOCKS_KEPT; i++)
        if (th->locks[i] == th->event.object)
            return true;
    return false;
}

static inline __u64 atom_fuzzer_arrive(const struct pct_policy_config *cfg,
                                       struct pct_policy_run *run, struct pct_policy_thread *th,
                                       const struct pct_policy_view *view)
{
    if (th->steps == 1)
        pct_clock_compete(cfg, run, th);
    else if ((th->event.flags & PCT_PENDING_ACQUIRES) && atom_fuzzer_held(th))
        pct_clock_give_way(cfg, run, th, view);
    else
        pct_clock_go_on(th);
    return 0;
}

static inline enum pct_reaction atom_fuzzer_executed(const struct pct_policy_config *cfg,
                                                     struct pct_policy_run *run,
                                                     struct pct_policy_thread *th)
{
    pct_policy_nothing(cfg, run, th);
    if ((th->event.flags & PCT_PENDING_ACQUIRES) && !atom_fuzzer_held(th))
        th->locks[th->nr_locks++ & (PCT_LOCKS_KEPT - 1)] = th->event.object;
    return PCT_REACT_NONE;
}

PCT_POLICY(ATOM_FUZZER) = {
    .name = "atom-fuzzer",
    .enforcement = PCT_ENFORCE_STEPWISE,
    .summary = "another thread before each re-acquisition of a lock",
    .guarantee = "none",
    .appear = pct_stepwise_appear,
    .arrive = atom_fuzzer_arrive,
    .select = pct_clock_select,
    .block = pct_stepwise_keep,
    .wake = pct_clock_compete,
    .executed = atom_fuzzer_executed,
    .stuck = pct_clock_stuck,
};

#endif
