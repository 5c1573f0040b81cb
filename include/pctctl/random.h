/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only source of randomness in a run: a counter-based generator. A value is a function of
 * (seed, purpose, index) alone, so every decision can be recomputed on the host. An index never
 * counts what other threads have drawn; some count the thread's own draws or steps, and bumps those
 * of the run.
 */
#ifndef PCTCTL_RANDOM_H
#define PCTCTL_RANDOM_H

#include "pctctl/base.h"

enum pct_purpose {
    PCT_RAND_PRIORITY = 1,     /* index: pct_draw_index() of the thread and the phase */
    PCT_RAND_CHANGE_POINT = 2, /* index: pct_draw_index() of 1 .. d-1 and the phase */
    PCT_RAND_NO_PROGRESS = 3,  /* index: thread identity mixed with the sign's ordinal */
    PCT_RAND_RUN_SEED = 4,     /* index: run number; seed: the campaign's */
    PCT_RAND_EVENT = 5,        /* index: pct_draw_index() of the thread and its draws so far */
    PCT_RAND_CLOCK = 6,        /* the same */
    PCT_RAND_STRIDE = 7,       /* index: pct_draw_index() of the thread and its steps so far */
    PCT_RAND_SLEEP = 8,        /* the same */
    PCT_RAND_COIN = 9,         /* index: pct_draw_index() of the thread and its draws so far */
    PCT_RAND_ORDER = 10,       /* the same */
    PCT_RAND_PREEMPTION = 11,  /* index: 1 .. preemptions */
    PCT_RAND_BUMP = 12,   /* index: pct_draw_index() of the thread and the run's bumps so far */
    PCT_RAND_RADIUS = 13, /* index: 0: which change point is the first; 1 .. d-1: distance to it */
    PCT_RAND_DEPTH = 32,  /* index: 0; the depth of a run, see userspace/plan/depth.h */
};

/* A bijection on 64 bits with full avalanche (two multiply-xorshift rounds). */
static inline __u64 pct_mix(__u64 x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    return x;
}

/* Uniform 64 bits for (seed, purpose, index). */
static inline __u64 pct_random(__u64 seed, __u32 purpose, __u64 index)
{
    __u64 x = pct_mix(seed + 0x9e3779b97f4a7c15ULL);

    x = pct_mix(x ^ ((__u64)purpose * 0xa0761d6478bd642fULL));
    return pct_mix(x + index * 0xe7037ed1a0b428dbULL);
}

/* Uniform in 1 .. n for 1 <= n < 2^32; the bias is below n / 2^32. */
static inline __u64 pct_random_upto(__u64 seed, __u32 purpose, __u64 index, __u32 n)
{
    return 1 + (((pct_random(seed, purpose, index) >> 32) * n) >> 32);
}

/* Index of a thread's count-th decision of a kind. */
static inline __u64 pct_draw_index(__u64 identity, __u64 count)
{
    return identity ^ pct_mix(count);
}

#endif
