/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the witness records: who was on a CPU when, who was ready when, and whether the time on the
 * CPU was spent in the program's code. It shares nothing with the scheduler it watches.
 */
#ifndef PCTCTL_WITNESS_H
#define PCTCTL_WITNESS_H

#include "pctctl/base.h"

enum pct_witness_type {
    PCT_WITNESS_IN = 1,      /* the thread gets a CPU */
    PCT_WITNESS_OUT = 2,     /* it leaves the CPU; `state`, `ready` */
    PCT_WITNESS_WAKE = 3,    /* it has become ready; its scheduler has been told before */
    PCT_WITNESS_NEW = 4,     /* the same for a thread that has never run */
    PCT_WITNESS_FORK = 5,    /* it has been created; `parent`, `parent_pid`, `controlled` */
    PCT_WITNESS_EXIT = 6,    /* it will never run user code again, but goes on in the kernel */
    PCT_WITNESS_ALTERED = 7, /* the kernel is about to change its registers: signal, rseq abort */
};

/*
 * One record. `time_ns` (CLOCK_MONOTONIC) is read inside the event's critical section: after the
 * thread became visible to its scheduler for WAKE and NEW, before the CPU can run anything of the
 * next thread for IN, before the previous thread's kernel context is released for OUT.
 *
 * `user_state` and `ip` tell whether user code ran: they are the user-mode registers as saved at
 * the last entry into the kernel. Those with which a thread gets the CPU are those with which it
 * leaves it, unless user code ran or the kernel changed them (then there is an ALTERED in between,
 * taken before the change; other changes are listed in userspace/strictness.cc). The inverse does
 * not hold: a loop may come round to the same registers.
 */
struct pct_witness_record {
    __u64 time_ns;
    __u64 task;       /* opaque; unlike the thread id it survives exec and tells apart two lives */
    __u64 user_state; /* IN, OUT, ALTERED: hash of registers other than ip, and user time */
    union {
        __u64 ip;     /* IN, OUT, ALTERED */
        __u64 parent; /* FORK: the creator's `task` */
    };
    __u32 pid;
    union {
        __u32 state;      /* OUT: TASK_* the thread sleeps in; meaningless when ready */
        __u32 parent_pid; /* FORK: the creator */
    };
    __u32 cpu; /* where the event happened; not where the woken thread will run */
    __u16 type;
    union {
        __u16 ready;      /* OUT: 1 when it could have gone on */
        __u16 controlled; /* FORK: 1 when the new thread is scheduled by sched_ext as well */
    };
};

#endif
