/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the controller is told of a run while it goes on: threads that appear and end, signals, and if asked for
 * each step.
 */
#ifndef PCTCTL_EVENTS_BPF_H
#define PCTCTL_EVENTS_BPF_H

#include "actor.bpf.h"
#include "kernel.bpf.h"
#include "state.bpf.h"
#include "pctctl/run.h"

/* From the scheduler to the controller. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 16 << 20);
} events SEC(".maps");

static __always_inline void report(struct actor *a, __u32 type, __u32 kind, __s32 code, __u64 site)
{
    struct pct_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

    if (!e) {
        __sync_fetch_and_add(&a->st->lost_events, 1);
        return;
    }
    e->run = a->t->run;
    e->time_ns = bpf_ktime_get_ns();
    e->identity = a->t->pol.identity;
    e->priority = a->t->pol.priority;
    e->step = a->st->steps;
    e->site = site;
    e->type = type;
    e->slot = a->t->slot;
    e->thread = a->t->index;
    e->parent = a->t->parent;
    e->ordinal = a->t->ordinal;
    e->pid = a->p->pid;
    e->tgid = a->p->tgid;
    e->kind = kind;
    e->code = code;
    e->executed = a->t->pol.event;
    bpf_probe_read_kernel_str(e->comm, sizeof(e->comm), a->p->comm);
    bpf_ringbuf_submit(e, 0);
}

#endif
