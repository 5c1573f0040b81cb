/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a point matter? With pct_run_config.focus, a thread's arrival at a point is a step only if what it acts
 * on is touched by others as well (pctctl/sharing.h): in this run already, or in an earlier one. What is learned
 * here, later runs begin with.
 */
#ifndef PCTCTL_SHARING_BPF_H
#define PCTCTL_SHARING_BPF_H

#include "actor.bpf.h"
#include "kernel.bpf.h"
#include "policy_calls.bpf.h"
#include "state.bpf.h"
#include "pctctl/run.h"
#include "pctctl/sharing.h"

/* One for each slot. Written by the scheduler; the controller reads and empties it when a run ends. */
struct sharing_of_run {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, PCT_MAX_SHARED);
    __uint(key_size, sizeof(struct pct_shared_key)); /* __type() does not work in an inner map */
    __uint(value_size, sizeof(struct pct_sharing));
};

/* Written by the controller before any run. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, PCT_MAX_RUNS);
    __type(key, __u32);
    __array(values, struct sharing_of_run);
} sharing SEC(".maps");

/* Names of what matters, by the order in which they were learned, from 1. Written by the controller between runs. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, PCT_MAX_FOCUS);
    __type(key, __u64);
    __type(value, __u32);
} focus SEC(".maps");

struct thread_end {
    __u64 run;
    __u64 time; /* of sharing.h */
};

/* When threads ended, by slot and index. Written by the scheduler. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PCT_MAX_ENDS); /* the controller makes that of it for each slot */
    __type(key, __u32);
    __type(value, struct thread_end);
} ends SEC(".maps");

/* What is known of an object that nobody has touched. */
static const struct pct_sharing untouched;

/* A thread's element in `ends`, or NULL if it is one too many. */
static __always_inline struct thread_end *end_of(__u32 slot, __u32 index)
{
    __u32 key = slot * PCT_MAX_ENDS + index;

    return index < PCT_MAX_ENDS ? bpf_map_lookup_elem(&ends, &key) : NULL;
}

/* A thread of a run appears. creator: NULL if it is the first. */
static __always_inline void begin_sharing(struct actor *a, const struct actor *creator)
{
    a->t->space = a->t->pol.identity;
    if (!creator)
        return;
    if (a->p->mm && a->p->mm == creator->p->mm)
        a->t->space = creator->t->space;
    pct_descend(&a->t->lineage, &creator->t->lineage, creator->t->index + 1, a->st->arrivals);
}

/* It executes another program. */
static __always_inline void new_space(struct actor *a)
{
    a->t->space = pct_mix(a->t->pol.identity ^ pct_mix(++a->t->programs));
}

/* It ends. */
static __always_inline void end_sharing(struct actor *a)
{
    struct thread_end *end = end_of(a->t->slot, a->t->index);

    if (!end)
        return;
    end->time = a->st->arrivals;
    end->run = a->t->run;
}

static __always_inline bool learned(const struct pct_run_config *cfg, __u64 name)
{
    __u32 *number = bpf_map_lookup_elem(&focus, &name);

    return number && *number < cfg->focus;
}

/*
 * Global functions, so that the verifier looks at each alone, and not at each way through all of them.
 */

/* A name of an object that matters: later runs begin with it. */
__weak int learn(struct pct_run_state *st __arg_nonnull, struct pct_run_config *cfg __arg_nonnull, __u32 slot,
                 __u64 name)
{
    struct pct_shared_key key = {.id = name, .is_name = 1};
    void *map = bpf_map_lookup_elem(&sharing, &slot);

    if (map && !learned(cfg, name) && bpf_map_update_elem(map, &key, &untouched, BPF_NOEXIST) == -E2BIG)
        st->forgetful = 1;
    return 0;
}

/* When a thread of the run ended. 0: it has not, or that is not known. */
__weak __u64 ended_at(struct pct_thread *of_same_run __arg_nonnull, __u32 thread)
{
    struct thread_end *end = end_of(of_same_run->slot, thread - 1);

    return end && end->run == of_same_run->run ? end->time : 0;
}

__weak int share(struct pct_thread *t __arg_nonnull, struct pct_run_state *st __arg_nonnull,
                 struct pct_sharing *o __arg_nonnull, __u32 how, __u64 name)
{
    return pct_share(o, t->index + 1, &t->lineage, st->arrivals, how, name, t->ended);
}

/* The thread is about to touch something. Does that matter? */
__weak int touch(struct pct_thread *t __arg_nonnull, struct pct_run_state *st __arg_nonnull,
                 struct pct_run_config *cfg __arg_nonnull, struct pct_access *access __arg_nonnull)
{
    struct pct_shared_key key = {.id = access->object};
    __u32 slot = t->slot, i, thread, before;
    struct pct_sharing *o;
    int matters;
    void *map;

    if (access->flags & PCT_PENDING_ANY)
        return st->threads > 1;
    map = bpf_map_lookup_elem(&sharing, &slot);
    if (!map)
        return true;
    o = bpf_map_lookup_elem(map, &key);
    if (!o) {
        bpf_map_update_elem(map, &key, &untouched, BPF_NOEXIST);
        o = bpf_map_lookup_elem(map, &key);
    }
    if (!o) {
        st->forgetful = 1;
        return true;
    }
    o->steps++;
    before = o->matters;
    bpf_for(i, 0, PCT_TOUCHES) {
        thread = o->touches[i & (PCT_TOUCHES - 1)].thread;
        t->ended[i & (PCT_TOUCHES - 1)] = thread ? ended_at(t, thread) : 0;
    }
    matters = share(t, st, o, pct_access_class(access->flags), access->name);
    if (!matters)
        return learned(cfg, access->name);
    bpf_for(i, 0, PCT_TOUCHES)
        if (!before && o->touches[i & (PCT_TOUCHES - 1)].thread)
            learn(st, cfg, slot, o->touches[i & (PCT_TOUCHES - 1)].name);
    learn(st, cfg, slot, access->name);
    return true;
}

/* The thread arrives at a point, to do pct_thread.accesses. Is that a step? */
__weak int matters(struct pct_thread *t __arg_nonnull, struct pct_run_state *st __arg_nonnull,
                   struct pct_run_config *cfg __arg_nonnull)
{
    unsigned long irqs;
    int any = false;
    __u32 i;

    __sync_fetch_and_add(&st->arrivals, 1);
    if (!cfg->focus)
        return true;
    bpf_local_irq_save(&irqs);
    if (cfg->parallel)
        lock_hooks(st);
    bpf_for(i, 0, PCT_MAX_ACCESSES)
        if (i < t->nr_accesses && touch(t, st, cfg, &t->accesses[i & (PCT_MAX_ACCESSES - 1)]))
            any = true;
    if (st->forgetful)
        any = true;
    if (cfg->parallel)
        unlock_hooks(st);
    bpf_local_irq_restore(&irqs);
    return any;
}

#endif
