/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BasicPOS: every event has a random priority, drawn once. Section 4.1, Algorithm 2 of Yuan, Yang,
 * Gu: "Partial Order Aware Concurrency Sampling" (CAV 2018).
 *
 * Deviations:
 * - A priority belongs to a thread's i-th event, whatever that event is.
 * - In a busy loop a thread's priorities are drawn anew at each round, so that it is fair with
 *   probability 1 as it stands; still the paper's fairness workaround (section 5) is there, as for
 *   pos.
 */
#ifndef PCTCTL_POLICY_BASIC_POS_H
#define PCTCTL_POLICY_BASIC_POS_H

#include "policy.h"

/* A new priority for the thread's pending event. */
static inline void basic_pos_draw(const struct pct_policy_config *cfg, struct pct_policy_thread *th)
{
    __u64 index = pct_draw_index(th->identity, ++th->draws);

    th->event_priority = 1 + (pct_random(cfg->seed, PCT_RAND_EVENT, index) >> 3);
    th->priority = th->event_priority;
}

static inline __u64 basic_pos_arrive(const struct pct_policy_config *cfg,
                                     struct pct_policy_run *run, struct pct_policy_thread *th,
                                     const struct pct_policy_view *view)
{
    (void)run;
    (void)view;
    basic_pos_draw(cfg, th);
    return 0;
}

/* Section 5, "Fairness workaround": all priorities are reset every yields_per_reset yields. */
static PCT_ALWAYS_INLINE enum pct_reaction basic_pos_stuck(const struct pct_policy_config *cfg,
                                                           struct pct_policy_run *run,
                                                           struct pct_policy_thread *th,
                                                           const struct pct_policy_view *view,
                                                           enum pct_demotion sign, __u64 count)
{
    (void)view;
    (void)th;
    (void)count;
    if (sign != PCT_DEMOTE_YIELD || !cfg->yields_per_reset)
        return PCT_REACT_NONE;
    return ++run->yields % cfg->yields_per_reset ? PCT_REACT_NONE : PCT_REACT_ALL;
}

/* Wake hook of POS, disturbed hook of both. */
static inline void basic_pos_redraw(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                    struct pct_policy_thread *th)
{
    (void)run;
    basic_pos_draw(cfg, th);
}

static inline void basic_pos_disturbed(const struct pct_policy_config *cfg,
                                       struct pct_policy_run *run, struct pct_policy_thread *th,
                                       const struct pct_pending *by)
{
    (void)by;
    basic_pos_redraw(cfg, run, th);
}

PCT_POLICY(BASIC_POS) = {
    .name = "basic-pos",
    .enforcement = PCT_ENFORCE_STEPWISE,
    .summary = "a random priority for each event",
    .guarantee = "none",
    .appear = pct_stepwise_appear,
    .arrive = basic_pos_arrive,
    .select = pct_stepwise_select,
    .block = pct_stepwise_keep,
    .wake = pct_stepwise_keep,
    .disturbed = basic_pos_disturbed,
    .stuck = basic_pos_stuck,
};

#endif
