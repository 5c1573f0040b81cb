/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RPro, the radius-aware PCT: Cai, Yang, "Radius Aware Probabilistic Testing of Deadlocks with
 * Guarantees", ASE 2016, as far as Abdelrasoul's stride paper (ASE 2017, section V.B) describes it:
 * PCT whose change points lie within a radius r of each other, which allows greater depths.
 *
 * In the kernel it is PCT; only the change points differ. The earliest is uniform in 1 .. k, each
 * of the d-1 being equally likely to be that one, and the others follow it at a distance uniform in
 * 1 .. r.
 *
 * Deviations:
 * - Those of pct.h.
 * - That description does not say how the points are drawn. Ours keeps PCT's proof (Theorem 9): the
 *   steps at which the events b_2 .. b_d are reached, in whatever order, are guessed with
 *   probability at least 1/(n k (d-1) r^(d-2)) if the last is no more than r steps after the first.
 *   For d <= 2 it is PCT.
 */
#ifndef PCTCTL_POLICY_RPRO_H
#define PCTCTL_POLICY_RPRO_H

#include "pct.h"

/* The i-th change point (1 <= i < depth) of a run with at most k steps, k >= 1, radius >= 1. */
static inline struct pct_change_point rpro_change_point(__u64 seed, __u32 i, __u32 depth, __u32 k,
                                                        __u32 radius)
{
    __u32 first = pct_random_upto(seed, PCT_RAND_RADIUS, 0, depth - 1);
    struct pct_change_point point = pct_change_point(seed, first, k, 0);

    point.priority = PCT_PRIO_CHANGE + i;
    if (i != first)
        point.step += pct_random_upto(seed, PCT_RAND_RADIUS, i, radius);
    return point;
}

PCT_POLICY(RPRO) = {
    .name = "rpro",
    .enforcement = PCT_ENFORCE_SERIAL,
    .summary = "PCT with change points within a radius of each other",
    .guarantee = "a bug of depth d and radius r: at least 1/(n k (d-1) r^(d-2)) in each run",
    .appear = pct_appear,
    .arrive = pct_arrive,
    .stuck = pct_stuck,
};

#endif
