/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preemption bounding, randomized: a thread goes on until it blocks or ends, but for a few steps
 * chosen beforehand at which it is preempted. Whenever a thread is to be chosen, each enabled one
 * (at a preemption: each other one) is equally likely. NeedlePoint: Nagarakatte, Burckhardt,
 * Martin, Musuvathi, PLDI 2012, section 3.2.
 *
 * The steps are pct_policy_config.change_points; their priorities mean nothing.
 *
 * Deviations:
 * - As in preempt-always.h, a preempted thread is not the next one if there is another.
 * - A thread whose operation turns out to have to wait was chosen nevertheless: the one preempted
 *   before it may be next.
 * - "Using a distribution": ours is uniform and independent in 1 .. k. Two points may coincide, and
 *   one may fall on a thread's first step, where there is nothing to preempt.
 * - Starvation: the signs and probabilities are those of pct.h.
 */
#ifndef PCTCTL_POLICY_PREEMPT_BOUND_H
#define PCTCTL_POLICY_PREEMPT_BOUND_H

#include "clock.h"

static inline struct pct_change_point preempt_bound_point(__u64 seed, __u32 i, __u32 k)
{
    struct pct_change_point point = {
        .step = pct_random_upto(seed, PCT_RAND_PREEMPTION, i, k),
        .priority = 0,
    };

    return point;
}

static inline __u64 preempt_bound_arrive(const struct pct_policy_config *cfg,
                                         struct pct_policy_run *run, struct pct_policy_thread *th,
                                         const struct pct_policy_view *view)
{
    bool preempt = false;
    int i;

    for (i = 0; i < PCT_MAX_DEPTH; i++) {
        __u32 next = run->next_change;

        if (next >= cfg->nr_change_points || next >= PCT_MAX_DEPTH ||
            cfg->change_points[next].step != run->steps)
            break;
        preempt = true;
        run->next_change = next + 1;
    }
    if (th->steps == 1)
        pct_clock_compete(cfg, run, th);
    else if (preempt)
        pct_clock_give_way(cfg, run, th, view);
    else
        pct_clock_go_on(th);
    return 0;
}

PCT_POLICY(PREEMPT_BOUND) = {
    .name = "preempt-bound",
    .enforcement = PCT_ENFORCE_STEPWISE,
    .summary = "a few preemptions at random steps, a random next thread",
    .guarantee = "none",
    .appear = pct_stepwise_appear,
    .arrive = preempt_bound_arrive,
    .select = pct_clock_select,
    .block = pct_stepwise_keep,
    .wake = pct_clock_compete,
    .stuck = pct_clock_stuck,
};

#endif
