/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PPCT, the parallel PCT: Nagarakatte, Burckhardt, Martin, Musuvathi, "Multicore Acceleration of
 * Priority-Based Schedulers for Concurrency Bug Detection", PLDI 2012, sections 5 and 6.
 *
 * All enabled threads above pct_policy_run.low execute in parallel, or any of them. Those at or
 * below it, at most d, execute one at a time, the highest first, and only if none above is enabled.
 *
 * Deviations:
 * - Those of pct.h: change points act before their step, of several at one step the one of highest
 *   priority counts, and the permutation is drawn lazily.
 * - All steps are counted, those with no other thread enabled too.
 * - The one thread that starts in the low set (p[t] = d in Fig. 4) is the lowest so far: when a
 *   lower one appears, that one takes its place. Up to then the former was merely not chosen, which
 *   line 10 of Fig. 4 allows; so the proof holds unchanged.
 * - Starvation (section 5.5): the signs and probabilities are those of pct.h. The low thread that
 *   gets one step is the one of highest random key among those waiting, hence a uniform choice;
 *   the thread that started low is one of them. One that waits between two steps gets no further
 *   than the next one.
 */
#ifndef PCTCTL_POLICY_PPCT_H
#define PCTCTL_POLICY_PPCT_H

#include "pct.h"

static inline void ppct_appear(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                               struct pct_policy_thread *th)
{
    pct_appear(cfg, run, th);
    if (!run->low || th->priority < run->low)
        run->low = th->priority;
}

/* The step for which a thread was bumped is over. */
static inline enum pct_reaction ppct_executed(const struct pct_policy_config *cfg,
                                              struct pct_policy_run *run,
                                              struct pct_policy_thread *th)
{
    pct_policy_nothing(cfg, run, th);
    if (th->bumped)
        th->priority = th->bumped;
    th->bumped = 0;
    return PCT_REACT_NONE;
}

static PCT_ALWAYS_INLINE enum pct_reaction ppct_stuck(const struct pct_policy_config *cfg,
                                                      struct pct_policy_run *run,
                                                      struct pct_policy_thread *th,
                                                      const struct pct_policy_view *view,
                                                      enum pct_demotion sign, __u64 count)
{
    (void)view;
    if (!pct_no_progress(cfg->seed, th->identity, sign, count))
        return PCT_REACT_NONE;
    run->bumps++;
    return PCT_REACT_BUMP;
}

/*
 * PCT_REACT_BUMP: of the threads waiting at or below pct_policy_run.low, if any, the mechanism
 * looks for the one with the highest key and calls pct_policy_bump() for it.
 */
static inline __u64 pct_policy_bump_key(const struct pct_policy_config *cfg,
                                        const struct pct_policy_run *run,
                                        const struct pct_policy_thread *th)
{
    return pct_random(cfg->seed, PCT_RAND_BUMP, pct_draw_index(th->identity, run->bumps));
}

static inline void pct_policy_bump(struct pct_policy_thread *th)
{
    th->bumped = th->priority;
    th->priority = PCT_PRIO_MAX;
}

PCT_POLICY(PPCT) = {
    .name = "ppct",
    .enforcement = PCT_ENFORCE_ADMISSIBLE,
    .summary = "PCT with all but at most depth threads running in parallel",
    .guarantee = "a bug of depth d: at least 1/(n k^(d-1)) in each run",
    .appear = ppct_appear,
    .arrive = pct_arrive,
    .executed = ppct_executed,
    .stuck = ppct_stuck,
};

#endif
