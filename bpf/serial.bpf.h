/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The serial order: one thread of a run executes, the one of highest priority. The run's queue is ordered by
 * priority; `owner` is who may execute. dispatch_serial() is the only place that chooses.
 */
#ifndef PCTCTL_SERIAL_BPF_H
#define PCTCTL_SERIAL_BPF_H

#include "actor.bpf.h"
#include "compat.bpf.h"
#include "cpu.bpf.h"
#include "kernel.bpf.h"
#include "kernel_waits.bpf.h"
#include "owner.bpf.h"
#include "rank.bpf.h"
#include "state.bpf.h"
#include "stepwise.bpf.h"

/* A thread comes into the queue: it wakes, or has lost the CPU. */
static __always_inline void queue_serial(struct actor *a, u64 enq_flags)
{
    s32 cpu = bpf_get_smp_processor_id();
    struct task_struct *p = a->p;
    __u32 refreshed;
    __u64 owner;

    release(a); /* it was chosen, but lost its CPU before it ran */
    refreshed = a->t->refresh;
    a->t->refresh = 0;
    dsq_insert_vtime(p, queue_of(a->t->slot), SLICE_NS, PCT_PRIO_MAX - rank_of(a->t), enq_flags);
    end_holds_for_lock(a);
    end_hold(a);

    /*
     * The kick is carried out after the insertion. An owner on another CPU may be about to look into
     * the queue and find it without p, so that CPU is asked to look again in any case. A thread that
     * only passed through the CPU is known to be no better than the owner.
     */
    owner = a->st->owner;
    if (!owner || is_chooser(owner))
        scx_bpf_kick_cpu(cpu_for(p, a->t->slot), 0);
    if (owner && ((!refreshed && rank_of(a->t) > a->st->owner_priority) || (s32)(owner >> 32) != cpu))
        scx_bpf_kick_cpu(owner >> 32, KERNEL(SCX_KICK_PREEMPT));
}

/* Is the run's last owner still on its way out of another CPU? */
static bool still_on_cpu(const struct pct_run_config *cfg, struct pct_run_state *st, s32 cpu)
{
    struct task_struct *last;
    struct pct_thread *t;
    bool on = false;

    if (st->last_cpu == cpu || !st->last_pid)
        return false;
    last = bpf_task_from_pid(st->last_pid);
    if (last) {
        t = bpf_task_storage_get(&threads, last, NULL, 0);
        /* or the thread has ended, and its id is another task's */
        if (t && t->run == cfg->id && t->index + 1 == st->last_thread)
            on = last->on_cpu && scx_bpf_task_cpu(last) != cpu;
        bpf_task_release(last);
    }
    return on;
}

/* Is the thread at the head of the queue to execute on this CPU? If on another one, that is to look. */
static bool wanted_here(__u32 slot, s32 cpu)
{
    struct task_struct *p;
    s32 want = -1;

    bpf_rcu_read_lock();
    p = scx_bpf_dsq_peek(queue_of(slot));
    if (p)
        want = cpu_for(p, slot);
    bpf_rcu_read_unlock();
    if (want >= 0 && want != cpu)
        scx_bpf_kick_cpu(want, 0);
    return want == cpu;
}

/*
 * While a run has no owner, one CPU at a time looks for the next one, since it may change the queue on the way
 * (a reaction, a refresh): another CPU would see places that are no longer right, or not yet. False: there is
 * an owner, or to look is another CPU's.
 */
static __always_inline bool begin_choice(struct pct_run_state *st, __u32 slot, s32 cpu)
{
    __u64 found = st->owner;

    if ((found && !is_chooser(found)) || (!st->reaction && !wanted_here(slot, cpu)))
        return false;
    found = __sync_val_compare_and_swap(&st->owner, 0, PCT_CHOOSER(cpu));
    if (is_chooser(found)) /* it may find nobody for its own CPU: look again */
        scx_bpf_kick_cpu(cpu, 0);
    return !found;
}

/* Unless it has found one. Kicks that were asked for meanwhile are carried out behind this. */
static __always_inline void end_choice(struct pct_run_state *st, s32 cpu)
{
    __sync_val_compare_and_swap(&st->owner, PCT_CHOOSER(cpu), 0);
}

/*
 * Choose the run's next owner for this CPU. prev is the owner if that is on this CPU and could go on;
 * `expected` is what pct_run_state.owner says meanwhile. True: the CPU has a task to run.
 */
static __always_inline bool dispatch_serial(s32 cpu, __u32 slot, struct task_struct *prev,
                                            struct pct_thread *prev_thread,
                                            struct pct_run_config *cfg, struct pct_run_state *st,
                                            __u64 expected)
{
    struct actor a = {.cfg = cfg, .st = st};
    struct pct_thread *next = NULL;
    bool keep = prev != NULL;
    struct task_struct *p;
    __u64 held, chosen;

    if (cfg->stepwise && st->reaction)
        carry_out_reaction(cfg, st, slot, prev_thread);
    held = best_held(st);
    if (prev_thread && rank_of(prev_thread) < held)
        keep = false;
    bpf_for_each(scx_dsq, p, queue_of(slot), 0) {
        struct pct_thread *t = bpf_task_storage_get(&threads, p, NULL, 0);
        __u64 priority = PCT_PRIO_MAX - p->scx.dsq_vtime;
        s32 want;

        if (!t || (prev_thread && rank_of(prev_thread) >= priority))
            break;
        if (held > priority)
            break;
        keep = false;
        want = cpu_for(p, slot);
        if (want != cpu) {
            scx_bpf_kick_cpu(want, 0);
            break;
        }
        chosen = PCT_OWNER(t->index, cpu);
        if (__sync_val_compare_and_swap(&st->owner, expected, chosen) != expected)
            break;
        /* only now can no other CPU let a thread start, run and begin to leave meanwhile */
        if (still_on_cpu(cfg, st, cpu)) {
            __sync_val_compare_and_swap(&st->owner, chosen, expected);
            scx_bpf_kick_cpu(cpu, 0);
            break;
        }
        st->owner_priority = priority;
        if (!prev_thread && scx_bpf_dsq_nr_queued(queue_of(slot)) == 1)
            st->lowest_ran = st->steps; /* all better ones are blocked */
        scx_bpf_dsq_move_set_slice(THIS_ITERATOR, SLICE_NS);
        if (scx_bpf_dsq_move(THIS_ITERATOR, p, KERNEL(SCX_DSQ_LOCAL), 0)) {
            next = t;
        } else { /* it left the queue just now: look again */
            __sync_val_compare_and_swap(&st->owner, chosen, expected);
            scx_bpf_kick_cpu(cpu, KERNEL(SCX_KICK_PREEMPT));
        }
        break;
    }
    if (keep && prev) {
        prev->scx.slice = SLICE_NS;
        next = prev_thread;
    }
    if (cfg->stepwise && next) {
        a.t = next;
        go_on(&a, next == prev_thread ? NULL : prev_thread);
    }
    return next != NULL;
}

#endif
