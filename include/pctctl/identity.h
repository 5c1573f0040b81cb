/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is who in every run of a program, whatever the order in which threads appear; and what a
 * run's order of steps is known by.
 */
#ifndef PCTCTL_IDENTITY_H
#define PCTCTL_IDENTITY_H

#include "pctctl/random.h"

/* Identity of the first thread; of another, from its creator's and its ordinal among its children.
 */
#define PCT_ROOT_IDENTITY 0x5043542d726f6f74ULL

static inline __u64 pct_child_identity(__u64 parent, __u32 ordinal)
{
    return pct_mix(parent ^ pct_mix(ordinal));
}

/* One step more in the run's order hash. */
static inline __u64 pct_order_hash(__u64 hash, __u64 identity, __u32 kind)
{
    return pct_mix(hash ^ pct_mix(identity + kind));
}

#endif
