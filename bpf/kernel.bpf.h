/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Of the kernel: its types and calls, and the numbers that are macros there, so that its type information
 * does not have them. x86-64.
 */
#ifndef PCTCTL_KERNEL_BPF_H
#define PCTCTL_KERNEL_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define OPS(name) SEC("struct_ops/" #name)

/* The iterator of the enclosing bpf_for_each(), which has no public name. */
#define THIS_ITERATOR (&___it)

/* Error numbers. */
#define ESRCH 3
#define E2BIG 7
#define ENOMEM 12
#define EINVAL 22

/* Scheduling policy of all threads of all runs. */
#define SCHED_EXT 7

/* States and flags of tasks, files, sockets and locks. */
#define TASK_INTERRUPTIBLE 1
#define TASK_UNINTERRUPTIBLE 2
#define TASK_DEAD 0x80
#define TASK_NOLOAD 0x400
#define TASK_FREEZABLE 0x2000
#define PF_EXITING 0x4
#define CLOCK_MONOTONIC 1
#define VM_MAYSHARE 0x80
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SIGNAL_GROUP_EXIT 0x4
#define TS_COMPAT 0x2
#define AT_BASE 7
#define LCB_F_READ 0x2
#define LCB_F_WRITE 0x4
#define LCB_F_PERCPU 0x10
#define LCB_F_MUTEX 0x20

/* x86-64 system call numbers with a meaning of their own here. */
#define NR_FORK_FIRST 56 /* clone, fork, vfork */
#define NR_FORK_LAST 58
#define NR_CLONE3 435
#define NR_SCHED_SETAFFINITY 203
#define NR_EXIT_GROUP 231
#define NR_EXECVE 59
#define NR_EXECVEAT 322
#define NR_FUTEX 202
#define NR_NANOSLEEP 35
#define NR_CLOCK_NANOSLEEP 230
#define NR_FUTEX_WAITV 449
#define NR_FUTEX_WAKE 454
#define NR_FUTEX_WAIT 455
#define NR_FUTEX_REQUEUE 456
#define NR_WAIT4 61
#define NR_WAITID 247
#define NR_ALARM 37
#define NR_SETITIMER 38
#define NR_TIMER_SETTIME 223

/* Does the call make a thread or process? */
static __always_inline bool is_fork(long nr)
{
    return (nr >= NR_FORK_FIRST && nr <= NR_FORK_LAST) || nr == NR_CLONE3;
}

#endif
