/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations of the C library that a thread is inside: what happens in there is part of their step. Asked by
 * libc_points.bpf.h and syscall_points.bpf.h before they count a step.
 */
#ifndef PCTCTL_OPERATIONS_BPF_H
#define PCTCTL_OPERATIONS_BPF_H

#include "kernel.bpf.h"
#include "state.bpf.h"
#include "pctctl/points.h"
#include "pctctl/run.h"

/* Set by the controller before loading: PCT_POINT_* of each libc operation. */
const volatile __u16 libc_traits[PCT_OBJECT_POINTS];

/*
 * The innermost libc operation that the thread, its user stack pointer being sp, is still inside, or
 * NULL: the return address is then still where the call put it. One is inside another when that calls
 * back (pthread_once) or a signal's handler has come in between.
 */
static struct pct_operation *operation_at(struct pct_thread *t, __u64 sp)
{
    int i;

    for (i = 0; i < PCT_MAX_OPERATIONS; i++) {
        struct pct_operation *op;
        __u64 value = 0;
        __u32 last = t->nr_operations - 1;

        if (last >= PCT_MAX_OPERATIONS)
            break;
        op = &t->operations[last];
        if (sp <= op->sp && !bpf_probe_read_user(&value, sizeof(value), (void *)op->sp) &&
            value == op->ret)
            return op;
        t->nr_operations = last;
    }
    return NULL;
}

static __always_inline bool is_c11(__u32 point)
{
    return point >= PCT_LIBC_mtx_lock && point <= PCT_LIBC_thrd_exit;
}

static __always_inline bool calls_back(__u32 point)
{
    return libc_traits[point & (PCT_OBJECT_POINTS - 1)] & PCT_POINT_CALLS_BACK;
}

/* Could the thread, which enters an operation, be inside another one? Quick for nearly all that do. */
static __always_inline bool may_be_inside(const struct pct_thread *t)
{
    const struct pct_operation *op = &t->operations[0];

    return t->nr_operations > 1 ||
           (t->nr_operations && (is_c11(op->point) || calls_back(op->point) ||
                                 op->signals != t->signals));
}

/*
 * The one it seems to be inside may have ended long ago, its return address being still there by chance:
 * only one that calls back, or that a handler may have interrupted, is kept.
 */
static __always_inline void enter_operation(struct pct_thread *t, const struct pct_operation *inside,
                                            const struct pct_operation *entered)
{
    __u32 i = t->nr_operations;

    if (inside && (inside->sp == entered->sp ||
                   !(calls_back(inside->point) || inside->signals != entered->signals)))
        i--;
    if (i >= PCT_MAX_OPERATIONS)
        i = PCT_MAX_OPERATIONS - 1;
    t->operations[i] = *entered;
    t->nr_operations = i + 1;
}

#endif
