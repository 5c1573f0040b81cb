/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State shared by the scheduler's BPF objects, and the few questions that both ask of it.
 */
#ifndef PCTCTL_COMMON_BPF_H
#define PCTCTL_COMMON_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* Set by the controller before loading: a bit for each policy that a run can have. */
extern const volatile __u32 loaded_policies;
#define PCT_POLICY_LOADED(policy) (loaded_policies & 1u << (policy))
#include "dispatch.h"
#include "pctctl/points.h"
#include "pctctl/run.h"

/* Error numbers are macros in the kernel. */
#define ESRCH 3
#define ENOMEM 12
#define EINVAL 22

/* Scheduling policy of all threads of all runs. */
#define SCHED_EXT 7

#define PCT_MAX_OPERATIONS 4

/* A libc operation being executed. */
struct pct_operation {
    __u64 sp; /* stack pointer at its entry, where its return address is */
    __u64 ret;
    __u32 point;
    __u32 signals; /* pct_thread.signals at that time */
};

/*
 * A thread of a run. Lives with its task; written by the thread itself, the callbacks about it, and
 * whoever looks through the queue that it waits in.
 */
struct pct_thread {
    __u64 run; /* pct_run_config.id; another id: the run is over */
    __u64 cpu_mark;  /* its CPU time at the last tick, or when spun_ns became 0 */
    __u64 spun_ns;   /* CPU time since it last made a step, blocked, or had nobody waiting */
    struct pct_operation operations[PCT_MAX_OPERATIONS]; /* the outermost first */
    __u64 lib_start; /* text of the object that the last one is in */
    __u64 lib_end;
    __u64 syscall_start; /* and its syscall(2) */
    __u64 syscall_end;
    __u64 loader_start; /* text of the dynamic loader, whose locks are no steps; 0: none known */
    __u64 loader_end;
    __u64 lock;      /* lock inside the kernel that it waits for, 0: none */
    __u32 lock_type; /* LCB_F_* */
    __u64 poll_site; /* place of the last polling operation, and failures in a row there */
    __u64 poll_count;
    __u64 yield_count;
    __u64 loop_count; /* steps in a row without blocking */
    __u32 slot;
    __u32 index;    /* in order of creation */
    __u32 parent;   /* its creator's index */
    __u32 ordinal;  /* among the creator's children */
    __u32 children;
    __u32 nr_operations;
    __u32 signals; /* that it has taken with a handler */
    __u32 sysno;     /* last system call */
    __u32 polled;    /* that call was a polling step */
    __u32 refresh;   /* passes through the CPU only for the watchdog's sake */
    __u32 hold;      /* its element of pct_run_state.holds, counted from 1; 0: none */
    __u64 hold_rank; /* what it wrote there */
    __u32 place;     /* parallel runs: its CPU's element of pct_run_state.places, from 1; 0: none */
    __u64 sleep_until_ns; /* parallel runs: not to be let onto a CPU before; 0: at any time */
    __u32 sign;      /* of no progress, enum pct_demotion, seen since its last arrival; 0: none */
    __u64 sign_count;
    /* Stepwise policies: where it is with pol.event, see policy.h. */
    __u8 arriving; /* the policy has still to be told */
    __u8 arrived;
    __u8 selected;
    __u8 blocked;
    __u8 hashed; /* the step is in the order hash */
    __u8 waits;   /* its last system call waits for others, if it has to */
    __u8 idle;    /* it sleeps in there: not in pct_run_state.enabled */
    __u8 leaving; /* it is ending, and wakes nobody any more: not in there either */
    struct pct_pending next; /* the step it is arriving at */
    struct pct_policy_thread pol;
};

/* What system calls act on that is no file. */
#define PCT_OBJECT_NAMES 2     /* the tree of files: all operations on names */
#define PCT_OBJECT_PROCESSES 4 /* signals and waits */

/* Written by the controller. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, PCT_MAX_RUNS);
    __type(key, __u32);
    __type(value, struct pct_run_config);
} configs SEC(".maps");

/* Written by the scheduler; zeroed by the controller between runs. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, PCT_MAX_RUNS);
    __type(key, __u32);
    __type(value, struct pct_run_state);
} states SEC(".maps");

/* Written by the scheduler. */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct pct_thread);
} threads SEC(".maps");

static __always_inline struct pct_run_config *config_of(__u32 slot)
{
    return bpf_map_lookup_elem(&configs, &slot);
}

static __always_inline struct pct_run_state *state_of(__u32 slot)
{
    return bpf_map_lookup_elem(&states, &slot);
}

static __always_inline __u64 queue_of(__u32 slot)
{
    return PCT_DSQ_BASE + slot;
}

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
