/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random walk: at each step every enabled thread is equally likely to execute. Section II.A of
 * M. Abdelrasoul, "Promoting Secondary Orders of Event Pairs in Randomized Scheduling using a
 * Randomized Stride" (ASE 2017); also the baseline of POS (CAV 2018).
 *
 * Deviations: none. The choice is made by alarms (clock.h), not by numbering the enabled threads.
 */
#ifndef PCTCTL_POLICY_RANDOM_WALK_H
#define PCTCTL_POLICY_RANDOM_WALK_H

#include "clock.h"

static inline __u64 random_walk_arrive(const struct pct_policy_config *cfg,
                                       struct pct_policy_run *run, struct pct_policy_thread *th,
                                       const struct pct_policy_view *view)
{
    (void)view;
    pct_clock_compete(cfg, run, th);
    return 0;
}

PCT_POLICY(RANDOM_WALK) = {
    .name = "random-walk",
    .enforcement = PCT_ENFORCE_STEPWISE,
    .summary = "every enabled thread equally likely at each step",
    .guarantee = "none",
    .appear = pct_stepwise_appear,
    .arrive = random_walk_arrive,
    .select = pct_clock_select,
    .block = pct_stepwise_keep,
    .wake = pct_clock_compete,
};

#endif
