/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is wrong with the scheduler of pctctl-broken, by which tests see that the witness and the
 * controller notice it. The real one has nothing of it. (Its priorities: rank.bpf.h.)
 */
#ifndef PCTCTL_BROKEN_BPF_H
#define PCTCTL_BROKEN_BPF_H

#include "kernel.bpf.h"

#ifdef PCTCTL_BROKEN_DISPATCH
#define LOCK_PATIENCE 0 /* it never gets the lock of the policy's hooks */

/* Calls what it is called at, where the kernel skips it the second time. */
SEC("fentry/bpf_task_from_pid")
int BPF_PROG(skipped_once, s32 pid)
{
    struct task_struct *p = bpf_task_from_pid(pid);

    if (p)
        bpf_task_release(p);
    return 0;
}
#else
#define LOCK_PATIENCE 64
#endif

#endif
