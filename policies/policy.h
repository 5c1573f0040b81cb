/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a scheduling policy sees and decides; the types are in pctctl/policy_state.h. Policies are
 * plain C compiled unchanged into the BPF scheduler and into host programs; they never touch
 * sched_ext. A policy decides priorities, the scheduler ("the mechanism") enforces them.
 *
 * The mechanism's contract, for serial policies:
 *
 * - Of all enabled threads the one of highest priority executes. It is looked for again whenever a
 *   thread arrives at a step, blocks, wakes, appears or ends.
 * - A thread that appears has not arrived at a step yet. Having executed its step it has not
 *   arrived at the next one yet. Code between steps is local: it runs with whatever priority the
 *   thread has.
 * - The hooks, each with the acting thread, in the order in which a thread meets them:
 *
 *     appear     the thread exists; sets its first priority
 *     arrive     it is about to execute the step th->event; sets the priority it competes with
 *     select     it is the one to execute that step: called once when it goes on after arrive, and
 *                again after block and wake
 *     block      it was selected, but the operation has to wait
 *     wake       it is enabled again, and competes with the priority set here; pct and rpro are not
 *                told of blocks, but of all wake-ups
 *     executed   the step is done: called when the thread arrives at its next step, before `arrive`
 *                and while th->event is still the old one, and when it ends
 *
 *   In stepwise policies (PCT_ENFORCE_STEPWISE) a thread has PCT_PRIO_RUNNING from select to
 *   arrive: so decisions are made only when every enabled thread has arrived at a step, as in the
 *   papers' models. A new thread has PCT_PRIO_ARRIVING or more and reaches its first step even
 *   before its creator goes on.
 * - The hooks of one run are never executed at the same time, but that something outside of the run
 *   may wake a thread at any time.
 * - `select`, `executed` and `stuck` may ask for priorities of threads that wait at their step to
 *   change (enum pct_reaction). The mechanism then calls `disturbed` for each thread concerned,
 *   from the highest priority to the lowest, and puts it in its new place before it decides
 *   anything. Nothing else ever changes a waiting thread's priority. `stuck` follows `arrive`, if
 *   there is such a sign.
 *
 * Random decisions are indexed by thread identity and the thread's own counters, so that they are
 * the same on both sides and independent of each other.
 */
#ifndef PCTCTL_POLICY_H
#define PCTCTL_POLICY_H

#include "pctctl/policy_state.h"
#include "pctctl/priority.h"
#include "pctctl/random.h"

/*
 * Of a new thread until it arrives at a step, and more if its creator has not arrived at one
 * either; of the selected one until it arrives or blocks.
 */
#define PCT_PRIO_ARRIVING (PCT_PRIO_MAX - 0xffff)
#define PCT_PRIO_RUNNING (PCT_PRIO_ARRIVING - 1)

enum pct_enforcement {
    PCT_ENFORCE_SERIAL,     /* one thread at a time, the one of highest priority */
    PCT_ENFORCE_STEPWISE,   /* the same, decided when all enabled threads have arrived at a step */
    PCT_ENFORCE_ADMISSIBLE, /* all threads above pct_policy_run.low at the same time, the others one
                             * at a time and only if none of those is enabled */
    PCT_ENFORCE_FREE        /* as the kernel pleases */
};

/* One thread at a time? */
static inline bool pct_is_serial(enum pct_enforcement kind)
{
    return kind == PCT_ENFORCE_SERIAL || kind == PCT_ENFORCE_STEPWISE;
}

/* Of what a definition may leave out. C++ wants that said. */
#ifdef __cplusplus
#define PCT_ABSENT = nullptr
#else
#define PCT_ABSENT
#endif

struct pct_policy_definition {
    const char *name; /* on the command line; its file's and its page's */
    enum pct_enforcement enforcement;
    const char *summary;   /* what it does */
    const char *guarantee; /* what a run promises; "none" */
    /* The hooks. One that is left out does nothing and asks for nothing. */
    void (*appear)(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                   struct pct_policy_thread *th) PCT_ABSENT;
    /* Returns how long the thread is to sleep first, in nanoseconds. */
    __u64 (*arrive)(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                    struct pct_policy_thread *th, const struct pct_policy_view *view) PCT_ABSENT;
    enum pct_reaction (*select)(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                struct pct_policy_thread *th) PCT_ABSENT;
    void (*block)(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                  struct pct_policy_thread *th) PCT_ABSENT;
    void (*wake)(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                 struct pct_policy_thread *th) PCT_ABSENT;
    enum pct_reaction (*executed)(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                  struct pct_policy_thread *th) PCT_ABSENT;
    /* by: the event executed; null: all waiting threads are concerned. */
    void (*disturbed)(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                      struct pct_policy_thread *th, const struct pct_pending *by) PCT_ABSENT;
    /* A sign that it makes no progress while others wait, the count-th of its kind in a row. */
    enum pct_reaction (*stuck)(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                               struct pct_policy_thread *th, const struct pct_policy_view *view,
                               enum pct_demotion sign, __u64 count) PCT_ABSENT;
};

/*
 * PCT_POLICY(ID) = { .name = ... }; defines a policy, whose number is PCT_POLICY_ID (table.h). A
 * constant that the compiler knows: dispatch.h makes direct calls of its hooks, BPF having no
 * others.
 */
#ifdef __cplusplus
#define PCT_POLICY(id) constexpr struct pct_policy_definition pct_definition_##id
#else
#define PCT_POLICY(id) static const struct pct_policy_definition pct_definition_##id
#endif

/* Do two accesses act on the same thing, as far as is known? */
static inline bool pct_meet(__u64 a, __u32 a_flags, __u64 b, __u32 b_flags)
{
    if (!a || !b)
        return false;
    return a == b ||
           (((a_flags | b_flags) & PCT_PENDING_ANY) && (a_flags & b_flags & PCT_PENDING_KINDS));
}

/* Does the order of two events of different threads matter? */
static inline bool pct_conflict(const struct pct_policy_config *cfg, const struct pct_pending *a,
                                const struct pct_pending *b)
{
    const __u32 commute =
        PCT_PENDING_WITHIN | (cfg->options & PCT_OPTION_READ_ONLY ? PCT_PENDING_READ_ONLY : 0);
    __u32 i, j;

    for (i = 0; i < PCT_MAX_ACCESSES; i++) {
        const __u64 object = pct_pending_object(a, i);
        const __u32 flags = pct_pending_flags(a, i);

        if (!object)
            break;
        for (j = 0; j < PCT_MAX_ACCESSES; j++) {
            const __u32 other = pct_pending_flags(b, j);

            if (pct_meet(object, flags, pct_pending_object(b, j), other) &&
                !(flags & other & commute))
                return true;
        }
    }
    return false;
}

/* For hooks that need not look at all that they are given. */
static inline void pct_policy_nothing(const struct pct_policy_config *cfg,
                                      struct pct_policy_run *run, struct pct_policy_thread *th)
{
    (void)cfg;
    (void)run;
    (void)th;
}

/* Stepwise policies: a new thread arrives at its first step before anything is decided. */
static inline void pct_stepwise_appear(const struct pct_policy_config *cfg,
                                       struct pct_policy_run *run, struct pct_policy_thread *th)
{
    pct_policy_nothing(cfg, run, th);
    if (th->priority < PCT_PRIO_ARRIVING)
        th->priority = PCT_PRIO_ARRIVING;
    else if (th->priority < PCT_PRIO_MAX)
        th->priority++;
}

static inline enum pct_reaction pct_stepwise_select(const struct pct_policy_config *cfg,
                                                    struct pct_policy_run *run,
                                                    struct pct_policy_thread *th)
{
    pct_policy_nothing(cfg, run, th);
    th->priority = PCT_PRIO_RUNNING;
    return PCT_REACT_NONE;
}

/* The event is still to be executed, with the priority it had. */
static inline void pct_stepwise_keep(const struct pct_policy_config *cfg,
                                     struct pct_policy_run *run, struct pct_policy_thread *th)
{
    pct_policy_nothing(cfg, run, th);
    th->priority = th->event_priority;
}

#endif
