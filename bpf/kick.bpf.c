/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Enforces priorities at steps. Programs at uprobes and tracepoints may not kick a CPU, tracing programs
 * may; these ones are attached to those of sched.bpf.c, run in the same task with preemption disabled,
 * and so make the thread leave the CPU before its operation takes effect. They are an object of their
 * own because their targets have to be loaded first.
 */
#include "actor.bpf.h"
#include "compat.bpf.h"
#include "kernel.bpf.h"
#include "rank.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline int give_way(void)
{
    struct actor a;

    if (current_actor(&a) && (a.t->arriving || outranked(a.cfg, a.st, a.t)))
        scx_bpf_kick_cpu(bpf_get_smp_processor_id(), KERNEL(SCX_KICK_PREEMPT));
    return 0;
}

SEC("fentry")
int BPF_PROG(at_libc_point)
{
    return give_way();
}

SEC("fexit")
int BPF_PROG(after_syscall_enter)
{
    return give_way();
}

SEC("fexit")
int BPF_PROG(after_syscall_exit)
{
    return give_way();
}
