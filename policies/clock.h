/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A uniform choice among the enabled threads that touches only the acting thread.
 *
 * Every waiting thread has an alarm, an exponentially distributed time after the moment at which it
 * began to wait; the thread whose alarm rings first is the next, and the run's clock moves to that
 * time. The exponential distribution has no memory: seen from any such moment, the other threads'
 * alarms are again independent and equally distributed, however long they have waited. So each
 * choice is uniform among the enabled threads and independent of all earlier ones, without a look
 * at the others' number. A priority is the alarm's distance from the end of time. The cost of a
 * choice is that of the queue, O(log n), not that of numbering the threads.
 *
 * Exact up to the resolution of the clock: 2^-32 of the mean time.
 */
#ifndef PCTCTL_POLICY_CLOCK_H
#define PCTCTL_POLICY_CLOCK_H

#include "pct.h"

#define PCT_PRIO_CLOCK (1ULL << 61) /* priority of an alarm at time 0 */

/* -ln(u) in units of 2^-32, for u = r / 2^64 uniform in (0, 1]. */
static inline __u64 pct_exponential(__u64 r)
{
    __u64 log2 = 1, fraction = 0, x;
    int i;

    r |= 1;
    for (i = 0; i < 64 && !(r >> 63); i++) {
        r <<= 1;
        log2++;
    }
    /* bits of log2(x), 1 <= x < 2: squaring doubles the logarithm */
    x = r >> 32;
    for (i = 0; i < 32; i++) {
        x = (x * x) >> 31;
        fraction <<= 1;
        if (x >> 32) {
            fraction |= 1;
            x >>= 1;
        }
    }
    return (((log2 << 32) - fraction) * 11629080) >> 24; /* ln(2) */
}

/* The thread's alarm, for a thread that begins to wait at the given time. */
static inline void pct_clock_wait_from(const struct pct_policy_config *cfg,
                                       struct pct_policy_thread *th, __u64 time)
{
    __u64 index = pct_draw_index(th->identity, ++th->draws);

    time += pct_exponential(pct_random(cfg->seed, PCT_RAND_CLOCK, index));
    th->event_priority =
        time < PCT_PRIO_CLOCK - PCT_PRIO_CHANGE ? PCT_PRIO_CLOCK - time : PCT_PRIO_CHANGE;
    th->priority = th->event_priority;
}

/* Compete with all others: all are equally likely to be next. */
static inline void pct_clock_compete(const struct pct_policy_config *cfg,
                                     struct pct_policy_run *run, struct pct_policy_thread *th)
{
    pct_clock_wait_from(cfg, th, run->clock);
}

/* Let one of the others be next, all equally likely, if there is one; compete again after that. */
static inline void pct_clock_give_way(const struct pct_policy_config *cfg,
                                      struct pct_policy_run *run, struct pct_policy_thread *th,
                                      const struct pct_policy_view *view)
{
    __u64 first = view->other < PCT_PRIO_CLOCK ? PCT_PRIO_CLOCK - view->other : 0;

    if (view->other < PCT_PRIO_CHANGE || first < run->clock)
        first = run->clock; /* nobody, or only threads demoted from outside the policy */
    pct_clock_wait_from(cfg, th, first);
}

/* Go on: no other thread is looked at. */
static inline void pct_clock_go_on(struct pct_policy_thread *th)
{
    th->event_priority = PCT_PRIO_RUNNING;
    th->priority = th->event_priority;
}

/* Select hook. */
static inline enum pct_reaction pct_clock_select(const struct pct_policy_config *cfg,
                                                 struct pct_policy_run *run,
                                                 struct pct_policy_thread *th)
{
    if (th->priority > PCT_PRIO_CHANGE && th->priority <= PCT_PRIO_CLOCK)
        run->clock = PCT_PRIO_CLOCK - th->priority;
    return pct_stepwise_select(cfg, run, th);
}

/*
 * Stuck hook of policies under which a thread goes on for long. NeedlePoint (PLDI 2012, section
 * 3.1.3): now and then the policy is overridden for one scheduling point; the probabilities are
 * PCT's.
 */
static PCT_ALWAYS_INLINE enum pct_reaction pct_clock_stuck(const struct pct_policy_config *cfg,
                                                           struct pct_policy_run *run,
                                                           struct pct_policy_thread *th,
                                                           const struct pct_policy_view *view,
                                                           enum pct_demotion sign, __u64 count)
{
    if (pct_no_progress(cfg->seed, th->identity, sign, count))
        pct_clock_give_way(cfg, run, th, view);
    return PCT_REACT_NONE;
}

#endif
