/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Enforces priorities at libc operations. A uprobe program may not kick a CPU, a tracing program may:
 * this one runs in the same task whenever sched.bpf.c's on_libc_point returns, that is before the
 * probed instruction executes. It is an object of its own because its target has to be loaded first.
 */
#include "common.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("fexit")
int BPF_PROG(after_libc_point, struct pt_regs *regs, int ret)
{
    struct task_struct *p = bpf_get_current_task_btf();
    struct pct_thread *t = bpf_task_storage_get(&threads, p, NULL, 0);

    if (t && t->priority < best_waiting(t->slot))
        scx_bpf_kick_cpu(bpf_get_smp_processor_id(), SCX_KICK_PREEMPT);
    return 0;
}
