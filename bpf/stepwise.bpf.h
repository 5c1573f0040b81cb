/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stepwise policies decide when all enabled threads have arrived at a step (policies/policy.h). A thread that
 * arrives gives way in any case; ops.dispatch then tells the policy (arrive), chooses, and tells it again
 * (go_on). Both may change the places of threads that wait in the queue. A new thread arrives at its beginning
 * while its creator makes it (begin).
 */
#ifndef PCTCTL_STEPWISE_BPF_H
#define PCTCTL_STEPWISE_BPF_H

#include "actor.bpf.h"
#include "events.bpf.h"
#include "kernel.bpf.h"
#include "policy_calls.bpf.h"
#include "progress.bpf.h"
#include "rank.bpf.h"
#include "state.bpf.h"
#include "pctctl/identity.h"
#include "pctctl/points.h"
#include "pctctl/policy_state.h"

/*
 * How many threads of a run are to make a step on an object, or are in it, so that a step beside which nobody
 * else is does not cost a walk over all who wait. Written by the scheduler; hooks of a run take turns.
 */
struct at_object_key {
    __u64 object;
    __u64 run;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __type(key, struct at_object_key);
    __type(value, __u32);
} at_object SEC(".maps");

static __always_inline struct at_object_key object_of(const struct pct_thread *t, __u32 i)
{
    return (struct at_object_key){.object = pct_pending_object(&t->pol.event, i), .run = t->run};
}

/* May the thread's step act on any object of a kind? */
static __always_inline bool acts_on_any(const struct pct_thread *t)
{
    return t->pol.event.flags & PCT_PENDING_ANY * 0x01010101u;
}

static __always_inline void come_to_objects(struct pct_run_state *st, const struct pct_thread *t)
{
    __u32 i, one = 1;

    for (i = 0; i < PCT_MAX_ACCESSES; i++) {
        struct at_object_key key = object_of(t, i);
        __u32 *count;

        if (!key.object)
            break;
        count = bpf_map_lookup_elem(&at_object, &key);
        if (count)
            ++*count;
        else if (bpf_map_update_elem(&at_object, &key, &one, BPF_ANY))
            st->uncounted = 1;
    }
    if (acts_on_any(t))
        __sync_fetch_and_add(&st->at_any, 1);
}

static __always_inline void leave_objects(struct pct_run_state *st, const struct pct_thread *t)
{
    __u32 i;

    for (i = 0; i < PCT_MAX_ACCESSES; i++) {
        struct at_object_key key = object_of(t, i);
        __u32 *count;

        if (!key.object)
            break;
        count = bpf_map_lookup_elem(&at_object, &key);
        if (count && --*count == 0)
            bpf_map_delete_elem(&at_object, &key);
    }
    if (acts_on_any(t))
        __sync_fetch_and_add(&st->at_any, -1);
}

/* Is another thread at an object of this one's step, which is over? */
static __always_inline bool others_at_objects(const struct pct_run_state *st, const struct pct_thread *t)
{
    __u32 i;

    if (st->uncounted || st->at_any || acts_on_any(t))
        return true;
    for (i = 0; i < PCT_MAX_ACCESSES; i++) {
        struct at_object_key key = object_of(t, i);

        if (!key.object)
            break;
        if (bpf_map_lookup_elem(&at_object, &key))
            return true;
    }
    return false;
}

/* What is left to be told to waiting threads, in ops.dispatch. */
static __always_inline void note_reaction(struct actor *a, __u32 reaction)
{
    if (reaction == PCT_REACT_CONFLICTS || reaction == PCT_REACT_ALL) {
        a->st->reaction = reaction;
        a->st->reacting_to = a->t->pol.event;
    }
}

/* A step of the thread is over. */
static __always_inline void executed(struct actor *a)
{
    __u32 reaction;

    if (!a->t->arrived)
        return;
    a->t->arrived = 0;
    a->t->selected = 0;
    leave_objects(a->st, a->t);
    if (a->cfg->executed)
        report(a, PCT_EVENT_EXECUTED, a->t->pol.event.kind, 0, 0);
    reaction = policy_executed(&a->cfg->policy, &a->st->policy, &a->t->pol);
    if (reaction != PCT_REACT_CONFLICTS || others_at_objects(a->st, a->t))
        note_reaction(a, reaction);
}

/* And may be told to compete with another priority. */
static __always_inline bool waits_at_step(const struct pct_thread *t)
{
    return t->arrived && !t->selected && !t->arriving && !t->last;
}

static __always_inline void disturbed(struct pct_run_config *cfg, struct pct_run_state *st,
                                      struct pct_thread *t, __u32 reaction)
{
    policy_disturbed(&cfg->policy, &st->policy, &t->pol,
                     reaction == PCT_REACT_ALL ? NULL : &st->reacting_to);
}

/*
 * Waiting threads learn of what has happened to the object of their step, and change their places.
 * `leaving`, if not null, waits too, but is still on the CPU: it comes into the queue, with the priority
 * it gets here, when it has left that.
 */
static __noinline int carry_out_reaction(struct pct_run_config *cfg, struct pct_run_state *st,
                                         __u32 slot, struct pct_thread *leaving)
{
    __u64 queue = queue_of(slot);
    struct task_struct *p;
    __u32 reaction;

    if (!cfg || !st)
        return 0;
    reaction = st->reaction;
    st->reaction = PCT_REACT_NONE;
    if (leaving && !waits_at_step(leaving))
        leaving = NULL;
    bpf_for_each(scx_dsq, p, queue, 0) {
        struct pct_thread *t = bpf_task_storage_get(&threads, p, NULL, 0);
        __u64 before;

        if (!t || !waits_at_step(t))
            continue;
        before = t->pol.priority;
        if (leaving && leaving->pol.priority > before) { /* from the highest to the lowest */
            disturbed(cfg, st, leaving, reaction);
            leaving = NULL;
        }
        disturbed(cfg, st, t, reaction);
        if (t->pol.priority == before)
            continue;
        scx_bpf_dsq_move_set_vtime(THIS_ITERATOR, PCT_PRIO_MAX - rank_of(t));
        scx_bpf_dsq_move_vtime(THIS_ITERATOR, p, queue, 0);
    }
    if (leaving)
        disturbed(cfg, st, leaving, reaction);
    return 0;
}

/* It has arrived at its next step. */
static __always_inline void begin_event(struct actor *a)
{
    a->t->pol.event = a->t->next;
    a->t->arriving = 0;
    a->t->arrived = 1;
    a->t->hashed = 0;
    come_to_objects(a->st, a->t);
}

/* It goes on and executes that step. */
static __always_inline void select_event(struct actor *a)
{
    a->t->selected = 1;
    a->t->last = 0;
    if (!a->t->hashed) /* the order in which steps are executed, not that of arrivals */
        a->st->order_hash =
            pct_order_hash(a->st->order_hash, a->t->pol.identity, a->t->pol.event.kind);
    a->t->hashed = 1;
    note_reaction(a, policy_select(&a->cfg->policy, &a->st->policy, &a->t->pol));
    a->st->owner_priority = rank_of(a->t);
}

/* Stepwise policies: the owner has come to its next step; what does it compete with? */
static __noinline void arrive(struct actor *a)
{
    struct pct_policy_view view = {};
    struct pct_thread *t = a->t;
    __u64 before;

    executed(a);
    if (a->st->reaction)
        carry_out_reaction(a->cfg, a->st, t->slot, NULL);
    begin_event(a);
    view.other = best_other(a->st, t->slot);
    view.enabled = a->st->enabled;
    policy_arrive(&a->cfg->policy, &a->st->policy, &t->pol, &view);
    if (t->sign && prolongs_final_wait(a)) {
        demote(a, t->sign);
        t->last = 1;
        t->sign = 0;
    } else if (t->sign) {
        before = t->pol.priority;
        note_reaction(a, policy_stuck(&a->cfg->policy, &a->st->policy, &t->pol, &view,
                                      t->sign_count << 3 | t->sign));
        if (a->st->reaction || t->pol.priority != before)
            a->st->demotions[t->sign & 7]++;
        if (a->st->reaction)
            carry_out_reaction(a->cfg, a->st, t->slot, t);
        t->sign = 0;
    }
}

/*
 * Stepwise policies: a thread that is being made is to compete from its first instruction on. It acts on
 * nothing: what enables it is its creation, and with all else it commutes.
 */
static __always_inline void begin(struct actor *a)
{
    struct pct_policy_view view = {};

    a->st->steps++;
    a->t->pol.event.kind = PCT_KIND_BEGIN;
    a->t->arrived = 1;
    view.other = best_other(a->st, a->t->slot);
    view.enabled = a->st->enabled;
    policy_arrive(&a->cfg->policy, &a->st->policy, &a->t->pol, &view);
    if (a->cfg->trace)
        report(a, PCT_EVENT_STEP, PCT_KIND_BEGIN, a->st->policy.number, 0);
}

/* Stepwise policies: the thread goes on and executes its step. `leaving` loses the CPU to it, or null. */
static __always_inline void go_on(struct actor *a, struct pct_thread *leaving)
{
    if (!a->t->arrived || a->t->selected)
        return;
    select_event(a);
    if (a->st->reaction)
        carry_out_reaction(a->cfg, a->st, a->t->slot, leaving);
}

#endif
