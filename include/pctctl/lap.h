/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a thread get anything done, or does it wait in a loop? One that waits makes steps as well: it polls,
 * yields or sleeps in vain, and in between perhaps takes a lock to have a look. What it does with the
 * thread library from one vain step to the next is a lap. A lap is progress if it is long, or if it
 * is not one of the thread's last few again: the same operations at the same places, with the same
 * contents of registers and of the top of the stack, where a loop that ends would count.
 *
 * Called by the thread itself only.
 */
#ifndef PCTCTL_LAP_H
#define PCTCTL_LAP_H

#include "pctctl/base.h"
#include "pctctl/points.h"
#include "pctctl/random.h"

#define PCT_LAPS 4         /* remembered, a power of two */
#define PCT_LONGEST_LAP 16 /* operations of a loop that only waits */

struct pct_laps {
    __u64 hash;           /* of the lap under way */
    __u64 before;         /* the same without the last operation */
    __u64 last[PCT_LAPS]; /* of the last different ones */
    __u64 tried;          /* what a try operation was for, until it is given back; 0: nothing */
    __u32 length;         /* operations of the lap under way */
    __u32 count;          /* different laps */
};

/* It waits in vain. True: but what it did before was progress. */
static PCT_ALWAYS_INLINE bool pct_lap_ends(struct pct_laps *laps)
{
    /* a long one has been counted already */
    bool known = !laps->length || laps->length > PCT_LONGEST_LAP;
    int i;

    for (i = 0; i < PCT_LAPS; i++)
        known |= laps->last[i] == laps->hash;
    if (!known)
        laps->last[laps->count++ & (PCT_LAPS - 1)] = laps->hash;
    laps->hash = 0;
    laps->length = 0;
    return !known;
}

/*
 * It enters an operation of the thread library on this object. True: this is progress. If not,
 * pct_lap_place() is to follow.
 */
static PCT_ALWAYS_INLINE bool pct_lap_operation(struct pct_laps *laps, __u64 object)
{
    if (laps->tried == object)
        laps->tried = 0;
    return ++laps->length > PCT_LONGEST_LAP;
}

/* `place`: hash of where it is and of its state there. */
static PCT_ALWAYS_INLINE void pct_lap_place(struct pct_laps *laps, __u64 place)
{
    laps->before = laps->hash;
    laps->hash = pct_mix(laps->hash ^ place);
}

/*
 * The same of an operation that does not wait for its object. Whether it has got that is known by what
 * follows: the thread gives the object back, or tries again, now for this or another one.
 */
static PCT_ALWAYS_INLINE bool pct_lap_try(struct pct_laps *laps, __u64 object)
{
    bool progress = laps->tried && pct_lap_ends(laps);

    laps->tried = object;
    return progress;
}

/* The operation under way, which has waited for a time only, was the vain step. */
static PCT_ALWAYS_INLINE bool pct_lap_times_out(struct pct_laps *laps)
{
    if (laps->length) {
        laps->hash = laps->before;
        laps->length--;
    }
    return pct_lap_ends(laps);
}

enum pct_call_result {
    PCT_CALL_NOTHING,  /* says nothing */
    PCT_CALL_PROGRESS,
    PCT_CALL_IN_VAIN,  /* it waits in vain */
    PCT_CALL_TIMES_OUT, /* so does the operation of the thread library that it is part of */
};

#define PCT_EAGAIN 11
#define PCT_ETIMEDOUT 110
#define PCT_MAX_ERRNO 4095

/*
 * A system call returns. `traits`: PCT_POINT_* of it, 0: it is no point, or part of an operation of
 * the thread library; `sleeps`: for a time, and does nothing else; `futex`: it waits for a word.
 */
static PCT_ALWAYS_INLINE enum pct_call_result pct_call_result(__u32 traits, bool sleeps, bool futex,
                                                              long ret)
{
    if (futex && ret == -PCT_EAGAIN)
        return PCT_CALL_NOTHING; /* the word has changed */
    if (futex && ret == -PCT_ETIMEDOUT && !traits)
        return PCT_CALL_TIMES_OUT;
    if (ret < 0 && ret >= -PCT_MAX_ERRNO)
        return PCT_CALL_IN_VAIN;
    if (!traits)
        return PCT_CALL_NOTHING;
    if (sleeps || (traits & PCT_POINT_YIELD) || (!ret && (traits & PCT_POINT_ZERO_FAILS)))
        return PCT_CALL_IN_VAIN;
    return PCT_CALL_PROGRESS;
}

#endif
