/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where kernels differ: enumerators have the running kernel's numbers, not those of the kernel that this
 * was built for, and a function that a newer series has given another form is called in the form that
 * the running kernel has. What must be there in one form or another: pctctl/kernel_needs.h.
 */
#ifndef PCTCTL_COMPAT_BPF_H
#define PCTCTL_COMPAT_BPF_H

#include "kernel.bpf.h"
#include "pctctl/kernel_needs.h"

#define X(type, name)                                                                              \
    static __always_inline __u64 kernel_##name(void)                                               \
    {                                                                                              \
        return bpf_core_enum_value(enum type, name);                                               \
    }
PCT_KERNEL_ENUMERATORS(X)
#undef X

/* The running kernel's value of an enumerator. One that is not in the table does not build. */
#define KERNEL(enumerator) kernel_##enumerator()

/*
 * Forms of one function, told apart by what follows the three underscores, which libbpf leaves out. Those
 * whose types the kernel's function does not have are taken as absent.
 */
extern void scx_bpf_dsq_insert___void(struct task_struct *p, u64 dsq_id, u64 slice,
                                      u64 enq_flags) __weak __ksym;
extern bool scx_bpf_dsq_insert___bool(struct task_struct *p, u64 dsq_id, u64 slice,
                                      u64 enq_flags) __weak __ksym;

static __always_inline void dsq_insert(struct task_struct *p, u64 dsq, u64 slice, u64 enq_flags)
{
    if (bpf_ksym_exists(scx_bpf_dsq_insert___bool))
        scx_bpf_dsq_insert___bool(p, dsq, slice, enq_flags);
    else
        scx_bpf_dsq_insert___void(p, dsq, slice, enq_flags);
}

/* As the kernel has them; the newer form, since the older one is there for the time being only. */
struct dsq_insert_vtime_args {
    u64 dsq_id;
    u64 slice;
    u64 vtime;
    u64 enq_flags;
};
extern bool __scx_bpf_dsq_insert_vtime___args(struct task_struct *p,
                                              struct dsq_insert_vtime_args *args) __weak __ksym;
extern void scx_bpf_dsq_insert_vtime___void(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime,
                                            u64 enq_flags) __weak __ksym;

static __always_inline void dsq_insert_vtime(struct task_struct *p, u64 dsq, u64 slice, u64 vtime,
                                             u64 enq_flags)
{
    struct dsq_insert_vtime_args args = {
        .dsq_id = dsq, .slice = slice, .vtime = vtime, .enq_flags = enq_flags};

    if (bpf_ksym_exists(__scx_bpf_dsq_insert_vtime___args))
        __scx_bpf_dsq_insert_vtime___args(p, &args);
    else
        scx_bpf_dsq_insert_vtime___void(p, dsq, slice, vtime, enq_flags);
}

#endif
