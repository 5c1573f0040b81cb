/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of execution, serial or parallel, and what both have in common: the kernel's watchdog wants
 * every waiting thread to be switched in now and then.
 */
#ifndef PCTCTL_ORDER_BPF_H
#define PCTCTL_ORDER_BPF_H

#include "actor.bpf.h"
#include "compat.bpf.h"
#include "cpu.bpf.h"
#include "kernel.bpf.h"
#include "owner.bpf.h"
#include "parallel.bpf.h"
#include "progress.bpf.h"
#include "rank.bpf.h"
#include "serial.bpf.h"
#include "state.bpf.h"
#include "stepwise.bpf.h"
#include "pctctl/run.h"

#define REFRESH_NS (5 * 1000 * 1000 * 1000ULL) /* a sixth of the watchdog's patience */
#define WATCHDOG_MS 30000

/* Set by the controller before loading. */
const volatile __u32 nr_slots = 1;

/* Run that used a CPU last, so that runs sharing it take turns; written by ops.dispatch. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} last_slot SEC(".maps");

/* For all runs, before any. */
static __always_inline int init_order(void)
{
    __u32 i;
    int err;

    bpf_for(i, 0, nr_slots) {
        err = scx_bpf_create_dsq(queue_of(i), -1);
        if (!err)
            err = init_sleepers(i);
        if (err)
            return err;
    }
    return 0;
}

/* A thread comes into its run's queue: it wakes, or has lost the CPU. */
static __always_inline void come_to_queue(struct actor *a, u64 enq_flags)
{
    if (a->cfg->parallel)
        queue_parallel(a, enq_flags);
    else
        queue_serial(a, enq_flags);
}

/*
 * The kernel ejects a scheduler under which a runnable thread has not run for WATCHDOG_MS. Let every
 * waiting thread be switched in; ops.running sends each away before it executes an instruction.
 */
static bool refresh_run(struct pct_run_state *st, __u32 slot)
{
    struct task_struct *p;
    bool moved = false;

    st->last_refresh_ns = bpf_ktime_get_ns();
    bpf_for_each(scx_dsq, p, queue_of(slot), 0) {
        struct pct_thread *t = bpf_task_storage_get(&threads, p, NULL, 0);

        if (!t)
            continue;
        t->refresh = 1;
        if (scx_bpf_dsq_move(THIS_ITERATOR, p, KERNEL(SCX_DSQ_LOCAL_ON) | cpu_for(p, slot), 0))
            moved = true;
        else
            t->refresh = 0;
    }
    return moved;
}

/*
 * Choose a thread of the run for this CPU. prev is its thread that is on this CPU, may execute and could go
 * on. True: the CPU has a task to run. A global function, so that it is verified once and not for each
 * slot.
 */
__noinline int dispatch_run(s32 cpu, __u32 slot, struct task_struct *prev __arg_trusted __arg_nullable)
{
    struct pct_thread *prev_thread = prev ? bpf_task_storage_get(&threads, prev, NULL, 0) : NULL;
    struct pct_run_config *cfg = config_of(slot);
    struct pct_run_state *st = state_of(slot);
    __u64 expected;
    bool chosen;

    if (!cfg || !st || !cfg->id || !prev_thread != !prev)
        return false;
    expected = prev_thread ? PCT_OWNER(prev_thread->index, cpu) : PCT_CHOOSER(cpu);
    if (!cfg->parallel && !(prev_thread ? st->owner == expected : begin_choice(st, slot, cpu)))
        return false;
    if (bpf_ktime_get_ns() - st->last_refresh_ns > REFRESH_NS && refresh_run(st, slot))
        chosen = true;
    else if (cfg->parallel)
        chosen = dispatch_parallel(cpu, slot, prev);
    else
        chosen = dispatch_serial(cpu, slot, prev, prev_thread, cfg, st, expected);
    if (!cfg->parallel && !prev_thread)
        end_choice(st, cpu);
    return chosen;
}

/* The CPU needs a thread, of whichever run; prev is on it. */
static __always_inline void dispatch(s32 cpu, struct task_struct *prev)
{
    __u32 key = 0, prev_slot = PCT_MAX_RUNS, slot, i;
    __u32 *last = bpf_map_lookup_elem(&last_slot, &key);
    struct actor a;

    if (!last)
        return;
    if (prev && (prev->scx.flags & KERNEL(SCX_TASK_QUEUED)) && actor_of(prev, &a) && owns(&a)) {
        prev_slot = a.t->slot;
        if (a.t->arriving) /* now, since it may be another run's turn next */
            arrive(&a);
    }
    slot = *last;
    bpf_for(i, 0, nr_slots) {
        slot = slot + 1 < nr_slots ? slot + 1 : 0;
        if (dispatch_run(cpu, slot, slot == prev_slot ? prev : NULL)) {
            *last = slot;
            return;
        }
    }
}

/* A thread gets the CPU, and keeps it if it may: nothing of it has been executed yet. */
static __always_inline void get_cpu(struct actor *a)
{
    s32 cpu = bpf_get_smp_processor_id();

    if (a->t->refresh || !owns(a)) {
        scx_bpf_kick_cpu(cpu, KERNEL(SCX_KICK_PREEMPT));
        return;
    }
    note_priority(a);
    if (a->st->last_thread != a->t->index + 1)
        a->st->switches++;
    a->st->last_thread = a->t->index + 1;
    a->st->last_pid = a->p->pid;
    a->st->last_cpu = cpu;
    if (a->t->arriving) /* it lost the CPU on its way to arrive() */
        scx_bpf_kick_cpu(cpu, KERNEL(SCX_KICK_PREEMPT));
    if (outranked(a->cfg, a->st, a->t)) /* a better one came while this was on its way here */
        scx_bpf_kick_cpu(cpu, KERNEL(SCX_KICK_PREEMPT));
}

/* It loses the CPU and could go on: whoever took the CPU, it goes back to its run's queue. */
static __always_inline void lose_cpu(struct actor *a)
{
    a->p->scx.slice = 0;
    if (!a->cfg->parallel)
        release(a);
}

/* Has it had the CPU for too long? */
static __always_inline bool ends_turn(struct actor *a)
{
    __u64 now = bpf_ktime_get_ns();

    if (a->t->refresh)
        return false;
    if (!scx_bpf_dsq_nr_queued(queue_of(a->t->slot))) {
        not_spinning(a);
        a->st->last_refresh_ns = now;
        return false;
    }
    return ends_spinning(a) || now - a->st->last_refresh_ns > REFRESH_NS;
}

#endif
