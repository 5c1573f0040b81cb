/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points at system calls: a thread enters one of those that PCT_SYSCALL_POINTS lists. Those inside an operation
 * of the C library are no steps.
 */
#ifndef PCTCTL_SYSCALL_POINTS_BPF_H
#define PCTCTL_SYSCALL_POINTS_BPF_H

#include "actor.bpf.h"
#include "kernel.bpf.h"
#include "objects.bpf.h"
#include "operations.bpf.h"
#include "progress.bpf.h"
#include "state.bpf.h"
#include "step.bpf.h"
#include "stepwise.bpf.h"
#include "pctctl/points.h"
#include "pctctl/policy_state.h"

/* Set by the controller before loading: PCT_POINT_* of each system call. */
const volatile __u16 syscall_traits[PCT_NR_SYSCALLS];

static __always_inline bool is_futex(long nr)
{
    return nr == NR_FUTEX || nr == NR_FUTEX_WAITV || (nr >= NR_FUTEX_WAKE && nr <= NR_FUTEX_REQUEUE);
}

/* The futex call of a libc operation is part of that operation's step. */
static bool part_of_operation(struct pct_thread *t, long nr, __u64 sp, __u64 ip)
{
    return is_futex(nr) && operation_at(t, sp) && ip >= t->lib_start && ip < t->lib_end &&
           !(ip >= t->syscall_start && ip < t->syscall_end);
}

static __always_inline bool is_step(struct pct_thread *t, __u32 traits,
                                    struct trace_event_raw_sys_enter *call, struct pt_regs *regs)
{
    __u64 arg;

    if (!(traits & PCT_POINT_STEP))
        return false;
    if (traits & PCT_POINT_IF_SHARED)
        return call->args[3] & 1; /* MAP_SHARED, MAP_SHARED_VALIDATE */
    if (traits & PCT_POINT_IF_LOCK) {
        arg = call->args[1];
        return (arg >= 5 && arg <= 7) || (arg >= 36 && arg <= 38); /* F_*LK*, F_OFD_*LK* */
    }
    return !part_of_operation(t, call->id, PT_REGS_SP_CORE(regs), PT_REGS_IP_CORE(regs));
}

/* What 32-bit programs call those that start threads or programs, or time them; -1: any other. */
static __always_inline long native_number(long nr)
{
    switch (nr) {
    case 2: /* fork, clone, vfork */
    case 120:
    case 190:
        return NR_FORK_FIRST;
    case 11:
        return NR_EXECVE;
    case 358:
        return NR_EXECVEAT;
    case 162:
        return NR_NANOSLEEP;
    case 267:
    case 407:
        return NR_CLOCK_NANOSLEEP;
    case 27:
        return NR_ALARM;
    case 104:
        return NR_SETITIMER;
    case 260:
    case 409:
        return NR_TIMER_SETTIME;
    case NR_CLONE3:
        return nr;
    }
    return -1;
}

/* Is this the main thread, about to end a process in which there are others? */
static __always_inline bool waits_finally(struct actor *a, long nr)
{
    return nr == NR_EXIT_GROUP && (a->cfg->policy.options & PCT_OPTION_FINAL_WAIT) &&
           a->p->pid == a->p->tgid && a->p->signal->live.counter > 1;
}

/* A thread enters a system call. */
static __always_inline void syscall_point(struct actor *a, struct trace_event_raw_sys_enter *call)
{
    bool compat = a->p->thread_info.status & TS_COMPAT, counted;
    struct pt_regs *regs;
    long nr = call->id;
    __u32 traits;

    if (compat)
        nr = native_number(nr);
    a->t->sysno = nr;
    a->t->polled = 0;
    a->t->call = 0;
    a->t->waits = 0;
    if (!a->st->started || nr < 0 || nr >= PCT_NR_SYSCALLS)
        return;
    if (nr == NR_ALARM || nr == NR_SETITIMER || nr == NR_TIMER_SETTIME)
        a->st->timers = 1;
    if (compat)
        return; /* no steps */

    a->t->waits = nr == NR_WAIT4 || nr == NR_WAITID || (nr == NR_FUTEX && !call->args[3]) ||
                  (nr == NR_FUTEX_WAIT && !call->args[4]);

    regs = (struct pt_regs *)bpf_task_pt_regs(a->p);
    if (a->cfg->stepwise && a->t->selected && !operation_at(a->t, PT_REGS_SP_CORE(regs)))
        executed(a); /* if it blocks from here on, it is between two steps */
    if (waits_finally(a, nr))
        begin_final_wait(a);
    traits = syscall_traits[nr & (PCT_NR_SYSCALLS - 1)];
    if (!is_step(a->t, traits, call, regs))
        return;
    a->t->call = traits;
    counted = false;
    if (a->cfg->points & PCT_POINTS_SYSCALL) {
        find_accesses(a, call, NULL, traits);
        counted = come_to_point(nr, PT_REGS_IP_CORE(regs));
    }
    /* a polling call is a sign only if it fails, which after_poll() sees */
    a->t->polled = traits & (PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS);
    after_step(a, traits & ~PCT_POINT_POLLS, PT_REGS_IP_CORE(regs), counted);
}

/*
 * Stepwise policies: a system call returns that has made a thread. Its creator competes with it from here on;
 * otherwise what the creator does up to its next step would always come first.
 */
static __always_inline void after_creation(struct actor *a, long ret)
{
    struct pt_regs *regs;

    if (!a->t->created)
        return;
    a->t->created = 0;
    if (ret <= 0)
        return; /* it came to nothing */
    regs = (struct pt_regs *)bpf_task_pt_regs(a->p);
    a->t->nr_accesses = 0;
    step(a, PCT_KIND_CREATED, PT_REGS_IP_CORE(regs));
}

/* A system call returns. A polling one has failed, and may go on for ever? */
static __always_inline void after_poll(struct actor *a, long ret)
{
    struct pt_regs *regs;
    __u64 site;

    progress_by_call(a, ret);
    if (!a->t->polled)
        return;
    regs = (struct pt_regs *)bpf_task_pt_regs(a->p);
    site = PT_REGS_IP_CORE(regs);
    if (ret > 0 || (ret == 0 && !(a->t->polled & PCT_POINT_ZERO_FAILS))) {
        if (a->t->poll_site == site)
            a->t->poll_count = 0;
    } else if (a->st->runnable > 1) {
        notice_no_progress(a, PCT_POINT_POLLS, site, a->cfg->points & PCT_POINTS_SYSCALL);
    }
    a->t->polled = 0;
}

#endif
