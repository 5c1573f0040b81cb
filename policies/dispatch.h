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

/* What is said once for each policy may be the same for several. */
/* NOLINTBEGIN(bugprone-branch-clone) */

static inline enum pct_enforcement pct_policy_enforcement(const struct pct_policy_config *cfg)
{
    switch (cfg->policy) {
#define X(id, name, enforcement, ...)                                                              \
    case PCT_POLICY_##id:                                                                          \
        return PCT_ENFORCE_##enforcement;
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
#define X(id, name, enforcement, appear, ...)                                                      \
    case PCT_POLICY_##id:                                                                          \
        if (PCT_POLICY_LOADED(PCT_POLICY_##id))                                                    \
            appear(cfg, run, th);                                                                  \
        break;
        PCT_POLICIES(X)
#undef X
    }
}

/* It is about to execute th->event. How long it is to sleep before that, in nanoseconds. */
static inline __u64 pct_policy_arrive(const struct pct_policy_config *cfg,
                                      struct pct_policy_run *run, struct pct_policy_thread *th,
                                      const struct pct_policy_view *view)
{
    __u64 sleep_ns = 0;

    run->steps++;
    th->steps++;
    if (view->enabled > 1) {
        run->concurrent++;
        pct_phase_step(run);
    } else if (run->phase_steps) {
        run->phase++;
        run->phase_steps = 0;
    }
    switch (cfg->policy) {
#define X(id, name, enforcement, appear, arrive, ...)                                              \
    case PCT_POLICY_##id:                                                                          \
        if (PCT_POLICY_LOADED(PCT_POLICY_##id))                                                    \
            sleep_ns = arrive(cfg, run, th, view);                                                 \
        break;
        PCT_POLICIES(X)
#undef X
    }
    th->phase = run->phase;
    return sleep_ns;
}

/* It goes on to execute th->event. */
static inline enum pct_reaction pct_policy_select(const struct pct_policy_config *cfg,
                                                  struct pct_policy_run *run,
                                                  struct pct_policy_thread *th)
{
    switch (cfg->policy) {
#define X(id, name, enforcement, appear, arrive, select, ...)                                      \
    case PCT_POLICY_##id:                                                                          \
        if (PCT_POLICY_LOADED(PCT_POLICY_##id))                                                    \
            return select(cfg, run, th);                                                           \
        break;
        PCT_POLICIES(X)
#undef X
    }
    return PCT_REACT_NONE;
}

/* It has executed th->event. */
static inline enum pct_reaction pct_policy_executed(const struct pct_policy_config *cfg,
                                                    struct pct_policy_run *run,
                                                    struct pct_policy_thread *th)
{
    switch (cfg->policy) {
#define X(id, name, enforcement, appear, arrive, select, executed, ...)                            \
    case PCT_POLICY_##id:                                                                          \
        if (PCT_POLICY_LOADED(PCT_POLICY_##id))                                                    \
            return executed(cfg, run, th);                                                         \
        break;
        PCT_POLICIES(X)
#undef X
    }
    return PCT_REACT_NONE;
}

/* It was selected, and its operation has to wait. */
static inline void pct_policy_block(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                    struct pct_policy_thread *th)
{
    switch (cfg->policy) {
#define X(id, name, enforcement, appear, arrive, select, executed, block, ...)                     \
    case PCT_POLICY_##id:                                                                          \
        if (PCT_POLICY_LOADED(PCT_POLICY_##id))                                                    \
            block(cfg, run, th);                                                                   \
        break;
        PCT_POLICIES(X)
#undef X
    }
}

/* It can go on with th->event. */
static inline void pct_policy_wake(const struct pct_policy_config *cfg, struct pct_policy_run *run,
                                   struct pct_policy_thread *th)
{
    if (th->phase != run->phase)
        pct_phase_step(run);
    switch (cfg->policy) {
#define X(id, name, enforcement, appear, arrive, select, executed, block, wake, ...)               \
    case PCT_POLICY_##id:                                                                          \
        if (PCT_POLICY_LOADED(PCT_POLICY_##id))                                                    \
            wake(cfg, run, th);                                                                    \
        break;
        PCT_POLICIES(X)
#undef X
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
#define X(id, name, enforcement, appear, arrive, select, executed, block, wake, disturbed, ...)    \
    case PCT_POLICY_##id:                                                                          \
        if (PCT_POLICY_LOADED(PCT_POLICY_##id))                                                    \
            disturbed(cfg, run, th, by);                                                           \
        break;
        PCT_POLICIES(X)
#undef X
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
#define X(id, name, enforcement, appear, arrive, select, executed, block, wake, disturbed, stuck,  \
          ...)                                                                                     \
    case PCT_POLICY_##id:                                                                          \
        if (PCT_POLICY_LOADED(PCT_POLICY_##id))                                                    \
            return stuck(cfg, run, th, view, sign, count);                                         \
        break;
        PCT_POLICIES(X)
#undef X
    }
    return PCT_REACT_NONE;
}

/* NOLINTEND(bugprone-branch-clone) */

#endif
