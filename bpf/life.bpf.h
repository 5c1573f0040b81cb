/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of a thread: how it becomes one of a run, executes a program, sleeps and wakes, takes signals and
 * ends; and with it who counts as enabled (pct_run_state.enabled).
 */
#ifndef PCTCTL_LIFE_BPF_H
#define PCTCTL_LIFE_BPF_H

#include "actor.bpf.h"
#include "compat.bpf.h"
#include "events.bpf.h"
#include "kernel.bpf.h"
#include "kernel_waits.bpf.h"
#include "owner.bpf.h"
#include "policy_calls.bpf.h"
#include "progress.bpf.h"
#include "sharing.bpf.h"
#include "state.bpf.h"
#include "stepwise.bpf.h"
#include "pctctl/identity.h"
#include "pctctl/run.h"

/* Set by the controller before loading: size of the dynamic loader's text; 0: it is the libc itself. */
const volatile __u64 loader_size;

/* A task becomes a thread of a run. */
static __always_inline int join_run(struct actor *a, __u32 slot)
{
    struct pct_thread *t;

    bpf_task_storage_delete(&threads, a->p); /* of an earlier run; a new record is zeroed */
    t = bpf_task_storage_get(&threads, a->p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    a->t = t;
    a->cfg = config_of(slot);
    a->st = state_of(slot);
    if (!t || !a->cfg || !a->st)
        return -ENOMEM;
    t->run = a->cfg->id;
    t->slot = slot;
    t->index = __sync_fetch_and_add(&a->st->threads, 1);
    __sync_fetch_and_add(&a->st->alive, 1);
    __sync_fetch_and_add(&a->st->enabled, 1);
    return 0;
}

/*
 * A thread of a run creates another one. Those that the kernel makes for its own purposes (io_uring's workers)
 * do not execute the program: they have no step.
 */
static __always_inline int child_appears(struct task_struct *p, struct actor *parent)
{
    struct actor a = {.p = p};
    unsigned long irqs;

    if (join_run(&a, parent->t->slot))
        return -ENOMEM;
    not_spinning(parent); /* who waits in a loop for others creates none */
    a.t->parent = parent->t->index;
    a.t->ordinal = ++parent->t->children;
    a.t->pol.identity = pct_child_identity(parent->t->pol.identity, a.t->ordinal);
    a.t->pol.priority = parent->t->pol.priority;
    a.t->loader_start = parent->t->loader_start;
    a.t->loader_end = parent->t->loader_end;
    begin_sharing(&a, parent);
    bpf_local_irq_save(&irqs);
    lock_hooks(a.st);
    policy_appear(&a.cfg->policy, &a.st->policy, &a.t->pol);
    report(&a, PCT_EVENT_THREAD, 0, a.t->pol.phase, 0);
    if (a.cfg->stepwise && a.st->started && is_fork(parent->t->sysno)) {
        begin(&a);
        parent->t->created = 1;
    }
    unlock_hooks(a.st);
    bpf_local_irq_restore(&irqs);
    return 0;
}

/* The first thread of a run, before it enters SCHED_EXT. */
static __always_inline int first_appears(struct task_struct *p, __u32 slot)
{
    struct actor a = {.p = p};
    int err = join_run(&a, slot);

    if (err)
        return err;
    a.t->pol.identity = PCT_ROOT_IDENTITY;
    begin_sharing(&a, NULL);
    policy_appear(&a.cfg->policy, &a.st->policy, &a.t->pol);
    a.st->last_refresh_ns = bpf_ktime_get_ns();
    report(&a, PCT_EVENT_THREAD, 0, 0, 0);
    return 0;
}

/* Where a freshly exec'ed program has its dynamic loader: AT_BASE of its auxiliary vector, or 0. */
static __always_inline __u64 loader_base(struct task_struct *p)
{
    unsigned long entry[2];
    int i;

    bpf_for(i, 0, 32) {
        if (bpf_probe_read_kernel(entry, sizeof(entry), &p->mm->saved_auxv[2 * i]) || !entry[0])
            break;
        if (entry[0] == AT_BASE)
            return entry[1];
    }
    return 0;
}

static __always_inline void start_program(struct actor *a)
{
    a->t->nr_operations = 0; /* that stack is gone */
    new_space(a);
    a->t->loader_start = loader_size ? loader_base(a->p) : 0;
    a->t->loader_end = a->t->loader_start + loader_size;
    a->st->started = 1;
    if (a->st->last_thread == a->t->index + 1)
        a->st->last_pid = a->p->pid; /* the process' now, whichever of its threads this was */
    report(a, PCT_EVENT_EXEC, 0, 0, 0);
}

/*
 * The thread, about to sleep, makes no step before another thread of the run does something. Said
 * only where it is sure: sleeping in other calls may end by itself, at a time that is not the
 * program's doing, and so may any sleep if the program has a timer.
 */
static __always_inline bool waits_for_others(struct actor *a)
{
    return a->t->waits && (a->p->__state & TASK_INTERRUPTIBLE) && !a->st->timers;
}

/* The thread ends, and enables no other one any more. */
static __always_inline void count_out(struct actor *a)
{
    if (a->t->leaving)
        return;
    a->t->leaving = 1;
    __sync_fetch_and_add(&a->st->enabled, -1);
}

static __always_inline void wakes_from_idle(struct actor *a)
{
    if (!a->t->idle)
        return;
    a->t->idle = 0;
    __sync_fetch_and_add(&a->st->enabled, 1);
}

/* It leaves the CPU to sleep, or for ever. */
static __always_inline void fall_asleep(struct actor *a)
{
    if (owns(a) && kernel_wait(a)) {
        hold(a);
    } else if (a->t->selected) {
        a->t->selected = 0;
        a->t->blocked = 1;
        policy_block(&a->cfg->policy, &a->st->policy, &a->t->pol);
    }
    if (a->p->__state & TASK_DEAD) {
        count_out(a);
    } else if (!a->t->leaving && waits_for_others(a)) {
        a->t->idle = 1;
        __sync_fetch_and_add(&a->st->enabled, -1);
    }
    release(a);
}

/* It can go on. */
static __always_inline void wake_up(struct actor *a, u64 enq_flags)
{
    __sync_fetch_and_add(&a->st->runnable, 1);
    __sync_fetch_and_add(&a->st->progress, 1);
    wakes_from_idle(a);
    if (!(enq_flags & KERNEL(SCX_ENQ_WAKEUP)))
        return; /* only its attributes changed */
    progress_by_wakeup(a);
    if (a->t->blocked || (!a->cfg->stepwise && !a->cfg->parallel)) {
        a->t->blocked = 0;
        policy_wake(&a->cfg->policy, &a->st->policy, &a->t->pol);
    }
}

/* It cannot, and perhaps no other one of the run can. */
static __always_inline void not_runnable(struct actor *a)
{
    __sync_fetch_and_add(&a->st->progress, 1);
    if (__sync_fetch_and_add(&a->st->runnable, -1) == 1 &&
        __sync_val_compare_and_swap(&a->st->quiescent_armed, 1, 0) == 1)
        report(a, PCT_EVENT_QUIESCENT, 0, 0, 0);
}

/* The first fatal signal of a run, and the thread that took it. */
static __always_inline void fatal_signal(struct actor *a, int sig)
{
    if (!__sync_val_compare_and_swap(&a->st->first_signal, 0, sig))
        report(a, PCT_EVENT_SIGNAL, 0, sig, 0);
}

/* A signal is about to act on its thread; with the default action and a fatal one, this is the end. */
static __always_inline void signal_taken(struct actor *a, int sig, __u64 handler)
{
    if (handler) {
        a->t->signals += handler != 1; /* not SIG_IGN */
        return;
    }
    if ((a->p->signal->flags & SIGNAL_GROUP_EXIT) || a->p->signal->group_exec_task)
        return; /* the process is ending or executing already; thread_ends() tells why */
    switch (sig) {
    case 17: /* SIGCHLD, SIGCONT, SIGURG, SIGWINCH: ignored by default */
    case 18:
    case 23:
    case 28:
    case 19: /* SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU: stop by default */
    case 20:
    case 21:
    case 22:
        return;
    }
    fatal_signal(a, sig);
}

/* A thread ends. The last one of its process has still to close files and to tell the parent. */
static __always_inline void thread_ends(struct actor *a)
{
    int code = a->p->exit_code;

    if (a->p->signal->flags & SIGNAL_GROUP_EXIT) {
        code = a->p->signal->group_exit_code;
        if (code & 0x7f)
            fatal_signal(a, code & 0x7f);
    }
    if (a->cfg->stepwise)
        executed(a);
    end_final_wait(a);
    end_sharing(a);
    if (a->p->signal->live.counter > 0) /* others only wake their joiner, at once */
        count_out(a);
    report(a, PCT_EVENT_EXIT, 0, code, a->t->pol.steps);
}

/* It leaves SCHED_EXT: it ends, or somebody gave it another scheduling policy. */
static __always_inline void leave(struct actor *a)
{
    end_hold(a);
    release(a);
    wakes_from_idle(a); /* nobody will tell when it does */
}

/* The last that is heard of it. */
static __always_inline void gone(struct actor *a)
{
    release(a);
    if (a->t->arrived)
        leave_objects(a->st, a->t);
    count_out(a);
    __sync_fetch_and_add(&a->st->alive, -1);
}

/* The first thread of a run, which the controller has made. */
static __always_inline int adopt_task(__u32 slot, s32 pid)
{
    struct pct_run_config *cfg = config_of(slot);
    struct task_struct *p;
    int err;

    if (!cfg || !PCT_POLICY_LOADED(cfg->policy.policy & 31))
        return -EINVAL; /* it would decide nothing */
    p = bpf_task_from_pid(pid);
    if (!p)
        return -ESRCH;
    err = first_appears(p, slot);
    bpf_task_release(p);
    return err;
}

#endif
