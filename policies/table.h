/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All policies. To add one: its file (see PCT_POLICY in policy.h), its line here with the file's
 * #include, its page in docs/policies/.
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

/* X(id, ...) for each. Their places are numbers, part of saved seeds: append, never reorder. */
// clang-format off
#define PCT_POLICIES(X, ...) \
    X(PCT, __VA_ARGS__) \
    X(NONE, __VA_ARGS__) \
    X(RANDOM_WALK, __VA_ARGS__) \
    X(BASIC_POS, __VA_ARGS__) \
    X(POS, __VA_ARGS__) \
    X(PPCT, __VA_ARGS__) \
    X(RPRO, __VA_ARGS__) \
    X(STRIDE, __VA_ARGS__) \
    X(RAPOS, __VA_ARGS__) \
    X(RANDOM_SLEEP, __VA_ARGS__) \
    X(PREEMPT_ALWAYS, __VA_ARGS__) \
    X(PREEMPT_BOUND, __VA_ARGS__) \
    X(ATOM_FUZZER, __VA_ARGS__)
// clang-format on

enum pct_policy {
#define PCT_POLICY_NUMBER(id, ...) PCT_POLICY_##id,
    PCT_POLICIES(PCT_POLICY_NUMBER)
#undef PCT_POLICY_NUMBER
        PCT_NR_POLICIES
};

#endif
