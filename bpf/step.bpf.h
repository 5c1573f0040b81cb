/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A step: the executing thread has come to a point (libc_points.bpf.h, syscall_points.bpf.h). It is counted, put
 * into the order hash, and the policy says with which priority the thread goes on; then the thread
 * gives way if it is no longer the best one.
 */
#ifndef PCTCTL_STEP_BPF_H
#define PCTCTL_STEP_BPF_H

#include "actor.bpf.h"
#include "events.bpf.h"
#include "kernel.bpf.h"
#include "owner.bpf.h"
#include "policy_calls.bpf.h"
#include "progress.bpf.h"
#include "rank.bpf.h"
#include "sharing.bpf.h"
#include "state.bpf.h"
#include "stepwise.bpf.h"
#include "pctctl/identity.h"
#include "pctctl/policy_state.h"
#include "pctctl/run.h"

/* What stepwise policies are told of the step. */
static __always_inline void tell_accesses(struct pct_thread *t, __u32 kind)
{
    __u32 i, nr = t->nr_accesses;

    t->next = (struct pct_pending){.kind = kind};
    for (i = 0; i < PCT_MAX_ACCESSES && i < nr; i++) {
        if (i)
            t->next.more[i - 1] = t->accesses[i].object;
        else
            t->next.object = t->accesses[i].object;
        t->next.flags |= t->accesses[i].flags << PCT_PENDING_BITS * i;
    }
}

/* Does no other thread of the run wait for the CPU, or is to come back to it at once? */
static __always_inline bool is_alone(const struct actor *a)
{
    return owns(a) && a->st->runnable == 1 && !best_held(a->st);
}

/*
 * Stepwise policies: no other thread could go now, so that the thread goes on without a look at the queue, and
 * without leaving the CPU.
 */
static __always_inline void step_alone(struct actor *a)
{
    struct pct_policy_view view = {.enabled = a->st->enabled};

    executed(a);
    a->st->reaction = PCT_REACT_NONE; /* nobody waits */
    begin_event(a);
    policy_arrive(&a->cfg->policy, &a->st->policy, &a->t->pol, &view);
    select_event(a);
    a->st->reaction = PCT_REACT_NONE;
}

/*
 * The executing thread arrives at its next step: count it, and tell the policy. The caller enforces the
 * result before the operation takes effect. Stepwise policies are told in ops.dispatch (arrive() in stepwise.bpf.h), where waiting
 * threads' priorities can be changed.
 */
static __always_inline void step(struct actor *a, __u32 kind, __u64 site)
{
    struct pct_run_state *st = a->st;
    struct pct_thread *t = a->t;
    struct pct_policy_view view = {};
    unsigned long irqs;
    __u64 sleep_ns;

    bpf_local_irq_save(&irqs);
    if (a->cfg->parallel)
        lock_hooks(st);
    st->steps++;
    not_spinning(a);
    if (a->cfg->stepwise) {
        tell_accesses(t, kind);
        if (is_alone(a))
            step_alone(a);
        else
            t->arriving = 1;
    } else {
        view.enabled = st->enabled;
        st->order_hash = pct_order_hash(st->order_hash, t->pol.identity, kind);
        if (a->cfg->parallel)
            policy_executed(&a->cfg->policy, &st->policy, &t->pol);
        sleep_ns = policy_arrive(&a->cfg->policy, &st->policy, &t->pol, &view);
        if (sleep_ns)
            t->sleep_until_ns = bpf_ktime_get_ns() + sleep_ns;
        note_priority(a);
    }
    if (a->cfg->trace)
        report(a, PCT_EVENT_STEP, kind, st->policy.number, site);
    if (a->cfg->parallel)
        unlock_hooks(st);
    bpf_local_irq_restore(&irqs);
}

/*
 * The current thread has come to a point, to do pct_thread.accesses. True: that is a step. A global function, so
 * that it is verified once and not for each kind of point.
 */
__weak int come_to_point(__u32 kind, __u64 site)
{
    struct actor a;

    if (!current_actor(&a))
        return false;
    if (matters(a.t, a.st, a.cfg)) {
        step(&a, kind, site);
        return true;
    }
    if (a.cfg->stepwise && a.t->selected)
        executed(&a); /* if it blocks from here on, it is between two steps */
    return false;
}

/* The same point, step or not, may be a sign of no progress. `at_step`: it was one. */
static __always_inline void after_step(struct actor *a, __u32 traits, __u64 site, bool at_step)
{
    if (a->st->runnable > 1)
        notice_no_progress(a, traits, site, at_step);
    else
        a->st->lowest_ran = a->st->steps;
}

/*
 * The point at which kick.bpf.c makes the current thread give way. It is called with preemption
 * disabled, so the thread leaves the CPU when that is enabled again.
 */
static __noinline int enforce(void)
{
    asm volatile("");
    return 0;
}

#endif
