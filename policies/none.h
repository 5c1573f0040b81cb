/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * No policy: threads execute as the kernel pleases, the same points are counted and the same
 * outcomes reported. The stress baseline.
 *
 * The mechanism enforces nothing: priorities are all equal.
 */
#ifndef PCTCTL_POLICY_NONE_H
#define PCTCTL_POLICY_NONE_H

#include "policy.h"

static inline void none_appear(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                               struct pct_policy_thread *th)
{
    pct_policy_nothing(cfg, run, th);
    th->priority = PCT_PRIO_INITIAL;
}

static inline __u64 none_arrive(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                struct pct_policy_thread *th, const struct pct_policy_view *view)
{
    pct_policy_nothing(cfg, run, th);
    (void)view;
    return 0;
}

#endif
