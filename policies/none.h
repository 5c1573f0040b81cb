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

PCT_POLICY(NONE) = {
    .name = "none",
    .enforcement = PCT_ENFORCE_FREE,
    .summary = "the kernel's own choice",
    .guarantee = "none",
    .appear = none_appear,
};

#endif
