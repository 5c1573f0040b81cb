// SPDX-License-Identifier: GPL-2.0-only
// Programs with variables, from the papers' evaluations. Written from the papers' descriptions.
#pragma once

#include "program.h"

namespace pctctl::model {

// PCT (ASPLOS 2010), section 5.3: the owner of a queue pushes and pops items at the tail. Thieves
// steal at the head, under a lock, with two attempts each. The bug: the owner looks at the head
// before it takes its item off the tail, not after, so an item may be taken twice.
Program work_stealing_queue(unsigned items, unsigned thieves);

// Stride paper (ASE 2017), section VI: the main thread creates n - 1 threads that set a and then b,
// and one that checks that both are set or neither. The bug shows when the check comes between the
// two settings of one thread, and no other thread has made both.
Program reorder(unsigned n);

// From the same section: n - 1 threads set a value under one lock, and a second value, computed
// from it, under another lock. The last thread reads both in the same way, and may find the second
// one missing.
Program twostage(unsigned n);

} // namespace pctctl::model
