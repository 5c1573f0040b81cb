/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points in the C library: a thread has entered one of the operations that PCT_LIBC_POINTS lists. Those of
 * the dynamic loader, and those inside another operation, are no steps.
 */
#ifndef PCTCTL_LIBC_POINTS_BPF_H
#define PCTCTL_LIBC_POINTS_BPF_H

#include "actor.bpf.h"
#include "kernel.bpf.h"
#include "objects.bpf.h"
#include "operations.bpf.h"
#include "state.bpf.h"
#include "step.bpf.h"
#include "pctctl/points.h"
#include "pctctl/run.h"

/* Written by the controller. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PCT_MAX_OBJECTS);
    __type(key, __u32);
    __type(value, struct pct_object);
} objects SEC(".maps");

static __always_inline void libc_point(struct pt_regs *regs)
{
    struct pct_operation op = {}, *inside;
    __u64 cookie, sp, ret = 0, base;
    __u32 point, index, traits;
    struct pct_object *object;
    struct pct_thread *t;
    struct actor a;
    bool counted;

    if (!current_actor(&a) || !a.st->started)
        return;
    t = a.t;
    cookie = bpf_get_attach_cookie(regs);
    point = cookie & (PCT_OBJECT_POINTS - 1);
    index = cookie >> 16;
    object = bpf_map_lookup_elem(&objects, &index);
    if (!object)
        return;
    sp = PT_REGS_SP(regs);
    bpf_probe_read_user(&ret, sizeof(ret), (void *)sp);
    if (ret >= t->loader_start && ret < t->loader_end)
        return;

    /* The C11 functions call their pthread twins, or jump to them; that is the same step. */
    inside = may_be_inside(t) ? operation_at(t, sp) : NULL;
    if (!inside)
        t->nr_operations = 0;
    if (inside && is_c11(inside->point) && !is_c11(point) &&
        (sp == inside->sp || (ret >= t->lib_start && ret < t->lib_end)))
        return;

    base = PT_REGS_IP(regs) - object->point_offset[point & (PCT_OBJECT_POINTS - 1)];
    traits = libc_traits[point & (PCT_OBJECT_POINTS - 1)];
    op.sp = sp;
    op.ret = ret;
    op.point = point;
    op.signals = t->signals;
    enter_operation(t, inside, &op);
    t->lib_start = base + object->text_start;
    t->lib_end = base + object->text_end;
    t->syscall_start = base + object->syscall_start;
    t->syscall_end = base + object->syscall_end;
    progress_by_operation(&a, regs, traits);
    counted = false;
    if (a.cfg->points & PCT_POINTS_PTHREAD) {
        find_accesses(&a, NULL, regs, traits);
        counted = come_to_point(PCT_KIND_LIBC + point, ret);
    }
    after_step(&a, traits, ret, counted);
}

#endif
