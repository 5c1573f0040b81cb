/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs of several threads at a time: the low set of PPCT one by one and only while nobody above it is
 * enabled, all others on all CPUs; without a low set, all threads as they come.
 *
 * The queue of such a run has the threads above the low set in the order of their coming, then those in
 * it by priority. A thread let onto a CPU has that CPU's place in pct_run_state.places from its choice
 * in dispatch_parallel() until it blocks, has another place, or another thread has that one. So all
 * enabled threads can be seen at any time in the queue, in a place or among the holds, by threads of the
 * low set on other CPUs: the kernel puts a thread into the queue only when ops.enqueue has returned.
 */
#ifndef PCTCTL_PARALLEL_BPF_H
#define PCTCTL_PARALLEL_BPF_H

#include "actor.bpf.h"
#include "compat.bpf.h"
#include "cpu.bpf.h"
#include "events.bpf.h"
#include "kernel.bpf.h"
#include "kernel_waits.bpf.h"
#include "owner.bpf.h"
#include "policy_calls.bpf.h"
#include "rank.bpf.h"
#include "state.bpf.h"
#include "pctctl/policy_state.h"

/* Below all keys of the low set, which are those of serial runs. */
#define PARALLEL_KEY (-(1ULL << 62))

/* Wakes the CPUs for the threads that sleep in a run; started by ops.dispatch. */
struct sleepers {
    struct bpf_timer timer;
};

/* Written by the kernel, which keeps the timers. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PCT_MAX_RUNS);
    __type(key, __u32);
    __type(value, struct sleepers);
} sleepers SEC(".maps");

static __always_inline bool in_low_set(const struct pct_run_state *st, const struct pct_thread *t)
{
    return rank_of(t) <= st->policy.low;
}

static __always_inline __u64 parallel_key(struct pct_run_state *st, const struct pct_thread *t)
{
    if (in_low_set(st, t))
        return PCT_PRIO_MAX - rank_of(t);
    return PARALLEL_KEY + __sync_fetch_and_add(&st->queued, 1);
}

/* Somebody has come into the queue: an idle CPU may take it, and the low set gives way to the others. */
static __always_inline void call_cpus(struct pct_run_state *st, struct task_struct *p,
                                      const struct pct_thread *t)
{
    s32 idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
    __u32 nr = nr_places(), i;

    if (idle >= 0)
        scx_bpf_kick_cpu(idle, 0);
    bpf_for(i, 0, nr) {
        struct pct_place *place = place_of(st, i);

        if (place->thread && place->executing && place->priority <= st->policy.low &&
            place->priority < rank_of(t))
            scx_bpf_kick_cpu(i, KERNEL(SCX_KICK_PREEMPT));
    }
}

/* A thread comes into the queue: it wakes, or has lost the CPU. */
static __always_inline void queue_parallel(struct actor *a, u64 enq_flags)
{
    a->t->refresh = 0;
    dsq_insert_vtime(a->p, queue_of(a->t->slot), SLICE_NS, parallel_key(a->st, a->t), enq_flags);
    end_holds_for_lock(a);
    if (in_place(a->st, a->t))
        place_of(a->st, a->t->place - 1)->executing = 0;
    call_cpus(a->st, a->p, a->t);
}

/* Starvation of the low set (PPCT, section 5.5): a random one of them makes one step. */
static __noinline int carry_out_bump(struct pct_run_config *cfg, struct pct_run_state *st, __u32 slot)
{
    __u64 queue = queue_of(slot), best = 0;
    struct actor a = {.cfg = cfg, .st = st};
    struct task_struct *p;

    if (!cfg || !st ||
        __sync_val_compare_and_swap(&st->reaction, PCT_REACT_BUMP, PCT_REACT_NONE) != PCT_REACT_BUMP)
        return 0;
    bpf_for_each(scx_dsq, p, queue, 0) {
        struct pct_thread *t = bpf_task_storage_get(&threads, p, NULL, 0);
        __u64 key;

        if (!t || !in_low_set(st, t))
            continue;
        key = pct_policy_bump_key(&cfg->policy, &st->policy, &t->pol);
        if (key > best)
            best = key;
    }
    bpf_for_each(scx_dsq, p, queue, 0) {
        struct pct_thread *t = bpf_task_storage_get(&threads, p, NULL, 0);

        if (!t || !in_low_set(st, t) ||
            pct_policy_bump_key(&cfg->policy, &st->policy, &t->pol) != best)
            continue;
        lock_hooks(st);
        if (!t->pol.bumped) /* or another CPU was quicker */
            pct_policy_bump(&t->pol);
        unlock_hooks(st);
        a.p = p;
        a.t = t;
        end_hold(&a);
        if (cfg->trace)
            report(&a, PCT_EVENT_PRIORITY, 0, 0, 0);
        scx_bpf_dsq_move_set_vtime(THIS_ITERATOR, parallel_key(st, t));
        scx_bpf_dsq_move_vtime(THIS_ITERATOR, p, queue, 0);
        break;
    }
    return 0;
}

/* May a waiting thread execute on that CPU? */
static __always_inline bool may_use(struct task_struct *p, s32 cpu)
{
    return is_pinned(p) ? scx_bpf_task_cpu(p) == cpu : bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

/* Is a thread above this one of the low set enabled elsewhere, or does another one of that execute? */
static __always_inline bool has_to_wait(struct pct_run_state *st, struct pct_thread *t, __u32 cpu)
{
    __u32 nr = nr_places(), i;

    if (best_held(st) > rank_of(t))
        return true;
    bpf_for(i, 0, nr) {
        struct pct_place *place = place_of(st, i);

        if (i != cpu && place->thread && place->thread != t->index + 1 &&
            (place->executing || place->priority > rank_of(t)))
            return true;
    }
    return false;
}

static __always_inline void set_place(struct pct_run_state *st, struct pct_thread *t, s32 cpu)
{
    struct pct_place *place = place_of(st, cpu);

    place->priority = t ? rank_of(t) : 0;
    place->thread = t ? t->index + 1 : 0;
    place->executing = t != NULL;
}

/* Let a thread onto this CPU in place of prev. False: it is of the low set and has to wait. */
static __always_inline bool take_place(struct pct_run_state *st, struct pct_thread *t,
                                       struct pct_thread *prev, s32 cpu)
{
    bool taken = true;

    lock_hooks(st);
    set_place(st, t, cpu);
    if (in_low_set(st, t)) {
        taken = !has_to_wait(st, t, cpu);
        if (taken)
            st->lowest_ran = st->steps;
        else
            set_place(st, prev, cpu);
    }
    unlock_hooks(st);
    return taken;
}

static __always_inline void sleep_on(__u32 slot, __u64 delay_ns)
{
    struct sleepers *s = bpf_map_lookup_elem(&sleepers, &slot);

    if (s)
        bpf_timer_start(&s->timer, delay_ns, 0);
}

static int end_of_sleep(void *map, __u32 *slot, struct sleepers *s)
{
    __u32 nr = scx_bpf_nr_cpu_ids(), i;

    bpf_for(i, 0, nr)
        scx_bpf_kick_cpu(i, KERNEL(SCX_KICK_IDLE));
    return 0;
}

/* Called before any run. */
static __always_inline int init_sleepers(__u32 slot)
{
    struct sleepers *s = bpf_map_lookup_elem(&sleepers, &slot);

    if (!s || bpf_timer_init(&s->timer, &sleepers, CLOCK_MONOTONIC) ||
        bpf_timer_set_callback(&s->timer, end_of_sleep))
        return -ENOMEM;
    return 0;
}

/* dispatch_run() for a parallel run; prev is a thread of it that is on this CPU and could go on. */
__noinline int dispatch_parallel(s32 cpu, __u32 slot,
                                 struct task_struct *prev __arg_trusted __arg_nullable)
{
    struct pct_thread *prev_thread = prev ? bpf_task_storage_get(&threads, prev, NULL, 0) : NULL;
    struct pct_run_config *cfg = config_of(slot);
    struct pct_run_state *st = state_of(slot);
    __u64 now = bpf_ktime_get_ns(), wait = ~0ULL;
    struct task_struct *p;
    bool chosen = false, passed = false;
    struct actor a = {.cfg = cfg, .st = st};

    if (!cfg || !st || !cfg->id || !prev_thread != !prev || cpu < 0 || cpu >= PCT_MAX_CPUS)
        return false;
    if (st->reaction)
        carry_out_bump(cfg, st, slot);
    bpf_for_each(scx_dsq, p, queue_of(slot), 0) {
        struct pct_thread *t = bpf_task_storage_get(&threads, p, NULL, 0);

        if (!t)
            continue;
        if (t->sleep_until_ns > now) {
            if (t->sleep_until_ns - now < wait)
                wait = t->sleep_until_ns - now;
            continue;
        }
        if (in_low_set(st, t) && (passed || (prev_thread && rank_of(prev_thread) > rank_of(t))))
            break;
        if (!may_use(p, cpu)) {
            scx_bpf_kick_cpu(cpu_for(p, slot), 0);
            passed = true;
            continue;
        }
        if (!take_place(st, t, prev_thread, cpu))
            break;
        a.t = t;
        scx_bpf_dsq_move_set_slice(THIS_ITERATOR, SLICE_NS);
        if (scx_bpf_dsq_move(THIS_ITERATOR, p, KERNEL(SCX_DSQ_LOCAL), 0)) {
            if (t->place != (__u32)cpu + 1)
                leave_place(st, t);
            t->place = cpu + 1;
            t->sleep_until_ns = 0;
            end_hold(&a);
            chosen = true;
        } else { /* it left the queue just now: look again */
            set_place(st, prev_thread, cpu);
            scx_bpf_kick_cpu(cpu, KERNEL(SCX_KICK_PREEMPT));
        }
        break;
    }
    if (wait != ~0ULL)
        sleep_on(slot, wait);
    if (chosen)
        return true;
    if (!prev || outranked(cfg, st, prev_thread))
        return false;
    prev->scx.slice = SLICE_NS;
    return true;
}

#endif
