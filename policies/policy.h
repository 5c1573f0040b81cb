/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a scheduling policy sees and decides. Policies are plain C compiled unchanged into the BPF
 * scheduler and into host programs; they never touch sched_ext. A policy decides priorities, the
 * scheduler enforces them.
 */
#ifndef PCTCTL_POLICY_H
#define PCTCTL_POLICY_H

#include "pctctl/random.h"
#include "pctctl/run.h"

/* Identity of a thread from its creator's and its ordinal among the creator's children. */
static inline __u64 pct_child_identity(__u64 parent, __u32 ordinal)
{
    return pct_mix(parent ^ pct_mix(ordinal));
}

/* One step more in the run's order hash. */
static inline __u64 pct_order_hash(__u64 hash, __u64 identity, __u32 kind)
{
    return pct_mix(hash ^ pct_mix(identity + kind));
}

/* Priority of the count-th demotion (1, 2, ...) of a run: below every priority before it. */
static inline __u64 pct_demoted_priority(__u64 count)
{
    return count < PCT_PRIO_CHANGE ? PCT_PRIO_CHANGE - count : 1;
}

#endif
