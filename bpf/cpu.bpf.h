/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where threads of a run execute, and for how long before ops.tick is asked.
 */
#ifndef PCTCTL_CPU_BPF_H
#define PCTCTL_CPU_BPF_H

#include "kernel.bpf.h"
#include "state.bpf.h"

#define SLICE_NS (10 * 1000 * 1000ULL)

/* It may not leave its CPU. In its own callbacks a thread's count has one of the BPF program's. */
static __always_inline bool is_pinned(struct task_struct *p)
{
    __u32 disabled = p->migration_disabled;

    return disabled > 1 || (disabled == 1 && p != bpf_get_current_task_btf());
}

/* The CPU on which a thread executes: its run's, or the first one it may use. */
static s32 cpu_for(struct task_struct *p, __u32 slot)
{
    struct pct_run_config *cfg = config_of(slot);

    if (is_pinned(p))
        return scx_bpf_task_cpu(p);
    if (cfg && bpf_cpumask_test_cpu(cfg->home_cpu, p->cpus_ptr))
        return cfg->home_cpu;
    return bpf_cpumask_first(p->cpus_ptr);
}

#endif
