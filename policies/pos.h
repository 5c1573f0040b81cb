/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * POS: every event has a random priority; the priorities of the events that race with an executed
 * one are drawn anew. Section 4.2 and Algorithm 4 (section 5) of Yuan, Yang, Gu: "Partial Order
 * Aware Concurrency Sampling" (CAV 2018). With PCT_OPTION_READ_ONLY, the relaxation of section 5
 * (POS*).
 *
 * Deviations:
 * - An event that has to wait competes until it blocks, as the operation itself has to find that
 *   out. It gets a new priority when it is enabled again: what enabled it acted on its object.
 * - Priorities are drawn anew after the step, when its thread arrives at the next one, instead of
 *   before. Nothing is decided in between, and a step that blocked has raced with nobody.
 */
#ifndef PCTCTL_POLICY_POS_H
#define PCTCTL_POLICY_POS_H

#include "basic-pos.h"

static inline enum pct_reaction pos_executed(const struct pct_policy_config *cfg,
                                             struct pct_policy_run *run,
                                             struct pct_policy_thread *th)
{
    (void)cfg;
    (void)run;
    return th->event.object ? PCT_REACT_CONFLICTS : PCT_REACT_NONE;
}

PCT_POLICY(POS) = {
    .name = "pos",
    .enforcement = PCT_ENFORCE_STEPWISE,
    .summary = "a random priority for each event, drawn anew after each race",
    .guarantee = "each partial order: at least (1/P)^|V| R^U in each run (POS, Theorem 1)",
    .appear = pct_stepwise_appear,
    .arrive = basic_pos_arrive,
    .select = pct_stepwise_select,
    .block = pct_stepwise_keep,
    .wake = basic_pos_redraw,
    .executed = pos_executed,
    .disturbed = basic_pos_disturbed,
    .stuck = basic_pos_stuck,
};

#endif
