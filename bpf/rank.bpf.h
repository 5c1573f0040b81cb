/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who goes before whom: the comparison of a thread with the others of its run. The end of a step (kick.bpf.c)
 * and the choice of the next thread (serial.bpf.h, parallel.bpf.h) go by the same one.
 */
#ifndef PCTCTL_RANK_BPF_H
#define PCTCTL_RANK_BPF_H

#include "kernel.bpf.h"
#include "state.bpf.h"

/* What the scheduler goes by. */
static __always_inline __u64 rank_of(const struct pct_thread *t)
{
#ifdef PCTCTL_BROKEN_DISPATCH
    return PCT_PRIO_INITIAL - t->index; /* the oldest thread first: the witness must object */
#else
    return t->pol.priority;
#endif
}

/*
 * The highest priority among threads that are in no queue and yet not blocked, since the kernel is doing
 * something for them: the lower ones stand still meanwhile. 0: none.
 */
static __always_inline __u64 best_held(const struct pct_run_state *st)
{
    __u64 best = 0;
    int i;

    for (i = 0; i < PCT_MAX_HOLDS; i++)
        if (st->holds[i].priority > best)
            best = st->holds[i].priority;
    return best;
}

/*
 * The highest priority among the run's threads that would execute in place of the current one: the
 * waiting ones and those held for. 0: none. Callable wherever kfuncs are.
 */
static __always_inline __u64 best_other(const struct pct_run_state *st, __u32 slot)
{
    __u64 best = best_held(st);
    struct task_struct *p;

    bpf_rcu_read_lock();
    p = scx_bpf_dsq_peek(queue_of(slot));
    if (p && PCT_PRIO_MAX - p->scx.dsq_vtime > best)
        best = PCT_PRIO_MAX - p->scx.dsq_vtime;
    bpf_rcu_read_unlock();
    return best;
}

/* Places of a parallel run, by CPU. */
static __always_inline __u32 nr_places(void)
{
    __u32 nr = scx_bpf_nr_cpu_ids();

    return nr < PCT_MAX_CPUS ? nr : PCT_MAX_CPUS;
}

static __always_inline struct pct_place *place_of(struct pct_run_state *st, __u32 cpu)
{
    PCT_HIDE(cpu);
    return &st->places[cpu & (PCT_MAX_CPUS - 1)];
}

/* The highest priority of a thread on another CPU. Parallel runs only. */
static __always_inline __u64 best_place(struct pct_run_state *st, __u32 cpu)
{
    __u32 nr = nr_places(), i;
    __u64 best = 0;

    bpf_for(i, 0, nr) {
        const struct pct_place *place = place_of(st, i);

        if (i != cpu && place->thread && place->priority > best)
            best = place->priority;
    }
    return best;
}

/*
 * Must the executing thread give way to another one? In a parallel run those above the low set need not,
 * and those in it do so for any higher one, as a thread of a serial run does.
 */
static __always_inline bool outranked(const struct pct_run_config *cfg, struct pct_run_state *st,
                                      const struct pct_thread *t)
{
    if (!cfg->parallel)
        return rank_of(t) < best_other(st, t->slot);
    if (t->sleep_until_ns || st->reaction)
        return true;
    return rank_of(t) <= st->policy.low &&
           (rank_of(t) < best_other(st, t->slot) ||
            rank_of(t) < best_place(st, bpf_get_smp_processor_id()));
}

#endif
