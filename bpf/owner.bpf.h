/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who may execute: the owner of a serial run, in a parallel run whoever has a place. Chosen in serial.bpf.h and
 * parallel.bpf.h, given up by the callbacks in sched.bpf.c.
 */
#ifndef PCTCTL_OWNER_BPF_H
#define PCTCTL_OWNER_BPF_H

#include "actor.bpf.h"
#include "kernel.bpf.h"
#include "rank.bpf.h"
#include "state.bpf.h"

static __always_inline void leave_place(struct pct_run_state *st, struct pct_thread *t)
{
    if (t->place)
        __sync_val_compare_and_swap(&place_of(st, t->place - 1)->thread, t->index + 1, 0);
    t->place = 0;
}

static __always_inline bool in_place(struct pct_run_state *st, const struct pct_thread *t)
{
    return t->place && place_of(st, t->place - 1)->thread == t->index + 1;
}

/* Is a CPU looking for the next owner? */
static __always_inline bool is_chooser(__u64 owner)
{
    return (__u32)owner == (__u32)PCT_CHOOSER(0);
}

/* May it execute? */
static __always_inline bool owns(const struct actor *a)
{
    return a->cfg->parallel ? in_place(a->st, a->t) : (__u32)a->st->owner == a->t->index + 1;
}

static __always_inline void release(struct actor *a)
{
    __u64 owner = a->st->owner;

    if (a->cfg->parallel)
        leave_place(a->st, a->t);
    else if ((__u32)owner == a->t->index + 1)
        __sync_val_compare_and_swap(&a->st->owner, owner, 0);
}

static __always_inline void note_priority(struct actor *a)
{
    if (a->cfg->parallel)
        place_of(a->st, a->t->place - 1)->priority = rank_of(a->t);
    else
        a->st->owner_priority = rank_of(a->t);
}

#endif
