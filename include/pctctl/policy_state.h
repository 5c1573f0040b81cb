/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a scheduling policy and the mechanism hand to each other: the policy's configuration, its
 * state in a run and in each thread, and what its hooks are told and ask for. policies/policy.h has
 * the contract.
 */
#ifndef PCTCTL_POLICY_STATE_H
#define PCTCTL_POLICY_STATE_H

#include "pctctl/base.h"
#include "pctctl/priority.h"
#include "pctctl/sharing.h"

#define PCT_MAX_STRIDES 64 /* threads with a stride of their own */
#define PCT_LOCKS_KEPT 32  /* locks a thread is remembered to have held, a power of two */
#define PCT_MAX_BATCH 32   /* objects in a batch of rapos */

/*
 * One thing that a step acts on. A step has some accesses, often one, and none if no other thread
 * can notice it.
 */
#define PCT_MAX_ACCESSES 4
struct pct_access {
    __u64 object; /* the same number for all accesses to this thing in this run; not 0 */
    __u64 name;   /* by which its thread knows the thing, the same in every run; not 0 */
    __u32 flags;  /* PCT_PENDING_* */
    __u32 unused;
};

/*
 * Flags of an access. Two accesses to one object commute if both are read-only, or both are within
 * it; those with neither flag conflict with all. Not both classes are needed for most objects. For
 * a name of the tree of files:
 *
 *     READ_ONLY | WITHIN   looks up what the name stands for
 *     READ_ONLY            also reads the state of that: its size, its entries
 *     WITHIN               changes something in there: the content, the entries
 *     0                    changes what the name stands for, or both
 */
#define PCT_PENDING_READ_ONLY 1u
#define PCT_PENDING_ACQUIRES 2u /* acquires the lock `object` */
#define PCT_PENDING_WITHIN 4u
/* Of which kind the object is, one of these. */
#define PCT_PENDING_NAMES 16u     /* files, directories and their names */
#define PCT_PENDING_CHANNELS 32u  /* pipes, sockets and whatever else has a descriptor */
#define PCT_PENDING_PROCESSES 64u /* processes, threads and their signals */
#define PCT_PENDING_MEMORY 128u   /* words of memory, descriptor tables and the rest */
/* It may be any object of its kind: it meets all accesses of that kind. Its own is
 * PCT_OBJECT_ANY(). */
#define PCT_PENDING_ANY 8u
#define PCT_PENDING_KINDS                                                                          \
    (PCT_PENDING_NAMES | PCT_PENDING_CHANNELS | PCT_PENDING_PROCESSES | PCT_PENDING_MEMORY)
#define PCT_PENDING_BITS 8 /* of an access */

/* What a thread is about to do. */
struct pct_pending {
    __u64 object; /* of the first access; 0: there is none, the event conflicts with nothing */
    __u64 more[PCT_MAX_ACCESSES - 1]; /* of the others; 0: there is none */
    __u32 kind;                       /* points.h */
    __u32 flags; /* of the first access, and PCT_PENDING_BITS further up of each other one */
};

static inline __u64 pct_pending_object(const struct pct_pending *pending, __u32 i)
{
    return i ? pending->more[(i - 1) % (PCT_MAX_ACCESSES - 1)] : pending->object;
}

static inline __u32 pct_pending_flags(const struct pct_pending *pending, __u32 i)
{
    return pending->flags >> PCT_PENDING_BITS * i & ((1u << PCT_PENDING_BITS) - 1);
}

/* In which way an access with these flags touches its object. */
static inline __u32 pct_access_class(__u32 flags)
{
    return (flags & PCT_PENDING_READ_ONLY ? PCT_CLASS_READS : 0) |
           (flags & PCT_PENDING_WITHIN ? PCT_CLASS_WITHIN : 0);
}

/* All others are odd. */
#define PCT_OBJECT_ANY(kind) ((__u64)(kind))

/* Options of a policy: bits of pct_policy_config.options. */
#define PCT_OPTION_READ_ONLY 1u /* pos, rapos: read-only events do not race with each other */
#define PCT_OPTION_COUNT_CONCURRENT 2u /* pct: only steps while others are enabled */
#define PCT_OPTION_FINAL_WAIT 4u /* the mechanism demotes a main thread that ends its process */
#define PCT_OPTION_PHASES 8u     /* pct: fresh decisions in each phase, steps counted from 1 */

struct pct_thread_stride {
    __u64 identity;
    __u64 stride_max;
};

/* Written by the controller before a run starts; constant during it. */
struct pct_policy_config {
    __u64 seed;
    __u32 policy; /* enum pct_policy */
    __u32 options;
    __u32 nr_change_points; /* pct, ppct, rpro: ascending by step; preempt-bound: priority unused */
    __u32 stride_max;       /* stride: of threads without one of their own, >= 1 */
    __u32 nr_strides;
    __u32 sleep_one_in; /* random-sleep: probability of a sleep is 1 / this, >= 1 */
    __u32 change_range; /* pct: k of the change points in all phases but the first */
    __u32 unused;
    __u64 sleep_ns;
    __u64 yields_per_reset; /* pos, basic-pos: the fairness workaround; 0: never */
    struct pct_change_point change_points[PCT_MAX_DEPTH];
    struct pct_thread_stride strides[PCT_MAX_STRIDES];
};

/* Zeroed before a run; written by the hooks only. */
struct pct_policy_run {
    __u64 steps;      /* arrivals */
    __u64 concurrent; /* of them, those with another thread enabled */
    /*
     * The program enters a phase when a thread arrives with no other enabled (PCT, section 4.2,
     * "Identifying Join Points"). A phase's steps are arrivals with another thread enabled, and
     * wake-ups of threads that fell asleep in an earlier one: their operations are still to come.
     */
    __u64 phase;
    __u64 phase_steps;   /* so far in this phase */
    __u64 longest_phase; /* the most of them in a phase */
    __u64 number;        /* of the step just arrived at, for change points; 0: it is none */
    __u64 clock;         /* see clock.h */
    __u64 low;           /* ppct: threads of higher priority run in parallel */
    __u64 yields;
    __u64 bumps;       /* ppct: how often starvation was handled */
    __u32 next_change; /* preempt-bound: change points already passed */
    __u32 batch_all;   /* rapos: the batch is drawn from all threads */
    __u32 batch_nr;    /* rapos: objects in the batch */
    __u32 unused;
    struct pct_pending batch[PCT_MAX_BATCH];
};

/* Zeroed when the thread appears, but for its identity and, in `priority`, its creator's priority;
 * written by the hooks and, event and identity, by the mechanism. */
struct pct_policy_thread {
    __u64 identity;
    __u64 priority;
    __u64 event_priority; /* what the thread competes with at its step */
    __u64 steps;          /* its arrivals so far */
    __u64 phase;          /* of its last arrival or wake-up, for hooks before the present one */
    __u64 draws;          /* random numbers drawn for it */
    __u64 stride_max;
    __u64 stride_left; /* steps it goes on without competing */
    __u64 bumped;      /* ppct: priority to go back to after one step; 0: none */
    struct pct_pending event;
    __u64 locks[PCT_LOCKS_KEPT]; /* atom-fuzzer: that it has held, */
    __u64 nr_locks;              /* and how many there were */
};

/* What the mechanism knows at the moment of a call. */
struct pct_policy_view {
    __u64 other;   /* highest priority among the threads waiting; 0: none waits */
    __u32 enabled; /* threads that may be enabled, the acting one included */
    __u32 unused;
};

/* What a hook asks the mechanism to do besides enforcing priorities. */
enum pct_reaction {
    PCT_REACT_NONE = 0,
    PCT_REACT_CONFLICTS = 1, /* `disturbed`: all that wait at a step in conflict with th->event */
    PCT_REACT_ALL = 2,       /* `disturbed`: all that wait at a step, the acting one as well */
    PCT_REACT_DEMOTE = 3,    /* the acting thread goes below all others: pct_demoted_priority() */
    PCT_REACT_BUMP = 4,      /* pct_policy_bump() for one waiting thread, see ppct.h */
};

#endif
