// SPDX-License-Identifier: GPL-2.0-only
// Programs with real data from the papers' evaluations, written from the papers' descriptions.
#pragma once

#include "program.h"

namespace pctctl::model {

// PCT (ASPLOS 2010), section 5.3: a queue whose owner pushes and pops items at the tail while
// thieves, with two attempts each, steal at the head under a lock. The owner looks at the head
// before it takes its item off the tail instead of after that, so an item may be taken twice.
Program work_stealing_queue(unsigned items, unsigned thieves);

// Stride paper (ASE 2017), section VI: the main thread creates n - 1 threads that set a and then b,
// and one that checks that both are set or neither. The bug needs the check between a thread's two
// settings, before any other has made both.
Program reorder(unsigned n);

// The same section: n - 1 threads set a value under one lock and a second one, computed from it,
// under another; the last one reads both likewise, and finds the second one missing.
Program twostage(unsigned n);

} // namespace pctctl::model
