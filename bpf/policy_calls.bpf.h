/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy's hooks, as the scheduler calls them; all decisions are made in there (policies/). Where
 * each is called: docs/architecture.md.
 */
#ifndef PCTCTL_POLICY_CALLS_BPF_H
#define PCTCTL_POLICY_CALLS_BPF_H

#include "broken.bpf.h"
#include "kernel.bpf.h"
#include "pctctl/run.h"

/* Set by the controller before loading: a bit for each policy that a run can have. */
const volatile __u32 loaded_policies;
#define PCT_POLICY_LOADED(policy) (loaded_policies & 1u << (policy))
#include "dispatch.h"
_Static_assert(PCT_NR_POLICIES <= 32, "a bit for each policy");

/*
 * Hooks of one run are never executed at the same time. Called with interrupts disabled, so that the lock is
 * a CPU's: they ask for run queues' locks, with which ops.dispatch waits here. Nobody who holds it waits for
 * anything, but the holder's CPU may be a virtual one that stands still; the loops' ends, seconds
 * away, are for the verifier. The scheduler goes on then, without the lock, but the run does not count.
 */
static __always_inline void lock_hooks(struct pct_run_state *st)
{
    __u32 me = bpf_get_smp_processor_id() + 1, i, j;

    bpf_for(i, 0, LOCK_PATIENCE)
        bpf_for(j, 0, 1 << 23)
            if (!st->lock && !__sync_val_compare_and_swap(&st->lock, 0, me))
                return;
    __sync_fetch_and_add(&st->lock_breaks, 1);
}

/* Unless it is another CPU's. */
static __always_inline void unlock_hooks(struct pct_run_state *st)
{
    __sync_val_compare_and_swap(&st->lock, bpf_get_smp_processor_id() + 1, 0);
}

/*
 * Global functions: verified once each, whatever calls them; weak, so that no argument is optimized
 * away.
 */
__weak int policy_appear(struct pct_policy_config *cfg __arg_nonnull,
                         struct pct_policy_run *run __arg_nonnull,
                         struct pct_policy_thread *th __arg_nonnull)
{
    pct_policy_appear(cfg, run, th);
    return 0;
}

__weak __u64 policy_arrive(struct pct_policy_config *cfg __arg_nonnull,
                         struct pct_policy_run *run __arg_nonnull,
                         struct pct_policy_thread *th __arg_nonnull,
                         struct pct_policy_view *view __arg_nonnull)
{
    return pct_policy_arrive(cfg, run, th, view);
}

__weak int policy_select(struct pct_policy_config *cfg __arg_nonnull,
                         struct pct_policy_run *run __arg_nonnull,
                         struct pct_policy_thread *th __arg_nonnull)
{
    return pct_policy_select(cfg, run, th);
}

__weak int policy_executed(struct pct_policy_config *cfg __arg_nonnull,
                           struct pct_policy_run *run __arg_nonnull,
                           struct pct_policy_thread *th __arg_nonnull)
{
    return pct_policy_executed(cfg, run, th);
}

__weak int policy_block(struct pct_policy_config *cfg __arg_nonnull,
                        struct pct_policy_run *run __arg_nonnull,
                        struct pct_policy_thread *th __arg_nonnull)
{
    pct_policy_block(cfg, run, th);
    return 0;
}

__weak int policy_wake(struct pct_policy_config *cfg __arg_nonnull,
                       struct pct_policy_run *run __arg_nonnull,
                       struct pct_policy_thread *th __arg_nonnull)
{
    pct_policy_wake(cfg, run, th);
    return 0;
}

__weak int policy_disturbed(struct pct_policy_config *cfg __arg_nonnull,
                            struct pct_policy_run *run __arg_nonnull,
                            struct pct_policy_thread *th __arg_nonnull,
                            struct pct_pending *by)
{
    pct_policy_disturbed(cfg, run, th, by);
    return 0;
}

__weak int policy_stuck(struct pct_policy_config *cfg __arg_nonnull,
                        struct pct_policy_run *run __arg_nonnull,
                        struct pct_policy_thread *th __arg_nonnull,
                        struct pct_policy_view *view __arg_nonnull, __u64 count_and_sign)
{
    return pct_policy_stuck(cfg, run, th, view, count_and_sign & 7, count_and_sign >> 3);
}

#endif
