/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose thread is this? The first question of every program: it sends away all tasks of the machine that are
 * none of a run under way.
 */
#ifndef PCTCTL_ACTOR_BPF_H
#define PCTCTL_ACTOR_BPF_H

#include "kernel.bpf.h"
#include "state.bpf.h"

/* A thread of a run under way with all that belongs to it. */
struct actor {
    struct task_struct *p;
    struct pct_thread *t;
    struct pct_run_config *cfg;
    struct pct_run_state *st;
};

/* False when the task is not a thread of a run under way. */
static __always_inline bool actor_of(struct task_struct *p, struct actor *a)
{
    a->p = p;
    a->t = bpf_task_storage_get(&threads, p, NULL, 0);
    if (!a->t)
        return false;
    a->cfg = config_of(a->t->slot);
    a->st = state_of(a->t->slot);
    return a->cfg && a->st && a->cfg->id == a->t->run;
}

/* actor_of() for the current task. Quick for all tasks of the machine that are none of ours. */
static __always_inline bool current_actor(struct actor *a)
{
    struct task_struct *p = bpf_get_current_task_btf();

    return p->policy == SCHED_EXT && actor_of(p, a);
}

#endif
