/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a thread get anything done, or does it wait in a loop? One that waits makes steps as well:
 * it polls, yields or sleeps in vain, and in between perhaps takes a lock to have a look. What it
 * does with the thread library from one vain step to the next is a lap. A lap is progress if
 *   - it is long,
 *   - it and the ones before are not among the thread's last few again: the same operations at the
 * same places. (Single new ones also come from being interrupted at another place than before.)
 *   - or it is known, but something counts: the sum of registers and of the words on top of the
 * stack has changed by the same amount many times. Such a loop ends. (Times change irregularly.)
 *
 * Called by the thread itself only.
 */
#ifndef PCTCTL_LAP_H
#define PCTCTL_LAP_H

#include "pctctl/base.h"
#include "pctctl/points.h"
#include "pctctl/random.h"

#define PCT_LAPS 8         /* remembered: those seen last; a power of two */
#define PCT_LONGEST_LAP 16 /* operations of a loop that only waits */
#define PCT_COUNTING 16    /* equal changes in a row */
#define PCT_NEW_LAPS 4     /* in a row */

/* Where a thread enters an operation, and with which sum of registers and stack; the same of a lap.
 */
struct pct_lap {
    __u32 places; /* hash */
    __u32 sum;
};

struct pct_known_lap {
    struct pct_lap lap; /* as it was last */
    __u32 change;       /* of its sum then */
    __u32 equal;        /* changes in a row, not 0 */
    __u32 seen;         /* when, in laps */
};

struct pct_laps {
    struct pct_lap now;    /* under way */
    struct pct_lap before; /* the same without the last operation */
    struct pct_known_lap known[PCT_LAPS];
    __u64 tried;  /* what a try operation was for, until it is given back; 0: nothing */
    __u32 length; /* operations of the lap under way */
    __u32 count;  /* laps so far */
    __u32 fresh;  /* new ones in a row */
};

/* The thread has gone through a lap that it knows. Does it count? */
static PCT_ALWAYS_INLINE bool pct_lap_counts(struct pct_known_lap *known, __u32 sum)
{
    __u32 change = sum - known->lap.sum;

    known->equal = change && change == known->change ? known->equal + 1 : 0;
    known->change = change;
    known->lap.sum = sum;
    return known->equal >= PCT_COUNTING;
}

/* The lap under way is over. Is it progress? */
static PCT_ALWAYS_INLINE bool pct_lap_is_progress(struct pct_laps *laps)
{
    struct pct_known_lap *lap;
    __u32 oldest = 0;
    int i;

    laps->count++;
    for (i = 0; i < PCT_LAPS; i++) {
        lap = &laps->known[i];
        if (lap->lap.places == laps->now.places) {
            laps->fresh = 0;
            lap->seen = laps->count;
            return pct_lap_counts(lap, laps->now.sum);
        }
        if (laps->count - lap->seen > laps->count - laps->known[oldest & (PCT_LAPS - 1)].seen)
            oldest = i;
    }
    lap = &laps->known[oldest & (PCT_LAPS - 1)];
    lap->lap = laps->now;
    lap->change = 0;
    lap->equal = 0;
    lap->seen = laps->count;
    return ++laps->fresh >= PCT_NEW_LAPS;
}

/* It waits in vain. True: but what it did before was progress. */
static PCT_ALWAYS_INLINE bool pct_lap_ends(struct pct_laps *laps)
{
    /* a long one has been counted already */
    bool progress = laps->length && laps->length <= PCT_LONGEST_LAP && pct_lap_is_progress(laps);

    laps->now.places = 0;
    laps->now.sum = 0;
    laps->length = 0;
    return progress;
}

/*
 * It enters an operation of the thread library on this object. True: this is progress. If not,
 * pct_lap_goes_on() is to follow.
 */
static PCT_ALWAYS_INLINE bool pct_lap_operation(struct pct_laps *laps, __u64 object)
{
    if (laps->tried == object)
        laps->tried = 0;
    return ++laps->length > PCT_LONGEST_LAP;
}

static PCT_ALWAYS_INLINE void pct_lap_goes_on(struct pct_laps *laps, const struct pct_lap *place)
{
    laps->before = laps->now;
    laps->now.places = pct_mix((__u64)laps->now.places << 32 | place->places);
    laps->now.sum += place->sum;
}

/*
 * It enters an operation that does not wait for its object. Whether it has got that is known by
 * what follows: the thread gives the object back, or tries again, now for this or another one.
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
        laps->now = laps->before;
        laps->length--;
    }
    return pct_lap_ends(laps);
}

enum pct_call_result {
    PCT_CALL_NOTHING, /* says nothing */
    PCT_CALL_PROGRESS,
    PCT_CALL_IN_VAIN,   /* it waits in vain */
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
