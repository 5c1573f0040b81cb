/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a scheduling policy sees and decides. Policies are plain C compiled unchanged into the BPF
 * scheduler and into host programs; they never touch sched_ext. A policy decides priorities, the
 * scheduler ("the mechanism") enforces them.
 *
 * The mechanism's contract, for serial policies:
 *
 * - Of all enabled threads the one of highest priority executes. It is looked for again whenever a
 *   thread arrives at a step, blocks, wakes, appears or ends.
 * - A thread that appears has not arrived at a step yet. Having executed its step it has not
 *   arrived at the next one yet. Code between steps is local: it runs with whatever priority the
 *   thread has.
 * - The hooks, each with the acting thread, in the order in which a thread meets them:
 *
 *     appear     the thread exists; sets its first priority
 *     arrive     it is about to execute the step th->event; sets the priority it competes with
 *     select     it is the one to execute that step: called once when it goes on after arrive, and
 *                again after block and wake
 *     block      it was selected, but the operation has to wait
 *     wake       it is enabled again, and competes with the priority set here; pct and rpro are not
 *                told of blocks, but of all wake-ups
 *     executed   the step is done: called when the thread arrives at its next step, before `arrive`
 *                and while th->event is still the old one, and when it ends
 *
 *   In stepwise policies (STEPWISE in table.h) a thread has PCT_PRIO_RUNNING from select to
 *   arrive: so decisions are made only when every enabled thread has arrived at a step, as in the
 *   papers' models. A new thread has PCT_PRIO_ARRIVING or more and reaches its first step even
 *   before its creator goes on.
 * - The hooks of one run are never executed at the same time, but that something outside of the run
 *   may wake a thread at any time.
 * - `select`, `executed` and `stuck` may ask for priorities of threads that wait at their step to
 *   change (enum pct_reaction). The mechanism then calls `disturbed` for each thread concerned,
 *   from the highest priority to the lowest, and puts it in its new place before it decides
 *   anything. Nothing else ever changes a waiting thread's priority. `stuck` follows `arrive`, if
 *   there is such a sign.
 *
 * Random decisions are indexed by thread identity and the thread's own counters, so that they are
 * the same on both sides and independent of each other.
 */
#ifndef PCTCTL_POLICY_H
#define PCTCTL_POLICY_H

#include "pctctl/priority.h"
#include "pctctl/random.h"

/*
 * Of a new thread until it arrives at a step, and more if its creator has not arrived at one
 * either; of the selected one until it arrives or blocks.
 */
#define PCT_PRIO_ARRIVING (PCT_PRIO_MAX - 0xffff)
#define PCT_PRIO_RUNNING (PCT_PRIO_ARRIVING - 1)

#define PCT_MAX_STRIDES 64 /* threads with a stride of their own */
#define PCT_LOCKS_KEPT 32  /* locks a thread is remembered to have held, a power of two */
#define PCT_MAX_BATCH 32   /* objects in a batch of rapos */

/* What a thread is about to do. */
#define PCT_PENDING_READ_ONLY 1u /* does not conflict with other read-only events on its object */
#define PCT_PENDING_ACQUIRES 2u  /* acquires the lock `object` */

struct pct_pending {
    __u64 object; /* events with different objects do not conflict; 0: conflicts with nothing */
    __u32 kind;   /* points.h */
    __u32 flags;  /* PCT_PENDING_* */
};

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

/* Identity of the first thread; of another, from its creator's and its ordinal among its children.
 */
#define PCT_ROOT_IDENTITY 0x5043542d726f6f74ULL

static inline __u64 pct_child_identity(__u64 parent, __u32 ordinal)
{
    return pct_mix(parent ^ pct_mix(ordinal));
}

/* Index of a thread's count-th decision of a kind. */
static inline __u64 pct_draw_index(__u64 identity, __u64 count)
{
    return identity ^ pct_mix(count);
}

/* One step more in the run's order hash. */
static inline __u64 pct_order_hash(__u64 hash, __u64 identity, __u32 kind)
{
    return pct_mix(hash ^ pct_mix(identity + kind));
}

/* Priority of the count-th demotion (1, 2, ...) of a run: below every priority before it. */
static inline __u64 pct_demoted_priority(__u64 count)
{
    return count < PCT_PRIO_CHANGE ? PCT_PRIO_CHANGE - count : 1;
}

/* Does the order of two events of different threads matter? */
static inline bool pct_conflict(const struct pct_policy_config *cfg, const struct pct_pending *a,
                                const struct pct_pending *b)
{
    if (!a->object || a->object != b->object)
        return false;
    return !(cfg->options & PCT_OPTION_READ_ONLY) || !(a->flags & b->flags & PCT_PENDING_READ_ONLY);
}

/* Hooks of policies that have nothing to do there. */
static inline void pct_policy_nothing(const struct pct_policy_config *cfg,
                                      struct pct_policy_run *run, struct pct_policy_thread *th)
{
    (void)cfg;
    (void)run;
    (void)th;
}

static inline enum pct_reaction pct_policy_no_reaction(const struct pct_policy_config *cfg,
                                                       struct pct_policy_run *run,
                                                       struct pct_policy_thread *th)
{
    pct_policy_nothing(cfg, run, th);
    return PCT_REACT_NONE;
}

static PCT_ALWAYS_INLINE enum pct_reaction
pct_policy_never_stuck(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                       struct pct_policy_thread *th, const struct pct_policy_view *view,
                       enum pct_demotion sign, __u64 count)
{
    pct_policy_nothing(cfg, run, th);
    (void)view;
    (void)sign;
    (void)count;
    return PCT_REACT_NONE;
}

static inline void pct_policy_undisturbed(const struct pct_policy_config *cfg,
                                          struct pct_policy_run *run, struct pct_policy_thread *th,
                                          const struct pct_pending *by)
{
    pct_policy_nothing(cfg, run, th);
    (void)by;
}

/* Stepwise policies: a new thread arrives at its first step before anything is decided. */
static inline void pct_stepwise_appear(const struct pct_policy_config *cfg,
                                       struct pct_policy_run *run, struct pct_policy_thread *th)
{
    pct_policy_nothing(cfg, run, th);
    if (th->priority < PCT_PRIO_ARRIVING)
        th->priority = PCT_PRIO_ARRIVING;
    else if (th->priority < PCT_PRIO_MAX)
        th->priority++;
}

static inline enum pct_reaction pct_stepwise_select(const struct pct_policy_config *cfg,
                                                    struct pct_policy_run *run,
                                                    struct pct_policy_thread *th)
{
    pct_policy_nothing(cfg, run, th);
    th->priority = PCT_PRIO_RUNNING;
    return PCT_REACT_NONE;
}

/* The event is still to be executed, with the priority it had. */
static inline void pct_stepwise_keep(const struct pct_policy_config *cfg,
                                     struct pct_policy_run *run, struct pct_policy_thread *th)
{
    pct_policy_nothing(cfg, run, th);
    th->priority = th->event_priority;
}

#endif
