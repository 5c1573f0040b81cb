/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random sleep: threads run in parallel, and each sleeps before a step with a small probability.
 * NeedlePoint (Nagarakatte, Burckhardt, Martin, Musuvathi, PLDI 2012, section 3.2), 1/30; PCT
 * (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010, section 5.1.2), 1/50.
 *
 * Deviations: the length of the sleep, "a small delay", is a parameter.
 */
#ifndef PCTCTL_POLICY_RANDOM_SLEEP_H
#define PCTCTL_POLICY_RANDOM_SLEEP_H

#include "none.h"

static inline __u64 random_sleep_arrive(const struct pct_policy_config *cfg,
                                        struct pct_policy_run *run, struct pct_policy_thread *th,
                                        const struct pct_policy_view *view)
{
    __u64 index = pct_draw_index(th->identity, th->steps);

    (void)run;
    (void)view;
    return pct_random_upto(cfg->seed, PCT_RAND_SLEEP, index, cfg->sleep_one_in) == 1 ? cfg->sleep_ns
                                                                                     : 0;
}

PCT_POLICY(RANDOM_SLEEP) = {
    .name = "random-sleep",
    .enforcement = PCT_ENFORCE_FREE,
    .summary = "threads in parallel, sleeping before a step now and then",
    .guarantee = "none",
    .appear = none_appear,
    .arrive = random_sleep_arrive,
};

#endif
