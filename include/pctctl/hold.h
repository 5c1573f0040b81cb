/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Holds: a thread of a run is out of reach, yet not blocked in the program's sense, and those below
 * it stand still. Begun by the thread itself, ended by it, by another one that has got the lock it
 * waits for, or because the controller has waited long enough: at any time, on any CPU, and each
 * hold once.
 */
#ifndef PCTCTL_HOLD_H
#define PCTCTL_HOLD_H

#include "pctctl/base.h"

/*
 * `id` decides whose the element is: 0 nobody's, PCT_HOLD_BUSY of whoever is changing it, else one
 * hold's and never again another one's. All else is written by who has made it busy, so that nobody
 * ever sees the lock of an earlier hold, or ends a hold that he did not mean.
 */
#define PCT_HOLD_BUSY (~0ULL)

struct pct_hold {
    __u64 id;
    __u64 priority; /* of the thread; 0: none is held for */
    __u64 count;    /* of threads held for in this element so far */
    __u64 lock;     /* the kernel's lock that it waits for; 0: something else */
};

/* False: the element is in use. */
static inline bool pct_hold_begin(struct pct_hold *hold, __u64 id, __u64 priority, __u64 lock)
{
    if (__sync_val_compare_and_swap(&hold->id, 0, PCT_HOLD_BUSY) != 0)
        return false;
    hold->lock = lock;
    hold->count++;
    hold->priority = priority;
    __sync_val_compare_and_swap(&hold->id, PCT_HOLD_BUSY, id);
    return true;
}

/* False: this hold has been ended before. */
static inline bool pct_hold_end(struct pct_hold *hold, __u64 id)
{
    if (!id || id == PCT_HOLD_BUSY ||
        __sync_val_compare_and_swap(&hold->id, id, PCT_HOLD_BUSY) != id)
        return false;
    hold->priority = 0;
    hold->lock = 0;
    __sync_val_compare_and_swap(&hold->id, PCT_HOLD_BUSY, 0);
    return true;
}

/* Of a thread that waits for this lock. */
static inline bool pct_hold_end_for_lock(struct pct_hold *hold, __u64 lock)
{
    __u64 id = *(volatile __u64 *)&hold->id;

    return *(volatile __u64 *)&hold->lock == lock && pct_hold_end(hold, id);
}

#endif
