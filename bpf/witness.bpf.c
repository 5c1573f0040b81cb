// SPDX-License-Identifier: GPL-2.0-only
/*
 * The independent witness of `--verify`: records the kernel's own scheduling decisions about tasks
 * of policy SCHED_EXT. Knows nothing of runs, priorities or the scheduler.
 *
 * All programs are called with interrupts or preemption off. In a place where it can be preempted,
 * a program would be skipped when the next thread gets there, and its half-written record would stop the
 * reader for as long as the thread is starved.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "pctctl/witness.h"

#define RING_BYTES (16u << 20)
#define PF_EXITING 0x4 /* a macro in the kernel */

/* Which scheduling policy is watched. Set by the loader; constant from then on. */
const volatile unsigned int watched_policy = 7; /* SCHED_EXT */

/* Records that found no room. Written here only, read by the controller. */
__u64 lost;

/* Written by the programs below, read by the controller. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, RING_BYTES);
} records SEC(".maps");

/*
 * Reserving takes the ring's lock, a full memory barrier. The time is read after it: whoever sees a
 * clock later than a record's time also sees what the kernel had done before the record.
 */
static struct pct_witness_record* begin(struct task_struct* p, __u8 type) {
    struct pct_witness_record* r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);

    if (!r) {
        __sync_fetch_and_add(&lost, 1);
        return NULL;
    }
    __builtin_memset(r, 0, sizeof(*r));
    r->time_ns = bpf_ktime_get_ns();
    r->task = (__u64)p;
    r->pid = p->pid;
    r->cpu = bpf_get_smp_processor_id();
    r->type = type;
    return r;
}

/* The reader comes by itself: waking it at every record would disturb what it watches. */
static void end(struct pct_witness_record* r) {
    bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

static __always_inline __u64 mix(__u64 hash, __u64 value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 29);
}

/*
 * orig_ax and, in a system call, ax are left out: the kernel writes them on the way back. After an
 * interrupt or exception (orig_ax is -1) nobody does. The user time grows with each timer tick that
 * interrupts user code: it gives away loops that come round to the same registers.
 */
static __always_inline void take_user_state(struct pct_witness_record* r, struct task_struct* p) {
    struct pt_regs* regs = (struct pt_regs*)bpf_task_pt_regs(p);
    __u64 hash = mix(0, p->utime);

    hash = mix(hash, regs->orig_ax == -1UL ? regs->ax : 0);
    hash = mix(hash, regs->bx);
    hash = mix(hash, regs->cx);
    hash = mix(hash, regs->dx);
    hash = mix(hash, regs->si);
    hash = mix(hash, regs->di);
    hash = mix(hash, regs->bp);
    hash = mix(hash, regs->sp);
    hash = mix(hash, regs->r8);
    hash = mix(hash, regs->r9);
    hash = mix(hash, regs->r10);
    hash = mix(hash, regs->r11);
    hash = mix(hash, regs->r12);
    hash = mix(hash, regs->r13);
    hash = mix(hash, regs->r14);
    hash = mix(hash, regs->r15);
    hash = mix(hash, regs->flags);
    hash = mix(hash, regs->ip);
    r->user_state = hash;
    r->exiting = (p->flags & PF_EXITING) != 0;
}

static __always_inline bool watched(struct task_struct* p) {
    return p->policy == watched_policy;
}

/* Called with the CPU's runqueue locked, prev still on it. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct* prev, struct task_struct* next,
             unsigned int prev_state) {
    struct pct_witness_record* r;

    if (watched(prev)) {
        r = begin(prev, PCT_WITNESS_OUT);
        if (r) {
            take_user_state(r, prev);
            /*
             * Not prev_state: it is set also when the thread is preempted on its way to sleep, and
             * some kernels do not clear it when a pending signal cancels the sleep.
             */
            r->ready = prev->on_rq != 0;
            r->state = prev_state;
            end(r);
        }
    }
    if (watched(next)) {
        r = begin(next, PCT_WITNESS_IN);
        if (r) {
            take_user_state(r, next);
            end(r);
        }
    }
    return 0;
}

/* Called after the task's scheduler has enqueued it, with the lock held that running it needs. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct* p) {
    struct pct_witness_record* r;

    if (!watched(p))
        return 0;
    r = begin(p, PCT_WITNESS_WAKE);
    if (r)
        end(r);
    return 0;
}

/* The same; the current task is the creator. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct* p) {
    struct task_struct* creator = bpf_get_current_task_btf();
    struct pct_witness_record* r;

    if (!watched(p) && !watched(creator))
        return 0;
    r = begin(p, PCT_WITNESS_NEW);
    if (!r)
        return 0;
    r->parent = (__u64)creator;
    r->parent_pid = creator->pid;
    r->controlled = watched(p);
    end(r);
    return 0;
}

/* A classic tracepoint: the others leave preemption on here. */
SEC("tp/sched/sched_process_exit")
int on_exit(void* event) {
    struct task_struct* p = bpf_get_current_task_btf();
    struct pct_witness_record* r;

    if (!watched(p))
        return 0;
    r = begin(p, PCT_WITNESS_EXIT);
    if (r)
        end(r);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
