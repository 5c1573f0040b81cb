/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preemption always: at each step another thread goes on, every other enabled one with the same
 * probability. NeedlePoint: Nagarakatte, Burckhardt, Martin, Musuvathi, PLDI 2012, section 3.2.
 *
 * Deviations:
 * - The paper does not say whether the preempted thread may be the next one. Here it may not, if
 *   there is another.
 * - A thread whose operation turns out to have to wait was chosen nevertheless: the one preempted
 *   before it may be next.
 */
#ifndef PCTCTL_POLICY_PREEMPT_ALWAYS_H
#define PCTCTL_POLICY_PREEMPT_ALWAYS_H

#include "clock.h"

static inline __u64 preempt_always_arrive(const struct pct_policy_config *cfg,
                                          struct pct_policy_run *run, struct pct_policy_thread *th,
                                          const struct pct_policy_view *view)
{
    if (th->steps == 1) /* nothing to preempt: it has not executed anything */
        pct_clock_compete(cfg, run, th);
    else
        pct_clock_give_way(cfg, run, th, view);
    return 0;
}

PCT_POLICY(PREEMPT_ALWAYS) = {
    .name = "preempt-always",
    .enforcement = PCT_ENFORCE_STEPWISE,
    .summary = "at each step another thread, all equally likely",
    .guarantee = "none",
    .appear = pct_stepwise_appear,
    .arrive = preempt_always_arrive,
    .select = pct_clock_select,
    .block = pct_stepwise_keep,
    .wake = pct_clock_compete,
};

#endif
