/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a step acts on: a number that is the same for all steps on the same lock, file or connection, whichever
 * thread makes them. For the policies that ask which steps conflict, the stepwise ones.
 */
#ifndef PCTCTL_OBJECTS_BPF_H
#define PCTCTL_OBJECTS_BPF_H

#include "actor.bpf.h"
#include "kernel.bpf.h"
#include <bpf/bpf_endian.h>
#include "pctctl/points.h"
#include "pctctl/policy_state.h"
#include "pctctl/random.h"

/* What system calls act on that is no file. */
#define PCT_OBJECT_NAMES 3     /* the tree of files: all operations on names */
#define PCT_OBJECT_PROCESSES 5 /* signals and waits */

static __always_inline __u32 access_flags(__u32 traits)
{
    return (traits & PCT_POINT_READ_ONLY ? PCT_PENDING_READ_ONLY : 0) |
           (traits & PCT_POINT_ACQUIRES ? PCT_PENDING_ACQUIRES : 0);
}

struct shared_word {
    __u64 address;
    __u64 object;
};

/* A word of a shared mapping is known by the file and where it is there, as the kernel's futexes are. */
static long find_in_file(struct task_struct *p, struct vm_area_struct *vma, struct shared_word *word)
{
    struct inode *inode;

    if (!(vma->vm_flags & VM_MAYSHARE) || !vma->vm_file)
        return 0;
    inode = BPF_CORE_READ(vma, vm_file, f_inode);
    word->object = pct_mix((__u64)inode ^ pct_mix((vma->vm_pgoff << 12) + word->address - vma->vm_start));
    return 0;
}

/* Names: what the thread knows an object by, the same in every run. */
static __always_inline __u64 memory_name(const struct pct_thread *t, __u64 address)
{
    return pct_mix(t->space ^ pct_mix(address));
}

static __always_inline __u64 descriptor_name(const struct pct_thread *t, __u32 fd)
{
    return pct_mix(t->space + fd + 1);
}

/*
 * An address of the current thread's, the same one for all threads of the process; in shared memory, for
 * all processes. The search fails when another thread has been stopped while it changed the mappings,
 * which only happens where an interrupt has decided.
 */
static __always_inline __u64 memory_object(struct actor *a, __u64 address)
{
    struct shared_word word = {.address = address};

    bpf_find_vma(bpf_get_current_task_btf(), address, find_in_file, &word, 0);
    if (!word.object)
        word.object = memory_name(a->t, address);
    return word.object | 1;
}

static __always_inline __u64 end_of_connection(__u32 address, __u16 port)
{
    return pct_mix((__u64)address << 16 | port);
}

/* A connection is one object, whichever end of it is used. IPv6 has a stand-in for each address here. */
static __always_inline __u64 socket_object(struct file *file)
{
    struct socket *socket = BPF_CORE_READ(file, private_data);
    struct sock *sk = BPF_CORE_READ(socket, sk), *peer;
    __u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

    if (family == AF_UNIX) {
        peer = BPF_CORE_READ((struct unix_sock *)sk, peer);
        return (__u64)(peer > sk ? peer : sk);
    }
    if ((family == AF_INET || family == AF_INET6) && BPF_CORE_READ(sk, __sk_common.skc_dport))
        return end_of_connection(BPF_CORE_READ(sk, __sk_common.skc_daddr),
                                 bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport))) ^
               end_of_connection(BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr),
                                 BPF_CORE_READ(sk, __sk_common.skc_num));
    return (__u64)sk;
}

/* What is behind a descriptor: the inode of a file, device or pipe, or a connection. */
static __always_inline __u64 file_object(struct task_struct *p, __u32 fd)
{
    struct fdtable *table = BPF_CORE_READ(p, files, fdt);
    struct file **slots = BPF_CORE_READ(table, fd);
    struct file *file = NULL;
    struct inode *inode;

    if (fd < BPF_CORE_READ(table, max_fds))
        bpf_probe_read_kernel(&file, sizeof(file), &slots[fd]);
    if (!file)
        return 0;
    inode = BPF_CORE_READ(file, f_inode);
    return pct_mix((BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFSOCK ? socket_object(file)
                                                                        : (__u64)inode) | 1;
}

/* One more thing that the step acts on. `name`: see struct pct_access. */
static __always_inline void add_access(struct pct_thread *t, __u64 object, __u64 name, __u32 flags)
{
    __u32 i = t->nr_accesses;

    if (!object || i >= PCT_MAX_ACCESSES)
        return;
    t->accesses[i] = (struct pct_access){.object = object, .name = name, .flags = flags};
    t->nr_accesses = i + 1;
}

static __always_inline void add_syscall_accesses(struct actor *a, struct trace_event_raw_sys_enter *call,
                                                 __u32 traits, __u32 flags)
{
    if (traits & PCT_POINT_FILE)
        add_access(a->t, file_object(a->p, call->args[0]), descriptor_name(a->t, call->args[0]), flags | PCT_PENDING_CHANNELS);
    else if (traits & PCT_POINT_NAMES)
        add_access(a->t, PCT_OBJECT_NAMES, PCT_OBJECT_NAMES, flags | PCT_PENDING_NAMES);
    else if (call->id == NR_FUTEX || call->id == NR_FUTEX_WAKE || call->id == NR_FUTEX_WAIT)
        add_access(a->t, memory_object(a, call->args[0]), memory_name(a->t, call->args[0]),
                   flags | PCT_PENDING_MEMORY);
}

/*
 * What the step acts on, which the current thread is about to make: into pct_thread.accesses. `call` is the
 * system call, or null, when `regs` are those at the entry of an operation of the C library.
 */
static __always_inline void find_accesses(struct actor *a, struct trace_event_raw_sys_enter *call,
                                          struct pt_regs *regs, __u32 traits)
{
    __u32 flags = access_flags(traits);

    a->t->nr_accesses = 0;
    if (!a->cfg->stepwise && !a->cfg->focus)
        return; /* nobody asks */
    if (traits & PCT_POINT_PROCESS)
        add_access(a->t, PCT_OBJECT_PROCESSES, PCT_OBJECT_PROCESSES, flags | PCT_PENDING_PROCESSES);
    else if (call)
        add_syscall_accesses(a, call, traits, flags);
    else if (regs)
        add_access(a->t, memory_object(a, PT_REGS_PARM1(regs)),
                   memory_name(a->t, PT_REGS_PARM1(regs)), flags | PCT_PENDING_MEMORY);
}

#endif
