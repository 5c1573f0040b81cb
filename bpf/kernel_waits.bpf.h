/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that wait for the kernel itself, for a disk for instance, are not blocked in the program's sense:
 * the threads below them are to stand still until they are back (pct_run_state.holds).
 */
#ifndef PCTCTL_KERNEL_WAITS_BPF_H
#define PCTCTL_KERNEL_WAITS_BPF_H

#include "actor.bpf.h"
#include "compat.bpf.h"
#include "kernel.bpf.h"
#include "rank.bpf.h"
#include "state.bpf.h"
#include "pctctl/hold.h"

static __always_inline bool is_held_for(const struct actor *a)
{
    __u32 i = a->t->hold - 1;

    return i < PCT_MAX_HOLDS && a->st->holds[i].id == a->t->hold_id;
}

/* The lower threads stand still until this one is back in the queue. */
static __always_inline void hold(struct actor *a)
{
    __u64 id;
    int i;

    if (a->cfg->parallel && !a->st->policy.low)
        return; /* there are no lower ones */
    if (is_held_for(a))
        return;
    id = __sync_fetch_and_add(&a->st->hold_ids, 1) + 1;
    a->t->hold = 0;
    for (i = 0; i < PCT_MAX_HOLDS; i++) {
        if (!pct_hold_begin(&a->st->holds[i], id, rank_of(a->t), a->t->lock))
            continue;
        a->t->hold = i + 1;
        a->t->hold_id = id;
        return;
    }
    __sync_fetch_and_add(&a->st->hold_breaks, 1); /* no room: the lower ones go on */
}

/* Unless somebody else has ended it. */
static __always_inline void end_hold(struct actor *a)
{
    __u32 i = a->t->hold - 1;

    if (i < PCT_MAX_HOLDS)
        pct_hold_end(&a->st->holds[i], a->t->hold_id);
    a->t->hold = 0;
}

/* It got a lock that somebody else of the run waits for as well: that one waits for it now. */
static __always_inline void end_holds_for_lock(struct actor *a)
{
    int i;

    for (i = 0; i < PCT_MAX_HOLDS && a->t->lock; i++)
        pct_hold_end_for_lock(&a->st->holds[i], a->t->lock);
}

/* The controller has waited long enough for a thread held for. */
static __always_inline int give_up_hold(__u32 slot, __u32 i)
{
    struct pct_run_config *cfg = config_of(slot);
    struct pct_run_state *st = state_of(slot);

    if (!cfg || !st || i >= PCT_MAX_HOLDS)
        return -EINVAL;
    if (pct_hold_end(&st->holds[i], st->holds[i].id)) {
        __sync_fetch_and_add(&st->hold_breaks, 1);
        scx_bpf_kick_cpu(cfg->home_cpu, KERNEL(SCX_KICK_PREEMPT));
    }
    return 0;
}

/* A thread waits for a lock inside the kernel, or has got it. The outermost one: its spinlocks contend too. */
static __always_inline void begin_lock_wait(struct actor *a, __u64 lock, __u32 type)
{
    if (a->t->lock)
        return;
    a->t->lock = lock;
    a->t->lock_type = type;
}

static __always_inline void end_lock_wait(struct actor *a, __u64 lock)
{
    if (a->t->lock == lock)
        a->t->lock = 0;
}

/*
 * Is the kernel's lock that the thread waits for in the hands of a task that is none of the run's? Locks
 * of files, for instance, are shared with all that goes on in the machine.
 */
static __always_inline bool lock_held_outside(struct actor *a)
{
    __u64 lock = a->t->lock, owner;
    struct task_struct *p;
    struct pct_thread *t;
    bool outside = true;

    if (a->t->lock_type & LCB_F_MUTEX)
        owner = BPF_CORE_READ((struct mutex *)lock, owner.counter) & ~7ULL;
    else if (a->t->lock_type == LCB_F_READ || a->t->lock_type == LCB_F_WRITE)
        owner = BPF_CORE_READ((struct rw_semaphore *)lock, owner.counter) & ~3ULL;
    else
        return a->t->lock_type == (LCB_F_PERCPU | LCB_F_READ); /* a write to a cgroup's files */
    if (!owner)
        return true; /* on its way to somebody, see end_holds_for_lock() */
    p = bpf_task_from_pid(BPF_CORE_READ((struct task_struct *)owner, pid));
    if (!p)
        return true;
    t = bpf_task_storage_get(&threads, p, NULL, 0);
    if (t && t->run == a->t->run)
        outside = false;
    bpf_task_release(p);
    return outside;
}

/* The thread id given to its system call is the thread's own, as it sees it itself, or 0. */
static __always_inline bool first_argument_is_self(struct task_struct *p)
{
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);
    __u32 level = BPF_CORE_READ(p, thread_pid, level);
    int id = PT_REGS_PARM1_CORE_SYSCALL(regs);

    return !id || id == BPF_CORE_READ(p, thread_pid, numbers[level].nr);
}

/*
 * Is the thread, going to sleep, in a wait of the kernel's own (disk, file server, grace period)? Such
 * a thread is not blocked in the program's sense, and which thread executed meanwhile would depend on
 * how long the wait takes. Waits on other threads of the run are: a lock that one of them holds inside
 * the kernel, a vfork child, another thread to be moved to a CPU (it may not be while it is in a
 * step), the other threads at exec and at a core dump.
 */
static __always_inline bool kernel_wait(struct actor *a)
{
    __u32 nr = a->t->sysno;

    if (!(a->p->__state & TASK_UNINTERRUPTIBLE) || !a->st->started)
        return false;
    if (a->t->lock)
        return lock_held_outside(a);
    if (is_fork(nr))
        return false;
    if (nr == NR_SCHED_SETAFFINITY)
        return first_argument_is_self(a->p);
    /* The last files are closed now, on a file server too; threads wait for each other to dump core. */
    if ((a->p->flags & PF_EXITING) || (a->p->signal->flags & SIGNAL_GROUP_EXIT))
        return !(a->p->__state & (TASK_NOLOAD | TASK_FREEZABLE));
    return a->p->signal->group_exec_task != a->p;
}

#endif
