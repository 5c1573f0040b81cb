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

/* A name of an object that matters: later runs begin with it. */
static __always_inline void learn(struct actor *a, void *map, __u64 name)
{
    struct pct_shared_key key = {.id = name, .is_name = 1};

    if (!learned(a->cfg, name) && bpf_map_update_elem(map, &key, &untouched, BPF_NOEXIST) == -E2BIG)
        a->st->forgetful = 1;
}

/* The thread is about to touch something. Does that matter? */
static __noinline bool touch(struct actor *a, void *map, struct pct_access *access)
{
    struct pct_shared_key key = {.id = access->object};
    bool before, now;
    struct pct_sharing *o;
    __u64 ended[PCT_TOUCHES] = {};
    int i;

    o = bpf_map_lookup_elem(map, &key);
    if (!o) {
        bpf_map_update_elem(map, &key, &untouched, BPF_NOEXIST);
        o = bpf_map_lookup_elem(map, &key);
    }
    if (!o) {
        a->st->forgetful = 1;
        return true;
    }
    bpf_for(i, 0, PCT_TOUCHES) {
        __u32 thread = o->touches[i & (PCT_TOUCHES - 1)].thread;
        struct thread_end *end = thread ? end_of(a->t->slot, thread - 1) : NULL;

        if (end && end->run == a->t->run)
            ended[i & (PCT_TOUCHES - 1)] = end->time;
    }
    o->steps++;
    before = o->matters;
    now = pct_share(o, a->t->index + 1, &a->t->lineage, a->st->arrivals, pct_access_class(access->flags),
                    access->name, ended);
    if (now && !before)
        bpf_for(i, 0, PCT_TOUCHES)
            if (o->touches[i & (PCT_TOUCHES - 1)].thread)
                learn(a, map, o->touches[i & (PCT_TOUCHES - 1)].name);
    if (now)
        learn(a, map, access->name);
    return now || learned(a->cfg, access->name);
}

/* The thread arrives at a point, to do pct_thread.accesses. Is that a step? */
static __noinline bool matters(struct actor *a)
{
    __u32 slot = a->t->slot, i;
    bool any = !a->cfg->focus;
    unsigned long irqs;
    void *map;

    __sync_fetch_and_add(&a->st->arrivals, 1);
    if (any)
        return true;
    map = bpf_map_lookup_elem(&sharing, &slot);
    if (!map)
        return true;
    bpf_local_irq_save(&irqs);
    if (a->cfg->parallel)
        lock_hooks(a->st);
    bpf_for(i, 0, PCT_MAX_ACCESSES)
        if (i < a->t->nr_accesses && touch(a, map, &a->t->accesses[i & (PCT_MAX_ACCESSES - 1)]))
            any = true;
    if (a->st->forgetful)
        any = true;
    if (a->cfg->parallel)
        unlock_hooks(a->st);
    bpf_local_irq_restore(&irqs);
    return any;
}

#endif
