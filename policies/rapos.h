/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RAPOS: steps are made in batches of independent events. The baseline of POS (Yuan, Yang, Gu, CAV
 * 2018); K. Sen, "Effective Random Testing of Concurrent Programs", ASE 2007.
 *
 * A batch begins with a random one of the schedulable threads; each other schedulable thread whose
 * event is independent of all in the batch joins it with probability 1/2. All in it execute.
 * Schedulable after that are the threads whose event depends on one of the batch: those at a
 * conflicting event, those which executed one, and those it enabled. If there are none, all enabled
 * threads are.
 *
 * Bands of priorities, from above: the batch, the schedulable, the others. Within each the order is
 * random, so the highest one of the schedulable or, without any, of the others begins a batch.
 *
 * Deviations:
 * - POS does not print the algorithm; this is Sen's as we know it. Threads are asked to join in a
 *   random order.
 * - A batch has at most PCT_MAX_BATCH different objects.
 * - A thread whose operation turns out to have to wait may have begun a batch or joined one.
 */
#ifndef PCTCTL_POLICY_RAPOS_H
#define PCTCTL_POLICY_RAPOS_H

#include "policy.h"

#define RAPOS_BATCH (1ULL << 61)
#define RAPOS_SCHEDULABLE (1ULL << 60)
#define RAPOS_OTHERS (1ULL << 33)

static inline __u64 rapos_draw(const struct pct_policy_config *cfg, struct pct_policy_thread *th,
                               enum pct_purpose purpose)
{
    return pct_random(cfg->seed, purpose, pct_draw_index(th->identity, ++th->draws));
}

static inline void rapos_place(const struct pct_policy_config *cfg, struct pct_policy_thread *th,
                               __u64 band)
{
    th->event_priority = band + (rapos_draw(cfg, th, PCT_RAND_ORDER) >> 5);
    th->priority = th->event_priority;
}

/* Wake hook, too: what enabled the thread was in the batch. */
static inline void rapos_schedulable(const struct pct_policy_config *cfg,
                                     struct pct_policy_run *run, struct pct_policy_thread *th)
{
    (void)run;
    rapos_place(cfg, th, RAPOS_SCHEDULABLE);
}

static inline __u64 rapos_arrive(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                 struct pct_policy_thread *th, const struct pct_policy_view *view)
{
    (void)view;
    rapos_schedulable(cfg, run, th);
    return 0;
}

static inline void rapos_join(struct pct_policy_run *run, struct pct_policy_thread *th)
{
    if (th->event.object && run->batch_nr < PCT_MAX_BATCH)
        run->batch[run->batch_nr++] = th->event;
}

static inline bool rapos_may_join(const struct pct_policy_config *cfg,
                                  const struct pct_policy_run *run, struct pct_policy_thread *th)
{
    int i;

    for (i = 0; i < PCT_MAX_BATCH; i++)
        if ((__u32)i < run->batch_nr && pct_conflict(cfg, &run->batch[i], &th->event))
            return false;
    return run->batch_nr < PCT_MAX_BATCH;
}

/* A thread that is not in the batch goes on only when nobody is left in it: it begins the next. */
static inline enum pct_reaction rapos_select(const struct pct_policy_config *cfg,
                                             struct pct_policy_run *run,
                                             struct pct_policy_thread *th)
{
    bool begins = th->priority < RAPOS_BATCH;

    if (begins) {
        run->batch_all = th->priority < RAPOS_SCHEDULABLE;
        run->batch_nr = 0;
        rapos_join(run, th);
    }
    pct_stepwise_select(cfg, run, th);
    return begins ? PCT_REACT_ALL : PCT_REACT_NONE;
}

static inline enum pct_reaction rapos_executed(const struct pct_policy_config *cfg,
                                               struct pct_policy_run *run,
                                               struct pct_policy_thread *th)
{
    pct_policy_nothing(cfg, run, th);
    return th->event.object ? PCT_REACT_CONFLICTS : PCT_REACT_NONE;
}

static inline void rapos_disturbed(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                   struct pct_policy_thread *th, const struct pct_pending *by)
{
    if (by) { /* it depends on an event of the batch */
        if (th->priority < RAPOS_SCHEDULABLE)
            rapos_schedulable(cfg, run, th);
        return;
    }
    if (!run->batch_all && th->priority < RAPOS_SCHEDULABLE)
        return;
    if ((rapos_draw(cfg, th, PCT_RAND_COIN) & 1) && rapos_may_join(cfg, run, th)) {
        rapos_join(run, th);
        rapos_place(cfg, th, RAPOS_BATCH);
    } else {
        rapos_place(cfg, th, RAPOS_OTHERS);
    }
}

PCT_POLICY(RAPOS) = {
    .name = "rapos",
    .enforcement = PCT_ENFORCE_STEPWISE,
    .summary = "random batches of independent events",
    .guarantee = "none",
    .appear = pct_stepwise_appear,
    .arrive = rapos_arrive,
    .select = rapos_select,
    .block = pct_stepwise_keep,
    .wake = rapos_schedulable,
    .executed = rapos_executed,
    .disturbed = rapos_disturbed,
};

#endif
