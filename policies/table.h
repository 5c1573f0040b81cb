/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All policies. To add one: its file, its line here, its page in docs/policies/.
 *
 * X(id, name, enforcement, appear, arrive, select, executed, block, wake, disturbed, stuck,
 *   "what it does", "what it guarantees")
 *
 * enforcement: SERIAL, one thread at a time, the one of highest priority; STEPWISE, the same, but
 * decided only when all enabled threads have arrived at a step (see policy.h); ADMISSIBLE, all
 * threads above pct_policy_run.low at the same time, the others one at a time and only if none of
 * those is enabled; FREE, as the kernel pleases. Numbers are part of saved seeds: append, never
 * reorder.
 */
#ifndef PCTCTL_POLICY_TABLE_H
#define PCTCTL_POLICY_TABLE_H

#include "atom-fuzzer.h"
#include "basic-pos.h"
#include "none.h"
#include "pct.h"
#include "pos.h"
#include "ppct.h"
#include "preempt-always.h"
#include "preempt-bound.h"
#include "random-sleep.h"
#include "random-walk.h"
#include "rapos.h"
#include "rpro.h"
#include "stride.h"

// clang-format off
#define PCT_POLICIES(X)                                                                            \
    X(PCT, "pct", SERIAL, pct_appear, pct_arrive, pct_policy_no_reaction,                          \
      pct_policy_no_reaction, pct_policy_nothing, pct_wake, pct_policy_undisturbed,                \
      pct_stuck,                                                                                   \
      "random priorities, changed at depth-1 random steps",                                        \
      "a bug of depth d: at least 1/(n k^(d-1)) in each run")                                      \
    X(NONE, "none", FREE, none_appear, none_arrive, pct_policy_no_reaction,                        \
      pct_policy_no_reaction, pct_policy_nothing, pct_policy_nothing, pct_policy_undisturbed,      \
      pct_policy_never_stuck,                                                                      \
      "the kernel's own choice",                                                                   \
      "none")                                                                                      \
    X(RANDOM_WALK, "random-walk", STEPWISE, pct_stepwise_appear, random_walk_arrive,               \
      pct_clock_select, pct_policy_no_reaction, pct_stepwise_keep, pct_clock_compete,              \
      pct_policy_undisturbed, pct_policy_never_stuck,                                              \
      "every enabled thread equally likely at each step",                                          \
      "none")                                                                                      \
    X(BASIC_POS, "basic-pos", STEPWISE, pct_stepwise_appear, basic_pos_arrive,                     \
      pct_stepwise_select, pct_policy_no_reaction, pct_stepwise_keep, pct_stepwise_keep,           \
      basic_pos_disturbed, basic_pos_stuck,                                                        \
      "a random priority for each event",                                                          \
      "none")                                                                                      \
    X(POS, "pos", STEPWISE, pct_stepwise_appear, basic_pos_arrive, pct_stepwise_select,            \
      pos_executed, pct_stepwise_keep, basic_pos_redraw, basic_pos_disturbed, basic_pos_stuck,     \
      "a random priority for each event, drawn anew after each race",                              \
      "each partial order: at least (1/P)^|V| R^U in each run (POS, Theorem 1)")                   \
    X(PPCT, "ppct", ADMISSIBLE, ppct_appear, pct_arrive, pct_policy_no_reaction, ppct_executed,    \
      pct_policy_nothing, pct_policy_nothing, pct_policy_undisturbed, ppct_stuck,                  \
      "PCT with all but at most depth threads running in parallel",                                \
      "a bug of depth d: at least 1/(n k^(d-1)) in each run")                                      \
    X(RPRO, "rpro", SERIAL, pct_appear, pct_arrive, pct_policy_no_reaction,                        \
      pct_policy_no_reaction, pct_policy_nothing, pct_policy_nothing, pct_policy_undisturbed,      \
      pct_stuck,                                                                                   \
      "PCT with change points within a radius of each other",                                      \
      "a bug of depth d and radius r: at least 1/(n k (d-1) r^(d-2)) in each run")                 \
    X(STRIDE, "stride", STEPWISE, stride_appear, stride_arrive, stride_select,                     \
      pct_policy_no_reaction, stride_block, pct_clock_compete, pct_policy_undisturbed,             \
      pct_clock_stuck,                                                                             \
      "the random walk with a random number of steps at a time",                                   \
      "none")                                                                                      \
    X(RAPOS, "rapos", STEPWISE, pct_stepwise_appear, rapos_arrive, rapos_select, rapos_executed,   \
      pct_stepwise_keep, rapos_schedulable, rapos_disturbed, pct_policy_never_stuck,               \
      "random batches of independent events",                                                      \
      "none")                                                                                      \
    X(RANDOM_SLEEP, "random-sleep", FREE, none_appear, random_sleep_arrive,                        \
      pct_policy_no_reaction, pct_policy_no_reaction, pct_policy_nothing, pct_policy_nothing,      \
      pct_policy_undisturbed, pct_policy_never_stuck,                                              \
      "threads in parallel, sleeping before a step now and then",                                  \
      "none")                                                                                      \
    X(PREEMPT_ALWAYS, "preempt-always", STEPWISE, pct_stepwise_appear, preempt_always_arrive,      \
      pct_clock_select, pct_policy_no_reaction, pct_stepwise_keep, pct_clock_compete,              \
      pct_policy_undisturbed, pct_policy_never_stuck,                                              \
      "at each step another thread, all equally likely",                                           \
      "none")                                                                                      \
    X(PREEMPT_BOUND, "preempt-bound", STEPWISE, pct_stepwise_appear, preempt_bound_arrive,         \
      pct_clock_select, pct_policy_no_reaction, pct_stepwise_keep, pct_clock_compete,              \
      pct_policy_undisturbed, pct_clock_stuck,                                                     \
      "a few preemptions at random steps, a random next thread",                                   \
      "none")                                                                                      \
    X(ATOM_FUZZER, "atom-fuzzer", STEPWISE, pct_stepwise_appear, atom_fuzzer_arrive,               \
      pct_clock_select, atom_fuzzer_executed, pct_stepwise_keep, pct_clock_compete,                \
      pct_policy_undisturbed, pct_clock_stuck,                                                     \
      "another thread before each re-acquisition of a lock",                                       \
      "none")
// clang-format on

enum pct_policy {
#define PCT_POLICY_ENUM(id, ...) PCT_POLICY_##id,
    PCT_POLICIES(PCT_POLICY_ENUM)
#undef PCT_POLICY_ENUM
        PCT_NR_POLICIES
};

enum pct_enforcement {
    PCT_ENFORCE_SERIAL,
    PCT_ENFORCE_STEPWISE,
    PCT_ENFORCE_ADMISSIBLE,
    PCT_ENFORCE_FREE
};

/* One thread at a time? */
static inline bool pct_is_serial(enum pct_enforcement kind)
{
    return kind == PCT_ENFORCE_SERIAL || kind == PCT_ENFORCE_STEPWISE;
}

#endif
