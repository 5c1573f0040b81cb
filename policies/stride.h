/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Randomized stride: a thread chosen as in the random walk executes s steps, s uniform in 1 ..
 * s_max. Section IV of M. Abdelrasoul, "Promoting Secondary Orders of Event Pairs in Randomized
 * Scheduling using a Randomized Stride" (ASE 2017).
 *
 * s_max is the thread's own, ceil(L / ratio) for a thread of length L measured in earlier runs, or
 * one for all. With s_max = 1 this is the random walk.
 *
 * Deviations:
 * - All steps count, those with no other thread enabled too, which the paper leaves out: they do
 *   not end a stride early, they use it up.
 */
#ifndef PCTCTL_POLICY_STRIDE_H
#define PCTCTL_POLICY_STRIDE_H

#include "clock.h"

static inline void stride_appear(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                 struct pct_policy_thread *th)
{
    int i;

    pct_stepwise_appear(cfg, run, th);
    th->stride_max = cfg->stride_max;
    for (i = 0; i < PCT_MAX_STRIDES; i++)
        if ((__u32)i < cfg->nr_strides && cfg->strides[i].identity == th->identity)
            th->stride_max = cfg->strides[i].stride_max;
}

static inline __u64 stride_arrive(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                  struct pct_policy_thread *th, const struct pct_policy_view *view)
{
    (void)view;
    if (th->stride_left) {
        th->stride_left--;
        pct_clock_go_on(th);
    } else {
        pct_clock_compete(cfg, run, th);
    }
    return 0;
}

static inline enum pct_reaction stride_select(const struct pct_policy_config *cfg,
                                              struct pct_policy_run *run,
                                              struct pct_policy_thread *th)
{
    __u64 index = pct_draw_index(th->identity, th->steps);

    if (th->priority != PCT_PRIO_RUNNING)
        th->stride_left =
            pct_random_upto(cfg->seed, PCT_RAND_STRIDE, index, (__u32)th->stride_max) - 1;
    return pct_clock_select(cfg, run, th);
}

static inline void stride_block(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                struct pct_policy_thread *th)
{
    th->stride_left = 0;
    pct_stepwise_keep(cfg, run, th);
}

PCT_POLICY(STRIDE) = {
    .name = "stride",
    .enforcement = PCT_ENFORCE_STEPWISE,
    .summary = "the random walk with a random number of steps at a time",
    .guarantee = "none",
    .appear = stride_appear,
    .arrive = stride_arrive,
    .select = stride_select,
    .block = stride_block,
    .wake = pct_clock_compete,
    .stuck = pct_clock_stuck,
};

#endif
