/* SPDX-License-Identifier: GPL-2.0-only */
/* The hooks of policy.h for the policy of a run. */
#ifndef PCTCTL_POLICY_DISPATCH_H
#define PCTCTL_POLICY_DISPATCH_H

#include "table.h"

/*
 * Can a run have this policy? The scheduler is told before it is loaded, which spares the kernel's
 * verifier the code of the others. Elsewhere all are there.
 */
#ifndef PCT_POLICY_LOADED
#define PCT_POLICY_LOADED(policy) 1
#endif

/*
 * Cases of a switch over the run's policy: its hook is called if it has one. A call through a
 * pointer to the definition would be shorter, but BPF has no such calls.
 */
#define PCT_CALL(id, hook, arguments)                                                              \
    case PCT_POLICY_##id:                                                                          \
        if (pct_definition_##id.hook && PCT_POLICY_LOADED(PCT_POLICY_##id))                        \
            pct_definition_##id.hook arguments;                                                    \
        break;
#define PCT_RETURN(id, hook, arguments)                                                            \
    case PCT_POLICY_##id:                                                                          \
        if (pct_definition_##id.hook && PCT_POLICY_LOADED(PCT_POLICY_##id))                        \
            return pct_definition_##id.hook arguments;                                             \
        break;

/* Several policies may have the same hook, or none. */
/* NOLINTBEGIN(bugprone-branch-clone) */

static inline enum pct_enforcement pct_policy_enforcement(const struct pct_policy_config *cfg)
{
    switch (cfg->policy) {
#define X(id, ...)                                                                                 \
    case PCT_POLICY_##id:                                                                          \
        return pct_definition_##id.enforcement;
        PCT_POLICIES(X)
#undef X
    }
    return PCT_ENFORCE_FREE;
}

/* One more step of the run's phase. */
static inline void pct_phase_step(struct pct_policy_run *run)
{
    if (++run->phase_steps > run->longest_phase)
        run->longest_phase = run->phase_steps;
}

/* A thread appears; see struct pct_policy_thread for what is set. */
static inline void pct_policy_appear(const struct pct_policy_config *cfg,
                                     struct pct_policy_run *run, struct pct_policy_thread *th)
{
    th->phase = run->phase;
    switch (cfg->policy) {
        PCT_POLICIES(PCT_CALL, appear, (cfg, run, th))
    }
}

static inline __u64 pct_policy_decide(const struct pct_policy_config *cfg,
                                      struct pct_policy_run *run, struct pct_policy_thread *th,
                                      const struct pct_policy_view *view)
{
    switch (cfg->policy) {
        PCT_POLICIES(PCT_RETURN, arrive, (cfg, run, th, view))
    }
    return 0;
}

/* It is about to execute th->event. How long it is to sleep before that, in nanoseconds. */
static inline __u64 pct_policy_arrive(const struct pct_policy_config *cfg,
                                      struct pct_policy_run *run, struct pct_policy_thread *th,
                                      const struct pct_policy_view *view)
{
    __u64 sleep_ns;

    run->steps++;
    th->steps++;
    if (view->enabled > 1) {
        run->concurrent++;
        pct_phase_step(run);
    } else if (run->phase_steps) {
        run->phase++;
        run->phase_steps = 0;
    }
    sleep_ns = pct_policy_decide(cfg, run, th, view);
    th->phase = run->phase;
    return sleep_ns;
}

/* It goes on to execute th->event. */
static inline enum pct_reaction pct_policy_select(const struct pct_policy_config *cfg,
                                                  struct pct_policy_run *run,
                                                  struct pct_policy_thread *th)
{
    switch (cfg->policy) {
        PCT_POLICIES(PCT_RETURN, select, (cfg, run, th))
    }
    return PCT_REACT_NONE;
}

/* It has executed th->event. */
static inline enum pct_reaction pct_policy_executed(const struct pct_policy_config *cfg,
                                                    struct pct_policy_run *run,
                                                    struct pct_policy_thread *th)
{
    switch (cfg->policy) {
        PCT_POLICIES(PCT_RETURN, executed, (cfg, run, th))
    }
    return PCT_REACT_NONE;
}

/* It was selected, and its operation has to wait. */
static inline void pct_policy_block(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                    struct pct_policy_thread *th)
{
    switch (cfg->policy) {
        PCT_POLICIES(PCT_CALL, block, (cfg, run, th))
    }
}

/* It can go on with th->event. */
static inline void pct_policy_wake(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                   struct pct_policy_thread *th)
{
    if (th->phase != run->phase)
        pct_phase_step(run);
    switch (cfg->policy) {
        PCT_POLICIES(PCT_CALL, wake, (cfg, run, th))
    }
    th->phase = run->phase;
}

/* For each thread concerned by a reaction; `by`: the event executed, null if all are concerned. */
static inline void pct_policy_disturbed(const struct pct_policy_config *cfg,
                                        struct pct_policy_run *run, struct pct_policy_thread *th,
                                        const struct pct_pending *by)
{
    if (by && !pct_conflict(cfg, by, &th->event))
        return;
    switch (cfg->policy) {
        PCT_POLICIES(PCT_CALL, disturbed, (cfg, run, th, by))
    }
}

/* A sign that it makes no progress while others wait, the count-th of its kind in a row. */
static PCT_ALWAYS_INLINE enum pct_reaction pct_policy_stuck(const struct pct_policy_config *cfg,
                                                            struct pct_policy_run *run,
                                                            struct pct_policy_thread *th,
                                                            const struct pct_policy_view *view,
                                                            enum pct_demotion sign, __u64 count)
{
    switch (cfg->policy) {
        PCT_POLICIES(PCT_RETURN, stuck, (cfg, run, th, view, sign, count))
    }
    return PCT_REACT_NONE;
}

/* NOLINTEND(bugprone-branch-clone) */

#undef PCT_CALL
#undef PCT_RETURN

#endif
