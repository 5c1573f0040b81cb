/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler's memory: a configuration and a state for each run, by slot, and a record for each thread of
 * a run. Shared by the BPF objects sched and kick. The types that the controller sees as well are in
 * include/pctctl.
 */
#ifndef PCTCTL_STATE_BPF_H
#define PCTCTL_STATE_BPF_H

#include "kernel.bpf.h"
#include "pctctl/lap.h"
#include "pctctl/run.h"
#include "pctctl/sharing.h"

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
    struct pct_laps laps;
    __u32 slot;
    __u32 index;    /* in order of creation */
    __u32 parent;   /* its creator's index */
    __u32 ordinal;  /* among the creator's children */
    __u32 children;
    __u32 nr_operations;
    __u32 signals; /* that it has taken with a handler */
    __u32 sysno;     /* last system call */
    __u32 polled;    /* that call was a polling step */
    __u32 call;      /* PCT_POINT_* of that call; 0: it is no point */
    __u32 refresh;   /* passes through the CPU only for the watchdog's sake */
    __u32 hold;      /* its element of pct_run_state.holds, counted from 1; 0: none */
    __u64 hold_id;   /* of what it began there */
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
    __u8 last;    /* stepwise: its step comes behind those of all others, whatever the policy says */
    __u8 created; /* stepwise: its system call has made a thread, and has still to return */
    __u8 final;   /* it has begun its final wait (PCT_OPTION_FINAL_WAIT) */
    /* The step it is arriving at, or its last one: what it acts on, see objects.bpf.h. */
    __u32 nr_accesses;
    __u32 programs; /* that it has executed */
    struct pct_access accesses[PCT_MAX_ACCESSES];
    struct pct_pending next; /* stepwise policies: the same, as those are told */
    struct pct_lineage lineage;
    __u64 ended[PCT_TOUCHES]; /* when threads that touched the same object ended: at its arrival */
    __u64 space; /* its address space: the identity of the thread that this began with */
    struct pct_policy_thread pol;
};

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

#endif
