/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the controller and the BPF programs say to each other about a run. A run is one execution of
 * the program under test; several may be under way in one kernel, each in its own slot.
 */
#ifndef PCTCTL_RUN_H
#define PCTCTL_RUN_H

#include "pctctl/base.h"
#include "pctctl/hold.h"
#include "pctctl/policy_state.h"
#include "pctctl/priority.h"
#include "pctctl/sharing.h"

#define PCT_MAX_RUNS 64   /* slots, the largest --jobs */
#define PCT_MAX_HOLDS 4   /* threads of a run out of reach at the same time */
#define PCT_MAX_CPUS 1024 /* on which threads of a run execute in parallel, a power of two */
#define PCT_COMM_LEN 16
#define PCT_MAX_FOCUS 65536      /* names that matter */
#define PCT_MAX_ENDS 4096        /* threads of a run whose end is remembered, a power of two */
#define PCT_MAX_SHARED 16384     /* objects and names of a run */
#define PCT_DSQ_BASE 0x50435400u /* dispatch queue of slot s: PCT_DSQ_BASE + s */

/* Written by the controller before a run starts; constant during it. */
struct pct_run_config {
    __u64 id;            /* unique over the kernel's uptime of this scheduler; 0: slot is free */
    __u64 spin_limit_ns; /* 0: never */
    __u32 points;        /* PCT_POINTS_* */
    __u32 trace;         /* 1: report every step and priority change as an event */
    __s32 home_cpu;      /* where the run's threads execute unless their affinity forbids it */
    __u32 stepwise;      /* decisions are made when all have arrived at a step (policy.h) */
    __u32 parallel;      /* the policy's enforcement lets several threads execute */
    __u32 executed;      /* 1: stepwise policies: report each step that was executed as an event */
    __u32 focus; /* 0: all steps count; else 1 + how many names of the map `focus` matter from the
                    start */
    __u32 unused;
    struct pct_policy_config policy;
};

/* Not by thread id: exec changes that of a thread which is not its process' main thread. */
#define PCT_OWNER(index, cpu) ((__u64)(__u32)(cpu) << 32 | ((index) + 1))
#define PCT_CHOOSER(cpu) ((__u64)(__u32)(cpu) << 32 | 0xffffffff)

/* The enabled thread that a parallel run has let onto a CPU last. */
struct pct_place {
    __u64 priority;
    __u64 thread;    /* its index + 1; 0: none */
    __u64 executing; /* 0: it is back in the queue */
};

/* Written by the scheduler; read by the controller at any time. */
struct pct_run_state {
    __u64 steps;      /* k of this run so far */
    __u64 arrivals;   /* at points, whether or not that is a step; the time of sharing.h */
    __u64 useful;     /* grows while the run gets something done, see lap.h */
    __u64 order_hash; /* over (thread identity, step kind) in order of the steps */
    __u64 switches;   /* changes of the executing thread */
    __u64 demotions[PCT_DEMOTE_NR];
    __u64 hold_breaks;     /* lower threads went on without one held for; also an intervention */
    __u64 lock_breaks;     /* a hook of the policy was called although another one was under way */
    __u64 lost_events;     /* ring buffer was full */
    __u64 progress;        /* counts wake-ups and blocks: unchanged means nothing happened */
    __u64 demote_floor;    /* number of demotions handed out, any reason */
    __u64 lowest_ran;      /* step at which the lowest of the enabled threads executed last */
    __u64 last_refresh_ns; /* CLOCK_MONOTONIC */
    __u64 hold_ids;        /* the last one given to a hold */
    struct pct_hold holds[PCT_MAX_HOLDS];
    __u64 owner; /* thread allowed to execute, and where: PCT_OWNER(); the CPU that is looking for
                  * one: PCT_CHOOSER(); 0: nobody */
    __u64 owner_priority;
    __u32 threads;     /* n of this run so far: threads created, the first included */
    __u32 alive;       /* threads not yet gone */
    __s32 runnable;    /* threads that wait for a CPU or have one */
    __s32 enabled;     /* threads that may go on before others do, see waits_for_others() */
    __u32 started;     /* 1 once the program has been exec'ed */
    __u32 last_thread; /* index + 1 of the last owner; 0: none yet */
    __s32 last_pid;    /* a thread id that it had, maybe another task's by now; and where it ran */
    __s32 last_cpu;
    __u32 reaction;        /* enum pct_reaction that waiting threads have still to be told of */
    __u32 quiescent_armed; /* controller sets 1 to be told when nothing is runnable */
    __u32 first_signal;    /* first fatal signal a thread of the run died of; 0: none */
    __u32 timers;          /* 1: the program has armed an interval or POSIX timer */
    __u32 lock;            /* CPU + 1 that is in a hook of the policy; 0: none */
    __u32 forgetful;   /* 1: the map `sharing` had no room for an object: from then on all matter */
    __u32 uncounted;   /* 1: the scheduler's map `at_object` had no room for a step */
    __s32 at_any;      /* threads at a step, or in it, that may act on any object of a kind */
    __u32 final_waits; /* threads in their final wait, or about to end after it */
    __u64 queued; /* parallel runs: how often a thread was put into the queue, its order there */
    struct pct_policy_run policy;
    struct pct_pending reacting_to;        /* the event executed that caused the reaction */
    struct pct_place places[PCT_MAX_CPUS]; /* parallel runs, by CPU */
};

/*
 * An ELF object with probed libc operations, in user-file offsets: element of the map `objects`,
 * written by the controller before probes are attached. A probe's cookie is object << 16 | point.
 */
#define PCT_MAX_OBJECTS 2
#define PCT_OBJECT_POINTS 64

struct pct_object {
    __u64 text_start, text_end;       /* its executable segment */
    __u64 syscall_start, syscall_end; /* syscall(2), whose callers make their own steps */
    __u64 point_offset[PCT_OBJECT_POINTS];
};

/* Events, in the order they happened within a run. */
enum pct_event_type {
    PCT_EVENT_THREAD = 1,   /* a thread exists: thread, parent, ordinal, pid, tgid, priority, code =
                             * the phase it appears in */
    PCT_EVENT_EXIT = 2,     /* a thread ended: thread, code = wait status, site = its steps */
    PCT_EVENT_SIGNAL = 3,   /* a fatal signal was taken: thread, code = signal, comm */
    PCT_EVENT_STEP = 4,     /* trace only: thread, step, kind, priority after it, site, code = the
                             * number that change points know it by, 0: none */
    PCT_EVENT_PRIORITY = 5, /* trace only: thread, priority, code = pct_demotion, 0: a bump */
    PCT_EVENT_QUIESCENT = 6, /* no thread of the run is runnable */
    PCT_EVENT_EXEC = 7,      /* the thread executes a new program: pid, tgid may be new */
    PCT_EVENT_EXECUTED = 8,  /* if asked for: thread, kind, executed */
};

struct pct_event {
    __u64 run;      /* pct_run_config.id */
    __u64 time_ns;  /* CLOCK_MONOTONIC */
    __u64 identity; /* of the thread */
    __u64 priority;
    __u64 step; /* the run's step counter */
    __u64 site; /* user address of the operation */
    __u32 type;
    __u32 slot;
    __u32 thread;  /* index in order of creation, 0 = first */
    __u32 parent;  /* index; of thread 0: 0 */
    __u32 ordinal; /* the how-many-th child of its parent, from 1; of thread 0: 0 */
    __s32 pid;     /* kernel's thread id in the initial namespace */
    __s32 tgid;
    __u32 kind; /* step kind, see points.h */
    __s32 code;
    char comm[PCT_COMM_LEN];
    struct pct_pending executed; /* the step that is over; of other events nothing */
};

/* Key of a run's map `sharing`: what threads have touched, and the names of what matters. */
struct pct_shared_key {
    __u64 id;      /* pct_access.object, or .name */
    __u64 is_name; /* 1: the element's value says nothing */
};

/*
 * Argument of the scheduler's calls: `adopt` (a thread id; 0, -ESRCH, -ENOMEM), `break_hold` (an
 * index of holds; 0, -EINVAL).
 */
struct pct_call {
    __u32 slot;
    __s32 value;
};

#endif
