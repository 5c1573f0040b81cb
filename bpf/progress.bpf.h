/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signs that a thread waits in a loop for another one, which priorities would keep from ever getting there:
 * yields, polling, very many steps, CPU time without a step. The policy decides what becomes of it.
 */
#ifndef PCTCTL_PROGRESS_BPF_H
#define PCTCTL_PROGRESS_BPF_H

#include "actor.bpf.h"
#include "events.bpf.h"
#include "kernel.bpf.h"
#include "owner.bpf.h"
#include "policy_calls.bpf.h"
#include "state.bpf.h"
#include "pctctl/lap.h"
#include "pctctl/points.h"
#include "pctctl/priority.h"
#include "pctctl/random.h"

#define LAP_STACK 16 /* words, the return address is the first */
#define LONGEST_TICK_NS (10 * 1000 * 1000ULL) /* of kernels with 100 ticks in a second */

/* It does something other than to spin. */
static __always_inline void not_spinning(struct actor *a)
{
    a->t->cpu_mark = a->p->se.sum_exec_runtime;
    a->t->spun_ns = 0;
}

/*
 * The CPU time between two ticks, and no more than a tick's length of it: the processor of a virtual
 * machine that its host keeps waiting takes no ticks, and executes nothing, but time goes on.
 */
static __always_inline __u64 spun_ns(struct actor *a)
{
    __u64 now = a->p->se.sum_exec_runtime, ran = now - a->t->cpu_mark;

    a->t->cpu_mark = now;
    a->t->spun_ns += ran < LONGEST_TICK_NS ? ran : LONGEST_TICK_NS;
    return a->t->spun_ns;
}

static __always_inline void demote(struct actor *a, enum pct_demotion why)
{
    struct pct_thread *t = a->t;

    t->pol.priority = pct_demoted_priority(__sync_fetch_and_add(&a->st->demote_floor, 1) + 1);
    if (owns(a))
        note_priority(a);
    a->st->demotions[why & 7]++;
    t->yield_count = 0;
    t->poll_count = 0;
    t->loop_count = 0;
    if (a->cfg->trace)
        report(a, PCT_EVENT_PRIORITY, 0, why, 0);
}

/*
 * The other threads go first (PCT, section 4.2), until they have ended, are all blocked, or show signs of no
 * progress: arrive() then lets them wait for this one.
 */
static __always_inline void begin_final_wait(struct actor *a)
{
    if (!a->t->final)
        __sync_fetch_and_add(&a->st->final_waits, 1);
    a->t->final = 1;
    demote(a, PCT_DEMOTE_FINAL_WAIT);
}

static __always_inline void end_final_wait(struct actor *a)
{
    if (a->t->final)
        __sync_fetch_and_add(&a->st->final_waits, -1);
    a->t->final = 0;
}

/*
 * Stepwise policies: does the thread, at its step, keep one in its final wait from ever going on? Most of
 * these policies do nothing about a thread that makes no progress, as each event has its turn
 * some time. Behind those of all others has none as long as they make steps.
 */
static __always_inline bool prolongs_final_wait(const struct actor *a)
{
    const struct pct_thread *t = a->t;
    __u64 seed = a->cfg->policy.seed, identity = t->pol.identity;

    return a->st->final_waits &&
           (pct_no_progress(seed, identity, t->sign, t->sign_count) ||
            pct_no_progress(seed, identity, PCT_DEMOTE_STARVE, a->st->steps - a->st->lowest_ran));
}

/*
 * A sign that somebody waits for a thread below this one. True: the policy did something about it. A
 * stepwise one is told of signs at steps only, see arrive(); between them, this is the same for all.
 */
static __always_inline bool no_progress(struct actor *a, enum pct_demotion sign, __u64 count)
{
    struct pct_policy_view view = {};
    __u32 reaction = PCT_REACT_DEMOTE;
    unsigned long irqs;

    if (a->cfg->stepwise) {
        if (!pct_no_progress(a->cfg->policy.seed, a->t->pol.identity, sign, count))
            return false;
    } else {
        bpf_local_irq_save(&irqs);
        if (a->cfg->parallel)
            lock_hooks(a->st);
        reaction = policy_stuck(&a->cfg->policy, &a->st->policy, &a->t->pol, &view,
                                count << 3 | sign);
        if (a->cfg->parallel)
            unlock_hooks(a->st);
        bpf_local_irq_restore(&irqs);
    }
    if (reaction == PCT_REACT_NONE)
        return false;
    if (reaction == PCT_REACT_DEMOTE) {
        demote(a, sign);
    } else {
        a->st->demotions[sign & 7]++;
        a->st->reaction = reaction;
    }
    return true;
}

/* `at_step`: the operation is a step. */
static __always_inline void notice_no_progress(struct actor *a, __u32 traits, __u64 site, bool at_step)
{
    struct pct_thread *t = a->t;
    enum pct_demotion sign = 0;
    __u64 count = 0;

    if (a->cfg->parallel && !a->st->policy.low)
        return; /* they all execute */
    if (traits & PCT_POINT_YIELD) {
        sign = PCT_DEMOTE_YIELD;
        count = ++t->yield_count;
    } else if (traits & PCT_POINT_POLLS) {
        sign = PCT_DEMOTE_POLL;
        if (t->poll_site != site) {
            t->poll_site = site;
            t->poll_count = 0;
        }
        count = ++t->poll_count;
    }
    if (a->cfg->stepwise && at_step) { /* decided when it arrives at a step, see arrive() */
        t->sign = sign ? sign : PCT_DEMOTE_LOOP;
        t->sign_count = sign ? count : ++t->loop_count;
        return;
    }
    if ((sign && no_progress(a, sign, count)) || !at_step)
        return;
    if (!no_progress(a, PCT_DEMOTE_LOOP, ++t->loop_count))
        no_progress(a, PCT_DEMOTE_STARVE, a->st->steps - a->st->lowest_ran);
}

/* At a tick: has it used so much CPU time without a step that it spins? Then it was dealt with. */
static __always_inline bool ends_spinning(struct actor *a)
{
    if (spun_ns(a) <= a->cfg->spin_limit_ns || !a->cfg->spin_limit_ns || !a->st->started ||
        (a->cfg->parallel && !a->st->policy.low))
        return false;
    not_spinning(a);
    no_progress(a, PCT_DEMOTE_SPIN, 0);
    return true;
}

/* The run gets something done. By that the controller tells a slow run from one that hangs. */
static __always_inline void gets_on(struct actor *a)
{
    __sync_fetch_and_add(&a->st->useful, 1);
}

/* The thread enters a libc operation: where, and how? */
static __noinline int place_in_lap(struct pt_regs *regs, struct pct_lap *place)
{
    __u64 stack[LAP_STACK] = {};
    int i;

    bpf_probe_read_user(stack, sizeof(stack), (void *)PT_REGS_SP(regs));
    place->places = pct_mix(PT_REGS_IP(regs) ^ pct_mix(PT_REGS_SP(regs) ^ pct_mix(stack[0])));
    place->sum = regs->bx + regs->bp + regs->r12 + regs->r13 + regs->r14 + regs->r15;
    for (i = 0; i < LAP_STACK; i++)
        place->sum += (__u32)stack[i] + (stack[i] >> 32);
    return 0;
}

/* It enters a libc operation, step or not. */
static __always_inline void progress_by_operation(struct actor *a, struct pt_regs *regs, __u32 traits)
{
    struct pct_laps *laps = &a->t->laps;
    __u64 object = PT_REGS_PARM1(regs);
    struct pct_lap place = {};

    if (traits & PCT_POINT_POLLS) {
        if (pct_lap_try(laps, object))
            gets_on(a);
    } else if (pct_lap_operation(laps, object)) {
        gets_on(a);
    } else {
        place_in_lap(regs, &place);
        pct_lap_goes_on(laps, &place);
    }
}

/* A system call returns, point or not. */
static __always_inline void progress_by_call(struct actor *a, long ret)
{
    __u32 nr = a->t->sysno, traits = a->t->call;
    bool sleeps = nr == NR_NANOSLEEP || nr == NR_CLOCK_NANOSLEEP, progress = false;

    a->t->call = 0;
    switch (pct_call_result(traits, sleeps, nr == NR_FUTEX || nr == NR_FUTEX_WAIT, ret)) {
    case PCT_CALL_PROGRESS:
        progress = true;
        break;
    case PCT_CALL_IN_VAIN:
        progress = pct_lap_ends(&a->t->laps);
        break;
    case PCT_CALL_TIMES_OUT:
        progress = pct_lap_times_out(&a->t->laps);
        break;
    case PCT_CALL_NOTHING:
        break;
    }
    if (progress)
        gets_on(a);
}

/* It has slept, and was woken. */
static __always_inline void progress_by_wakeup(struct actor *a)
{
    not_spinning(a);
    a->t->yield_count = 0;
    a->t->poll_count = 0;
    /* Others may get next to nothing done during a nanosecond's sleep. */
    if (a->t->sysno != NR_NANOSLEEP && a->t->sysno != NR_CLOCK_NANOSLEEP)
        a->t->loop_count = 0;
}

#endif
