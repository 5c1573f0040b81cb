/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the witness records: who was on a CPU when, who was ready when, and whether the time on the
 * CPU was spent in the program's code. It shares nothing with the scheduler it watches.
 */
#ifndef PCTCTL_WITNESS_H
#define PCTCTL_WITNESS_H

#include "pctctl/base.h"

enum pct_witness_type {
    PCT_WITNESS_IN = 1,   /* the thread gets a CPU */
    PCT_WITNESS_OUT = 2,  /* it leaves the CPU */
    PCT_WITNESS_WAKE = 3, /* it has become ready; its scheduler has been told before */
    PCT_WITNESS_NEW = 4,  /* the same for a thread that has just been created */
    PCT_WITNESS_EXIT = 5, /* it exits: from here on it executes no user code */
};

/*
 * One record. `time_ns` (CLOCK_MONOTONIC) is read inside the event's critical section: after the
 * thread became visible to its scheduler for WAKE and NEW, before the CPU can run anything of the
 * next thread for IN, before the previous thread's kernel context is released for OUT.
 *
 * `user_state` tells whether user code ran: it is a hash over the user-mode registers as saved at
 * the last entry into the kernel. A thread leaves the CPU with the value with which it got it,
 * unless user code ran or a system call went as far as to change registers. The inverse does not
 * hold: a loop may come round to the same registers.
 */
struct pct_witness_record {
    __u64 time_ns;
    __u64 task; /* opaque; unlike the thread id it survives exec and tells apart two lives */
    union {
        __u64 user_state; /* IN, OUT */
        __u64 parent;     /* NEW: the creator's `task` */
    };
    __u32 pid;
    union {
        __u32 state;      /* OUT: TASK_* the thread sleeps in; meaningless when ready */
        __u32 parent_pid; /* NEW: the creator */
    };
    __u32 cpu; /* where the event happened; not where the woken thread will run */
    __u8 type;
    __u8 ready;      /* OUT: 1 when it could have gone on */
    __u8 exiting;    /* IN, OUT: 1 when it will never run user code again */
    __u8 controlled; /* NEW: 1 when it is scheduled by sched_ext as its creator is */
};

#endif
