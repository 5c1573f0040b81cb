/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic
 * Guarantees of Finding Bugs", ASPLOS 2010.
 *
 * Deviations from the paper's Fig. 7:
 * - A change point takes effect before the k_i-th step instead of after it. The thread's next step
 *   is then the change point's instead of the one following it; counting arrivals at steps rather
 *   than completed steps, the proof of Theorem 9 holds unchanged (its condition "next label is
 *   b_{i+1}" is met when the thread arrives at b_{i+1}).
 * - The permutation is drawn lazily: each thread gets a 61-bit random key from its identity, so n
 *   need not be known. Keys order threads uniformly unless two are equal (n^2 / 2^62).
 * - Of several change points at one step the one with the highest priority counts, not the lowest
 *   as there. The proof never speaks of that case: what it guesses are d-1 different steps.
 * - Starvation (section 4.1, "with a small probability"): the probabilities below are ours.
 * - Join points (section 4.2), if asked for: the paper does not say what happens at one. Here each
 *   phase has priorities and change points of its own, as if it were a run. The theorem then holds
 *   for a bug that lies in one phase (whatever happened before it begins), with the most steps of
 *   a phase for k, and not for others: a thread that has to be the lowest throughout the run has
 *   to be it in every phase anew. So it is an option.
 */
#ifndef PCTCTL_POLICY_PCT_H
#define PCTCTL_POLICY_PCT_H

#include "policy.h"

/* Of a thread that appears or comes back in a phase; 0: the first one, or there are none. */
static inline __u64 pct_initial_priority(__u64 seed, __u64 identity, __u64 phase)
{
    return PCT_PRIO_INITIAL +
           (pct_random(seed, PCT_RAND_PRIORITY, pct_draw_index(identity, phase)) >> 3);
}

/* The i-th change point (1 <= i < d) of a phase with at most k steps, k >= 1. */
static inline struct pct_change_point pct_change_point(__u64 seed, __u32 i, __u32 k, __u64 phase)
{
    struct pct_change_point point = {
        .step = pct_random_upto(seed, PCT_RAND_CHANGE_POINT, pct_draw_index(i, phase), k),
        .priority = PCT_PRIO_CHANGE + i,
    };

    return point;
}

/*
 * A sign that the thread makes no progress while others wait, the count-th (1, 2, ...) of its kind
 * in a row: demote it now?
 */
static inline bool pct_no_progress(__u64 seed, __u64 identity, enum pct_demotion sign, __u64 count)
{
    __u64 r = pct_random(seed, PCT_RAND_NO_PROGRESS, identity ^ pct_mix(count * 8 + sign));

    switch (sign) {
    case PCT_DEMOTE_YIELD: /* says so itself; two in a row may still be politeness */
        return count > 2 && (r & 3) == 0;
    case PCT_DEMOTE_POLL:
        return count > 16 && (r & 15) == 0;
    case PCT_DEMOTE_LOOP:
        return count > 10000 && (r & 1023) == 0;
    case PCT_DEMOTE_STARVE: /* of others that wake each other and block again and again */
        return count > 20000 && (r & 1023) == 0;
    case PCT_DEMOTE_SPIN: /* has been decided by --spin-limit */
        return true;
    default:
        return false;
    }
}

/* ---- The policy's hooks ---------------------------------------------------------------------- */

/* 0 throughout the run if it is not to have phases. */
static inline __u64 pct_phase(const struct pct_policy_config *cfg, const struct pct_policy_run *run)
{
    return cfg->options & PCT_OPTION_PHASES ? run->phase : 0;
}

static inline void pct_appear(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                              struct pct_policy_thread *th)
{
    th->priority = pct_initial_priority(cfg->seed, th->identity, pct_phase(cfg, run));
}

/* A thread is at a step; what change points fall on that number? It is 0 if it does not count. */
static inline void pct_change(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                              struct pct_policy_thread *th, __u64 number)
{
    __u64 phase = pct_phase(cfg, run);
    struct pct_change_point point;
    __u32 i;

    for (i = 0; i < PCT_MAX_DEPTH && i < cfg->nr_change_points; i++) {
        if (phase)
            point = pct_change_point(cfg->seed, i + 1, cfg->change_range, phase);
        else
            point = cfg->change_points[i];
        if (point.step == number)
            th->priority = point.priority;
    }
}

/* If the phase is new to the thread, its priority is drawn anew. */
static inline bool pct_enter_phase(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                   struct pct_policy_thread *th)
{
    if (!(cfg->options & PCT_OPTION_PHASES) || th->phase == run->phase)
        return false;
    th->priority = pct_initial_priority(cfg->seed, th->identity, run->phase);
    return true;
}

/*
 * Section 4.2, "Identifying sequential execution", if asked for: with nobody else enabled, a change
 * point has the same effect at the step after the one which enables a second thread, and that one
 * is counted.
 */
static inline __u64 pct_arrive(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                               struct pct_policy_thread *th, const struct pct_policy_view *view)
{
    pct_enter_phase(cfg, run, th);
    if (!(cfg->options & PCT_OPTION_COUNT_CONCURRENT))
        run->number = run->steps;
    else if (view->enabled < 2)
        run->number = 0;
    else
        run->number = cfg->options & PCT_OPTION_PHASES ? run->phase_steps : run->concurrent;
    pct_change(cfg, run, th, run->number);
    return 0;
}

/*
 * It may have fallen asleep in an operation of an earlier phase, and is about to make it in this
 * one: to the proof that is its arrival.
 */
static inline void pct_wake(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                            struct pct_policy_thread *th)
{
    if (pct_enter_phase(cfg, run, th))
        pct_change(cfg, run, th, run->phase_steps);
}

static PCT_ALWAYS_INLINE enum pct_reaction pct_stuck(const struct pct_policy_config *cfg,
                                                     struct pct_policy_run *run,
                                                     struct pct_policy_thread *th,
                                                     const struct pct_policy_view *view,
                                                     enum pct_demotion sign, __u64 count)
{
    (void)view;
    (void)run;
    return pct_no_progress(cfg->seed, th->identity, sign, count) ? PCT_REACT_DEMOTE
                                                                 : PCT_REACT_NONE;
}

PCT_POLICY(PCT) = {
    .name = "pct",
    .enforcement = PCT_ENFORCE_SERIAL,
    .summary = "random priorities, changed at depth-1 random steps",
    .guarantee = "a bug of depth d: at least 1/(n k^(d-1)) in each run",
    .appear = pct_appear,
    .arrive = pct_arrive,
    .wake = pct_wake,
    .stuck = pct_stuck,
};

#endif
