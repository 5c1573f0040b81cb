/* SPDX-License-Identifier: GPL-2.0-only */
/* Priorities, and why they change: what policies and scheduler agree on. */
#ifndef PCTCTL_PRIORITY_H
#define PCTCTL_PRIORITY_H

#include "pctctl/base.h"

#define PCT_MAX_DEPTH 64 /* the largest --depth */

/*
 * Priorities: larger runs first. Three bands, from below:
 *   1 .. PCT_PRIO_CHANGE-1       demoted threads; each demotion goes below all earlier ones
 *   PCT_PRIO_CHANGE + i          change point i (1 <= i < d), the paper's priority i
 *   PCT_PRIO_INITIAL ..          initial priorities, a random permutation (PCT, section 2.5)
 * All are below 2^62, so that the kernel's signed comparison of queue keys orders them.
 */
#define PCT_PRIO_CHANGE (1ULL << 32)
#define PCT_PRIO_INITIAL (1ULL << 33)
#define PCT_PRIO_MAX ((1ULL << 62) - 1)

/* Why a priority changed, besides the steps' change points. */
enum pct_demotion {
    PCT_DEMOTE_YIELD = 1,      /* repeated sched_yield */
    PCT_DEMOTE_POLL = 2,       /* a polling operation repeated at one place */
    PCT_DEMOTE_LOOP = 3,       /* very many steps without blocking */
    PCT_DEMOTE_SPIN = 4,       /* --spin-limit of CPU time without a step */
    PCT_DEMOTE_FINAL_WAIT = 5, /* PCT section 4.2, part of the algorithm: not an intervention */
    PCT_DEMOTE_STARVE = 6,     /* very many steps of the run while the lowest thread waits */
    PCT_DEMOTE_NR = 8
};

struct pct_change_point {
    __u64 step;     /* 1 .. k, ascending */
    __u64 priority; /* absolute, PCT_PRIO_CHANGE + i */
};

/* Priority of the count-th demotion (1, 2, ...) of a run: below every priority before it. */
static inline __u64 pct_demoted_priority(__u64 count)
{
    return count < PCT_PRIO_CHANGE ? PCT_PRIO_CHANGE - count : 1;
}

#endif
