/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which objects matter: those that two threads of a run touch, in ways that do not commute, so that
 * the order of the two may be either. Only steps on such objects need a decision.
 *
 * A touch has no order with another one unless the first was over before the thread that makes the
 * second existed: it was an ancestor's, made before the branch of the family that leads to the
 * second one was created, or its thread had ended before the second one was created. The latter is
 * what this run has shown, and another run may show otherwise: a parent need not have waited for
 * the first child before it made the second. So what matters is learned over several runs.
 *
 * Times are numbers of the run's arrivals at points, from 1 on; 0: never. Threads are given by
 * index + 1.
 */
#ifndef PCTCTL_SHARING_H
#define PCTCTL_SHARING_H

#include "pctctl/base.h"

#define PCT_ANCESTORS 8 /* of a thread that are known; a touch of an older one has no order */
#define PCT_TOUCHES 4   /* threads of an object that are told apart */

/* How a thread touches an object: pct_access_class(). Two ways commute if they have a bit in
 * common. */
#define PCT_CLASS_READS 1u
#define PCT_CLASS_WITHIN 2u
#define PCT_CLASSES 4

/* Of a thread: what that ancestor did until then was over before the thread existed. */
struct pct_ancestor {
    __u32 thread; /* 0: none */
    __u32 unused;
    __u64 until;
};

/* Who the threads before it are. Written when it appears. */
struct pct_lineage {
    __u64 born;                                   /* time */
    struct pct_ancestor ancestors[PCT_ANCESTORS]; /* the creator first */
};

/* What a thread did to an object, the last time that it did. */
struct pct_touch {
    __u32 thread; /* 0: free */
    __u32 unused;
    __u64 last[PCT_CLASSES]; /* time, of each way */
    __u64 name;              /* by which it knows the object, see struct pct_access */
};

/* An object in a run. Zeroed at first. */
struct pct_sharing {
    struct pct_touch touches[PCT_TOUCHES];
    __u32 crowd; /* a bit for each way in which more threads than these did it */
    __u32 matters;
    __u64 steps; /* on it, in the run */
};

/* A thread appears, at the time `now`. */
static inline void pct_descend(struct pct_lineage *child, const struct pct_lineage *creator,
                               __u32 creator_thread, __u64 now)
{
    int i;

    child->born = now;
    child->ancestors[0].thread = creator_thread;
    child->ancestors[0].until = now;
    for (i = 1; i < PCT_ANCESTORS; i++)
        child->ancestors[i] = creator->ancestors[i - 1];
}

/* Until when was what that thread did over before the one of the lineage existed? */
PCT_APART __u64 pct_over_until(const struct pct_lineage *lineage PCT_NONNULL, __u32 thread)
{
    __u32 i;

    PCT_FOR(i, 0, PCT_ANCESTORS)
    if (lineage->ancestors[i & (PCT_ANCESTORS - 1)].thread == thread)
        return lineage->ancestors[i & (PCT_ANCESTORS - 1)].until;
    return 0;
}

/* Do two ways of touching an object commute? */
static inline bool pct_commute(__u32 a, __u32 b)
{
    return a & b;
}

/* When the touch's thread last did something that does not commute with that; 0: never. */
PCT_APART __u64 pct_last_conflict(const struct pct_touch *touch PCT_NONNULL, __u32 how)
{
    __u64 time = 0;
    __u32 i;

    for (i = 0; i < PCT_CLASSES; i++)
        if (!pct_commute(how, i) && touch->last[i] > time)
            time = touch->last[i];
    return time;
}

/*
 * A thread touches the object at the time `now`, in that way, and knows it by that name. `ended`:
 * when the threads of the object's touches ended. True: the object matters, maybe from now on.
 */
static inline bool pct_share(struct pct_sharing *o, __u32 thread, const struct pct_lineage *lineage,
                             __u64 now, __u32 how, __u64 name, const __u64 *ended)
{
    __u32 i, mine = PCT_TOUCHES;
    struct pct_touch *touch;
    __u64 time, end;

    how &= PCT_CLASSES - 1;
    PCT_FOR(i, 0, PCT_TOUCHES)
    {
        touch = &o->touches[i & (PCT_TOUCHES - 1)];
        if (!touch->thread || touch->thread == thread) {
            if (mine == PCT_TOUCHES) /* the free ones are behind those in use */
                mine = i;
            continue;
        }
        time = pct_last_conflict(touch, how);
        end = ended[i & (PCT_TOUCHES - 1)];
        if (time > pct_over_until(lineage, touch->thread) && (!end || end > lineage->born))
            o->matters = 1;
    }
    PCT_FOR(i, 0, PCT_CLASSES)
    if ((o->crowd & 1u << (i & (PCT_CLASSES - 1))) && !pct_commute(how, i))
        o->matters = 1;
    if (mine >= PCT_TOUCHES) {
        o->crowd |= 1u << how;
        return o->matters;
    }
    touch = &o->touches[mine & (PCT_TOUCHES - 1)];
    touch->thread = thread;
    touch->name = name;
    touch->last[how] = now;
    return o->matters;
}

#endif
