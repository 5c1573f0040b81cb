/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler: strict priorities among the threads of each run, and exact change points.
 *
 * Each run has a queue ordered by priority and an owner, the one thread that may execute. A thread is
 * either blocked, waiting in its run's queue, or the owner; the owner is chosen in ops.dispatch and
 * gives up in ops.stopping, whatever the reason. So "at most one thread of a run executes" is the
 * invariant on pct_run_state.owner, and "the one of highest priority" is decided in a single
 * place, dispatch_run(). Runs of several threads at a time: see parallel.bpf.h.
 *
 * Priorities change only while their thread executes, at steps (libc operations by uprobe, system calls
 * by tracepoint) and by demotion, or before it is queued on waking up. A step ends by comparing the
 * thread with the best waiting one; when it lost, it preempts itself before the operation takes effect.
 *
 * A thread must never lose the CPU inside a tracing program or a non-sleepable one: the first are
 * skipped on a CPU where another thread is inside them, so that a starved thread would switch off
 * everybody's steps, and the second hold an RCU read lock, for as long as the thread starves. Hence the
 * program types here: classic tracepoints, which the kernel calls with preemption disabled, and a
 * sleepable uprobe. A kick asked for in them takes effect right behind them.
 *
 * Only tasks whose scheduling class is SCHED_EXT are touched at all (SCX_OPS_SWITCH_PARTIAL); the
 * controller puts the first thread of a run there, all others inherit it.
 */
#include "common.bpf.h"

#include <bpf/bpf_endian.h>

char LICENSE[] SEC("license") = "GPL";

#define SLICE_NS (10 * 1000 * 1000ULL)
#define REFRESH_NS (5 * 1000 * 1000 * 1000ULL) /* a sixth of the watchdog's patience */
#define WATCHDOG_MS 30000
#define LONGEST_TICK_NS (10 * 1000 * 1000ULL) /* of kernels with 100 ticks in a second */

/* Task states and flags that are macros in the kernel. */
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

/* Set by the controller before loading. */
const volatile __u32 nr_slots = 1;
const volatile __u32 loaded_policies;
_Static_assert(PCT_NR_POLICIES <= 32, "a bit for each policy");
const volatile __u16 syscall_traits[PCT_NR_SYSCALLS];
const volatile __u16 libc_traits[PCT_OBJECT_POINTS];
const volatile __u64 loader_size; /* of the dynamic loader's image; 0: it is the libc itself */

/* Why the scheduler was unloaded; written by ops.exit, read by the controller. */
__s32 exit_kind;
__s64 exit_code;
char exit_reason[128];
char exit_message[256];

/* From the scheduler to the controller. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 16 << 20);
} events SEC(".maps");

/* Written by the controller. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PCT_MAX_OBJECTS);
    __type(key, __u32);
    __type(value, struct pct_object);
} objects SEC(".maps");

/* Run that used a CPU last, so that runs sharing it take turns; written by ops.dispatch. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} last_slot SEC(".maps");

/* The iterator of the enclosing bpf_for_each(), which has no public name. */
#define THIS_ITERATOR (&___it)

#define OPS(name) SEC("struct_ops/" #name)

/* A thread of a run under way with all that belongs to it. */
struct actor {
    struct task_struct *p;
    struct pct_thread *t;
    struct pct_run_config *cfg;
    struct pct_run_state *st;
};

/* False when the task is not a thread of a run under way. */
static __always_inline bool actor_of(struct task_struct *p, struct actor *a)
{
    a->p = p;
    a->t = bpf_task_storage_get(&threads, p, NULL, 0);
    if (!a->t)
        return false;
    a->cfg = config_of(a->t->slot);
    a->st = state_of(a->t->slot);
    return a->cfg && a->st && a->cfg->id == a->t->run;
}

static __always_inline void report(struct actor *a, __u32 type, __u32 kind, __s32 code, __u64 site);
static __always_inline void end_hold(struct actor *a);
static s32 cpu_for(struct task_struct *p, __u32 slot);

/* It may not leave its CPU. In its own callbacks a thread's count has one of the BPF program's. */
static __always_inline bool is_pinned(struct task_struct *p)
{
    __u32 disabled = p->migration_disabled;

    return disabled > 1 || (disabled == 1 && p != bpf_get_current_task_btf());
}

#include "parallel.bpf.h"

/* May it execute? */
static __always_inline bool owns(const struct actor *a)
{
    return a->cfg->parallel ? in_place(a->st, a->t) : (__u32)a->st->owner == a->t->index + 1;
}

static __always_inline void release(struct actor *a)
{
    __u64 owner = a->st->owner;

    if (a->cfg->parallel)
        leave_place(a->st, a->t);
    else if ((__u32)owner == a->t->index + 1)
        __sync_val_compare_and_swap(&a->st->owner, owner, 0);
}

/* It does something other than to spin. */
static __always_inline void not_spinning(struct actor *a)
{
    a->t->cpu_mark = a->p->se.sum_exec_runtime;
    a->t->spun_ns = 0;
}

/*
 * The CPU time between two ticks, and no more than a tick's length of it: the processor of a virtual
 * machine that its host keeps waiting takes no ticks, and executes nothing, but time goes on.
 */
static __always_inline __u64 spun_ns(struct actor *a)
{
    __u64 now = a->p->se.sum_exec_runtime, ran = now - a->t->cpu_mark;

    a->t->cpu_mark = now;
    a->t->spun_ns += ran < LONGEST_TICK_NS ? ran : LONGEST_TICK_NS;
    return a->t->spun_ns;
}

static __always_inline void note_priority(struct actor *a)
{
    if (a->cfg->parallel)
        place_of(a->st, a->t->place - 1)->priority = rank_of(a->t);
    else
        a->st->owner_priority = rank_of(a->t);
}

/* The lower threads stand still until this one is back in the queue. */
static __always_inline void hold(struct actor *a)
{
    int i;

    if (a->cfg->parallel && !a->st->policy.low)
        return; /* there are no lower ones */
    for (i = 0; i < PCT_MAX_HOLDS && !a->t->hold; i++) {
        struct pct_hold *hold = &a->st->holds[i];

        if (__sync_val_compare_and_swap(&hold->priority, 0, rank_of(a->t)))
            continue;
        hold->count++;
        hold->lock = a->t->lock;
        a->t->hold = i + 1;
        a->t->hold_rank = rank_of(a->t);
    }
    if (!a->t->hold) /* no room: the lower ones go on */
        __sync_fetch_and_add(&a->st->hold_breaks, 1);
}

/* Unless the element is another thread's by now, the hold having been ended by somebody else. */
static __always_inline void end_hold(struct actor *a)
{
    __u32 i = a->t->hold - 1;

    if (i < PCT_MAX_HOLDS)
        __sync_val_compare_and_swap(&a->st->holds[i].priority, a->t->hold_rank, 0);
    a->t->hold = 0;
}

/* It got a lock that somebody else of the run waits for as well: that one waits for it now. */
static __always_inline void end_holds_for_lock(struct actor *a)
{
    int i;

    for (i = 0; i < PCT_MAX_HOLDS && a->t->lock; i++)
        if (a->st->holds[i].lock == a->t->lock)
            a->st->holds[i].priority = 0;
}

/* actor_of() for the current task. Quick for all tasks of the machine that are none of ours. */
static __always_inline bool current_actor(struct actor *a)
{
    struct task_struct *p = bpf_get_current_task_btf();

    return p->policy == SCHED_EXT && actor_of(p, a);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static __always_inline void report(struct actor *a, __u32 type, __u32 kind, __s32 code, __u64 site)
{
    struct pct_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

    if (!e) {
        __sync_fetch_and_add(&a->st->lost_events, 1);
        return;
    }
    e->run = a->t->run;
    e->time_ns = bpf_ktime_get_ns();
    e->identity = a->t->pol.identity;
    e->priority = a->t->pol.priority;
    e->step = a->st->steps;
    e->site = site;
    e->type = type;
    e->slot = a->t->slot;
    e->thread = a->t->index;
    e->parent = a->t->parent;
    e->ordinal = a->t->ordinal;
    e->pid = a->p->pid;
    e->tgid = a->p->tgid;
    e->kind = kind;
    e->code = code;
    bpf_probe_read_kernel_str(e->comm, sizeof(e->comm), a->p->comm);
    bpf_ringbuf_submit(e, 0);
}

/* ---- The policy ------------------------------------------------------------------------------ */

/*
 * Global functions: verified once each, whatever calls them; weak, so that no argument is optimized
 * away.
 */
__weak int policy_appear(struct pct_policy_config *cfg __arg_nonnull,
                         struct pct_policy_run *run __arg_nonnull,
                         struct pct_policy_thread *th __arg_nonnull)
{
    pct_policy_appear(cfg, run, th);
    return 0;
}

__weak __u64 policy_arrive(struct pct_policy_config *cfg __arg_nonnull,
                         struct pct_policy_run *run __arg_nonnull,
                         struct pct_policy_thread *th __arg_nonnull,
                         struct pct_policy_view *view __arg_nonnull)
{
    return pct_policy_arrive(cfg, run, th, view);
}

__weak int policy_select(struct pct_policy_config *cfg __arg_nonnull,
                         struct pct_policy_run *run __arg_nonnull,
                         struct pct_policy_thread *th __arg_nonnull)
{
    return pct_policy_select(cfg, run, th);
}

__weak int policy_executed(struct pct_policy_config *cfg __arg_nonnull,
                           struct pct_policy_run *run __arg_nonnull,
                           struct pct_policy_thread *th __arg_nonnull)
{
    return pct_policy_executed(cfg, run, th);
}

__weak int policy_block(struct pct_policy_config *cfg __arg_nonnull,
                        struct pct_policy_run *run __arg_nonnull,
                        struct pct_policy_thread *th __arg_nonnull)
{
    pct_policy_block(cfg, run, th);
    return 0;
}

__weak int policy_wake(struct pct_policy_config *cfg __arg_nonnull,
                       struct pct_policy_run *run __arg_nonnull,
                       struct pct_policy_thread *th __arg_nonnull)
{
    pct_policy_wake(cfg, run, th);
    return 0;
}

__weak int policy_disturbed(struct pct_policy_config *cfg __arg_nonnull,
                            struct pct_policy_run *run __arg_nonnull,
                            struct pct_policy_thread *th __arg_nonnull,
                            struct pct_pending *by)
{
    pct_policy_disturbed(cfg, run, th, by);
    return 0;
}

__weak int policy_stuck(struct pct_policy_config *cfg __arg_nonnull,
                        struct pct_policy_run *run __arg_nonnull,
                        struct pct_policy_thread *th __arg_nonnull,
                        struct pct_policy_view *view __arg_nonnull, __u64 count_and_sign)
{
    return pct_policy_stuck(cfg, run, th, view, count_and_sign & 7, count_and_sign >> 3);
}

/*
 * Threads of a run that are to make a step on an object, or are in it, so that a step beside which nobody
 * else is does not cost a walk over all who wait. Written by the scheduler; hooks of a run take turns.
 */
struct at_object_key {
    __u64 object;
    __u64 run;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __type(key, struct at_object_key);
    __type(value, __u32);
} at_object SEC(".maps");

static __always_inline struct at_object_key object_of(const struct pct_thread *t)
{
    return (struct at_object_key){.object = t->pol.event.object, .run = t->run};
}

static __always_inline void come_to_object(struct pct_run_state *st, const struct pct_thread *t)
{
    struct at_object_key key = object_of(t);
    __u32 *count = bpf_map_lookup_elem(&at_object, &key), one = 1;

    if (count)
        ++*count;
    else if (key.object && bpf_map_update_elem(&at_object, &key, &one, BPF_ANY))
        st->uncounted = 1;
}

static __always_inline void leave_object(const struct pct_thread *t)
{
    struct at_object_key key = object_of(t);
    __u32 *count = bpf_map_lookup_elem(&at_object, &key);

    if (count && --*count == 0)
        bpf_map_delete_elem(&at_object, &key);
}

/* Is another thread at the object of this one's step, which is over? */
static __always_inline bool others_at_object(const struct pct_run_state *st, const struct pct_thread *t)
{
    struct at_object_key key = object_of(t);

    return st->uncounted || bpf_map_lookup_elem(&at_object, &key);
}

/* What is left to be told to waiting threads, in ops.dispatch. */
static __always_inline void note_reaction(struct actor *a, __u32 reaction)
{
    if (reaction == PCT_REACT_CONFLICTS || reaction == PCT_REACT_ALL) {
        a->st->reaction = reaction;
        a->st->reacting_to = a->t->pol.event;
    }
}

/* A step of the thread is over. */
static __always_inline void executed(struct actor *a)
{
    __u32 reaction;

    if (!a->t->arrived)
        return;
    a->t->arrived = 0;
    a->t->selected = 0;
    leave_object(a->t);
    if (a->cfg->executed)
        report(a, PCT_EVENT_EXECUTED, a->t->pol.event.kind, a->t->pol.event.flags,
               a->t->pol.event.object);
    reaction = policy_executed(&a->cfg->policy, &a->st->policy, &a->t->pol);
    if (reaction != PCT_REACT_CONFLICTS || others_at_object(a->st, a->t))
        note_reaction(a, reaction);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static __always_inline void demote(struct actor *a, enum pct_demotion why)
{
    struct pct_thread *t = a->t;

    t->pol.priority = pct_demoted_priority(__sync_fetch_and_add(&a->st->demote_floor, 1) + 1);
    if (owns(a))
        note_priority(a);
    a->st->demotions[why & 7]++;
    t->yield_count = 0;
    t->poll_count = 0;
    t->loop_count = 0;
    if (a->cfg->trace)
        report(a, PCT_EVENT_PRIORITY, 0, why, 0);
}

/*
 * A sign that somebody waits for a thread below this one. True: the policy did something about it. A
 * stepwise one is told of signs at steps only, see arrive(); between them, this is the same for all.
 */
static __always_inline bool no_progress(struct actor *a, enum pct_demotion sign, __u64 count)
{
    struct pct_policy_view view = {};
    __u32 reaction = PCT_REACT_DEMOTE;
    unsigned long irqs;

    if (a->cfg->stepwise) {
        if (!pct_no_progress(a->cfg->policy.seed, a->t->pol.identity, sign, count))
            return false;
    } else {
        bpf_local_irq_save(&irqs);
        if (a->cfg->parallel)
            lock_hooks(a->st);
        reaction = policy_stuck(&a->cfg->policy, &a->st->policy, &a->t->pol, &view,
                                count << 3 | sign);
        if (a->cfg->parallel)
            unlock_hooks(a->st);
        bpf_local_irq_restore(&irqs);
    }
    if (reaction == PCT_REACT_NONE)
        return false;
    if (reaction == PCT_REACT_DEMOTE) {
        demote(a, sign);
    } else {
        a->st->demotions[sign & 7]++;
        a->st->reaction = reaction;
    }
    return true;
}

/* `at_step`: the operation is a step. */
static __always_inline void notice_no_progress(struct actor *a, __u32 traits, __u64 site, bool at_step)
{
    struct pct_thread *t = a->t;
    enum pct_demotion sign = 0;
    __u64 count = 0;

    if (a->cfg->parallel && !a->st->policy.low)
        return; /* they all execute */
    if (traits & PCT_POINT_YIELD) {
        sign = PCT_DEMOTE_YIELD;
        count = ++t->yield_count;
    } else if (traits & PCT_POINT_POLLS) {
        sign = PCT_DEMOTE_POLL;
        if (t->poll_site != site) {
            t->poll_site = site;
            t->poll_count = 0;
        }
        count = ++t->poll_count;
    }
    if (a->cfg->stepwise && at_step) { /* decided when it arrives at a step, see arrive() */
        t->sign = sign ? sign : PCT_DEMOTE_LOOP;
        t->sign_count = sign ? count : ++t->loop_count;
        return;
    }
    if ((sign && no_progress(a, sign, count)) || !at_step)
        return;
    if (!no_progress(a, PCT_DEMOTE_LOOP, ++t->loop_count))
        no_progress(a, PCT_DEMOTE_STARVE, a->st->steps - a->st->lowest_ran);
}

/*
 * The executing thread arrives at its next step: count it, and tell the policy. The caller enforces the
 * result before the operation takes effect. Stepwise policies are told in dispatch_run(), where waiting
 * threads' priorities can be changed.
 */
static __always_inline void step(struct actor *a, __u32 kind, __u64 object, __u32 flags, __u64 site)
{
    struct pct_run_state *st = a->st;
    struct pct_thread *t = a->t;
    struct pct_policy_view view = {};
    unsigned long irqs;
    __u64 sleep_ns;

    bpf_local_irq_save(&irqs);
    if (a->cfg->parallel)
        lock_hooks(st);
    st->steps++;
    not_spinning(a);
    if (a->cfg->stepwise) {
        t->next.kind = kind;
        t->next.object = object;
        t->next.flags = flags;
        t->arriving = 1;
    } else {
        view.enabled = st->enabled;
        st->order_hash = pct_order_hash(st->order_hash, t->pol.identity, kind);
        if (a->cfg->parallel)
            policy_executed(&a->cfg->policy, &st->policy, &t->pol);
        sleep_ns = policy_arrive(&a->cfg->policy, &st->policy, &t->pol, &view);
        if (sleep_ns)
            t->sleep_until_ns = bpf_ktime_get_ns() + sleep_ns;
        note_priority(a);
    }
    if (a->cfg->trace)
        report(a, PCT_EVENT_STEP, kind, st->policy.number, site);
    if (a->cfg->parallel)
        unlock_hooks(st);
    bpf_local_irq_restore(&irqs);
}

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

/* ---- Objects of events ----------------------------------------------------------------------- */

static __always_inline __u32 pending_flags(__u32 traits)
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

/*
 * An address of the current thread's, the same one for all threads of the process; in shared memory, for
 * all processes. The search fails when another thread has been stopped while it changed the mappings,
 * which only happens where an interrupt has decided.
 */
static __always_inline __u64 memory_object(struct actor *a, __u64 address)
{
    struct shared_word word = {.address = address};
    struct task_struct *p = a->p;

    bpf_find_vma(bpf_get_current_task_btf(), address, find_in_file, &word, 0);
    if (!word.object)
        word.object = pct_mix((__u64)BPF_CORE_READ(p, mm) ^ pct_mix(address));
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

static __always_inline __u64 syscall_object(struct actor *a, struct trace_event_raw_sys_enter *call,
                                            __u32 traits)
{
    if (!a->cfg->stepwise)
        return 0; /* nobody asks */
    if (traits & PCT_POINT_FILE)
        return file_object(a->p, call->args[0]);
    if (traits & PCT_POINT_NAMES)
        return PCT_OBJECT_NAMES;
    if (call->id == NR_FUTEX || call->id == NR_FUTEX_WAKE || call->id == NR_FUTEX_WAIT)
        return memory_object(a, call->args[0]);
    return traits & PCT_POINT_PROCESS ? PCT_OBJECT_PROCESSES : 0;
}

static __always_inline __u64 libc_object(struct actor *a, struct pt_regs *regs, __u32 traits)
{
    if (!a->cfg->stepwise)
        return 0;
    return traits & PCT_POINT_PROCESS ? PCT_OBJECT_PROCESSES : memory_object(a, PT_REGS_PARM1(regs));
}

/*
 * The point at which kick.bpf.c makes the current thread give way. It is called with preemption
 * disabled, so the thread leaves the CPU when that is enabled again.
 */
static __noinline int enforce(void)
{
    asm volatile("");
    return 0;
}

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
    counted = a.cfg->points & PCT_POINTS_PTHREAD;
    if (counted)
        step(&a, PCT_KIND_LIBC + point, libc_object(&a, regs, traits), pending_flags(traits), ret);
    if (a.st->runnable > 1)
        notice_no_progress(&a, traits, ret, counted);
    else
        a.st->lowest_ran = a.st->steps;
}

/*
 * A libc operation is entered. Counting and reporting a step must not be torn apart by another thread's
 * step either.
 */
SEC("uprobe.multi.s")
int on_libc_point(struct pt_regs *regs)
{
    bpf_preempt_disable();
    libc_point(regs);
    enforce();
    bpf_preempt_enable();
    return 0;
}

static __always_inline bool is_futex(long nr)
{
    return nr == NR_FUTEX || nr == NR_FUTEX_WAITV || (nr >= NR_FUTEX_WAKE && nr <= NR_FUTEX_REQUEUE);
}

/* The futex call of a libc operation is part of that operation's step. */
static bool part_of_operation(struct pct_thread *t, long nr, __u64 sp, __u64 ip)
{
    return is_futex(nr) && operation_at(t, sp) && ip >= t->lib_start && ip < t->lib_end &&
           !(ip >= t->syscall_start && ip < t->syscall_end);
}

static __always_inline bool is_step(struct pct_thread *t, __u32 traits,
                                    struct trace_event_raw_sys_enter *call, struct pt_regs *regs)
{
    __u64 arg;

    if (!(traits & PCT_POINT_STEP))
        return false;
    if (traits & PCT_POINT_IF_SHARED)
        return call->args[3] & 1; /* MAP_SHARED, MAP_SHARED_VALIDATE */
    if (traits & PCT_POINT_IF_LOCK) {
        arg = call->args[1];
        return (arg >= 5 && arg <= 7) || (arg >= 36 && arg <= 38); /* F_*LK*, F_OFD_*LK* */
    }
    return !part_of_operation(t, call->id, PT_REGS_SP_CORE(regs), PT_REGS_IP_CORE(regs));
}

/* What 32-bit programs call those that start threads or programs, or time them; -1: any other. */
static __always_inline long native_number(long nr)
{
    switch (nr) {
    case 2: /* fork, clone, vfork */
    case 120:
    case 190:
        return NR_FORK_FIRST;
    case 11:
        return NR_EXECVE;
    case 358:
        return NR_EXECVEAT;
    case 162:
        return NR_NANOSLEEP;
    case 267:
    case 407:
        return NR_CLOCK_NANOSLEEP;
    case 27:
        return NR_ALARM;
    case 104:
        return NR_SETITIMER;
    case 260:
    case 409:
        return NR_TIMER_SETTIME;
    case NR_CLONE3:
        return nr;
    }
    return -1;
}

/* A system call is entered. kick.bpf.c makes the thread give way when this returns. */
SEC("tp/raw_syscalls/sys_enter")
int on_syscall(struct trace_event_raw_sys_enter *call)
{
    struct pt_regs *regs;
    bool compat, counted;
    long nr = call->id;
    struct actor a;
    __u32 traits;

    if (!current_actor(&a))
        return 0;
    compat = a.p->thread_info.status & TS_COMPAT;
    if (compat)
        nr = native_number(nr);
    a.t->sysno = nr;
    a.t->polled = 0;
    a.t->waits = 0;
    if (!a.st->started || nr < 0 || nr >= PCT_NR_SYSCALLS)
        return 0;
    if (nr == NR_ALARM || nr == NR_SETITIMER || nr == NR_TIMER_SETTIME)
        a.st->timers = 1;
    if (compat)
        return 0; /* no steps */

    a.t->waits = nr == NR_WAIT4 || nr == NR_WAITID || (nr == NR_FUTEX && !call->args[3]) ||
                 (nr == NR_FUTEX_WAIT && !call->args[4]);
    if (nr == NR_EXIT_GROUP && (a.cfg->policy.options & PCT_OPTION_FINAL_WAIT) &&
        a.p->pid == a.p->tgid && a.p->signal->live.counter > 1)
        demote(&a, PCT_DEMOTE_FINAL_WAIT);

    regs = (struct pt_regs *)bpf_task_pt_regs(a.p);
    if (a.cfg->stepwise && a.t->selected && !operation_at(a.t, PT_REGS_SP_CORE(regs)))
        executed(&a); /* if it blocks from here on, it is between two steps */
    traits = syscall_traits[nr & (PCT_NR_SYSCALLS - 1)];
    if (!is_step(a.t, traits, call, regs))
        return 0;
    counted = a.cfg->points & PCT_POINTS_SYSCALL;
    if (counted)
        step(&a, nr, syscall_object(&a, call, traits), pending_flags(traits),
             PT_REGS_IP_CORE(regs));
    /* a polling call is a sign only if it fails, which on_syscall_exit sees */
    a.t->polled = traits & (PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS);
    if (a.st->runnable > 1)
        notice_no_progress(&a, traits & ~PCT_POINT_POLLS, PT_REGS_IP_CORE(regs), counted);
    else
        a.st->lowest_ran = a.st->steps;
    return 0;
}

/* Where a freshly exec'ed program has its dynamic loader: AT_BASE of its auxiliary vector, or 0. */
static __always_inline __u64 loader_base(struct task_struct *p)
{
    unsigned long entry[2];
    int i;

    bpf_for(i, 0, 32) {
        if (bpf_probe_read_kernel(entry, sizeof(entry), &p->mm->saved_auxv[2 * i]) || !entry[0])
            break;
        if (entry[0] == AT_BASE)
            return entry[1];
    }
    return 0;
}

static __always_inline void start_program(struct actor *a)
{
    a->t->nr_operations = 0; /* that stack is gone */
    a->t->loader_start = loader_size ? loader_base(a->p) : 0;
    a->t->loader_end = a->t->loader_start + loader_size;
    a->st->started = 1;
    report(a, PCT_EVENT_EXEC, 0, 0, 0);
}

/* A system call returns: a new program was executed, or a polling call failed and may go on for ever. */
SEC("tp/raw_syscalls/sys_exit")
int on_syscall_exit(struct trace_event_raw_sys_exit *call)
{
    struct pt_regs *regs;
    struct actor a;
    __u64 site;

    if (!current_actor(&a))
        return 0;
    if ((a.t->sysno == NR_EXECVE || a.t->sysno == NR_EXECVEAT) && call->ret == 0)
        start_program(&a);
    if (!a.t->polled)
        return 0;
    regs = (struct pt_regs *)bpf_task_pt_regs(a.p);
    site = PT_REGS_IP_CORE(regs);
    if (call->ret > 0 || (call->ret == 0 && !(a.t->polled & PCT_POINT_ZERO_FAILS))) {
        if (a.t->poll_site == site)
            a.t->poll_count = 0;
    } else if (a.st->runnable > 1) {
        notice_no_progress(&a, PCT_POINT_POLLS, site, a.cfg->points & PCT_POINTS_SYSCALL);
    }
    a.t->polled = 0;
    return 0;
}

/* ---- What the kernel is waiting for ---------------------------------------------------------- */

SEC("tp/lock/contention_begin")
int on_lock_wait(struct trace_event_raw_contention_begin *wait)
{
    struct actor a;

    if (current_actor(&a) && !a.t->lock) { /* the outermost one: its own spinlocks contend too */
        a.t->lock = (__u64)wait->lock_addr;
        a.t->lock_type = wait->flags;
    }
    return 0;
}

SEC("tp/lock/contention_end")
int on_lock_got(struct trace_event_raw_contention_end *wait)
{
    struct actor a;

    if (current_actor(&a) && a.t->lock == (__u64)wait->lock_addr)
        a.t->lock = 0;
    return 0;
}

/*
 * Is the kernel's lock that the thread waits for in the hands of a task that is none of the run's? Locks
 * of files, for instance, are shared with all that goes on in the machine.
 */
static __always_inline bool lock_held_outside(struct actor *a)
{
    __u64 lock = a->t->lock, owner;
    struct task_struct *p;
    struct pct_thread *t;
    bool outside = true;

    if (a->t->lock_type & LCB_F_MUTEX)
        owner = BPF_CORE_READ((struct mutex *)lock, owner.counter) & ~7ULL;
    else if (a->t->lock_type == LCB_F_READ || a->t->lock_type == LCB_F_WRITE)
        owner = BPF_CORE_READ((struct rw_semaphore *)lock, owner.counter) & ~3ULL;
    else
        return a->t->lock_type == (LCB_F_PERCPU | LCB_F_READ); /* a write to a cgroup's files */
    if (!owner)
        return true; /* on its way to somebody, see end_holds_for_lock() */
    p = bpf_task_from_pid(BPF_CORE_READ((struct task_struct *)owner, pid));
    if (!p)
        return true;
    t = bpf_task_storage_get(&threads, p, NULL, 0);
    if (t && t->run == a->t->run)
        outside = false;
    bpf_task_release(p);
    return outside;
}

/* The thread id given to its system call is the thread's own, as it sees it itself, or 0. */
static __always_inline bool first_argument_is_self(struct task_struct *p)
{
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);
    __u32 level = BPF_CORE_READ(p, thread_pid, level);
    int id = PT_REGS_PARM1_CORE_SYSCALL(regs);

    return !id || id == BPF_CORE_READ(p, thread_pid, numbers[level].nr);
}

/*
 * Is the thread, going to sleep, in a wait of the kernel's own (disk, file server, grace period)? Such
 * a thread is not blocked in the program's sense, and which thread executed meanwhile would depend on
 * how long the wait takes. Waits on other threads of the run are: a lock that one of them holds inside
 * the kernel, a vfork child, another thread to be moved to a CPU (it may not be while it is in a
 * step), the other threads at exec and at a core dump.
 */
static __always_inline bool kernel_wait(struct actor *a)
{
    __u32 nr = a->t->sysno;

    if (!(a->p->__state & TASK_UNINTERRUPTIBLE) || !a->st->started)
        return false;
    if (a->t->lock)
        return lock_held_outside(a);
    if ((nr >= NR_FORK_FIRST && nr <= NR_FORK_LAST) || nr == NR_CLONE3)
        return false;
    if (nr == NR_SCHED_SETAFFINITY)
        return first_argument_is_self(a->p);
    /* The last files are closed now, on a file server too; threads wait for each other to dump core. */
    if ((a->p->flags & PF_EXITING) || (a->p->signal->flags & SIGNAL_GROUP_EXIT))
        return !(a->p->__state & (TASK_NOLOAD | TASK_FREEZABLE));
    return a->p->signal->group_exec_task != a->p;
}

/*
 * The thread, about to sleep, makes no step before another thread of the run does something. Said
 * only where it is sure: sleeping in other calls may end by itself, at a time that is not the
 * program's doing, and so may any sleep if the program has a timer.
 */
static __always_inline bool waits_for_others(struct actor *a)
{
    return a->t->waits && (a->p->__state & TASK_INTERRUPTIBLE) && !a->st->timers;
}

/* The thread ends, and enables no other one any more. */
static __always_inline void count_out(struct actor *a)
{
    if (a->t->leaving)
        return;
    a->t->leaving = 1;
    __sync_fetch_and_add(&a->st->enabled, -1);
}

/* ---- The scheduler --------------------------------------------------------------------------- */

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

OPS(select_cpu)
s32 BPF_PROG(pct_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
    struct actor a;

    return actor_of(p, &a) && !a.cfg->parallel ? cpu_for(p, a.t->slot) : prev_cpu;
}

OPS(enqueue)
void BPF_PROG(pct_enqueue, struct task_struct *p, u64 enq_flags)
{
    s32 cpu = bpf_get_smp_processor_id();
    struct actor a;
    __u32 refreshed;
    __u64 owner;

    if (!actor_of(p, &a)) {
        scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, SLICE_NS, enq_flags);
        return;
    }
    if (!a.cfg->parallel)
        release(&a); /* it was chosen, but lost its CPU before it ran */
    refreshed = a.t->refresh;
    a.t->refresh = 0;
    scx_bpf_dsq_insert_vtime(p, queue_of(a.t->slot), SLICE_NS,
                             a.cfg->parallel ? parallel_key(a.st, a.t)
                                             : PCT_PRIO_MAX - rank_of(a.t), enq_flags);
    end_holds_for_lock(&a);
    if (a.cfg->parallel) {
        if (owns(&a))
            place_of(a.st, a.t->place - 1)->executing = 0;
        call_cpus(a.st, p, a.t);
        return;
    }
    end_hold(&a);

    /*
     * The kick is carried out after the insertion. An owner on another CPU may be about to look into
     * the queue and find it without p, so that CPU is asked to look again in any case. A thread that
     * only passed through the CPU is known to be no better than the owner.
     */
    owner = a.st->owner;
    if (!owner)
        scx_bpf_kick_cpu(cpu_for(p, a.t->slot), 0);
    else if ((!refreshed && rank_of(a.t) > a.st->owner_priority) || (s32)(owner >> 32) != cpu)
        scx_bpf_kick_cpu(owner >> 32, SCX_KICK_PREEMPT);
}

/*
 * A waiting thread leaves the queue, for a change of its attributes or to move to another CPU; the kernel
 * puts it back. Called before it has left.
 */
OPS(dequeue)
void BPF_PROG(pct_dequeue, struct task_struct *p, u64 deq_flags)
{
    struct actor a;

    if ((deq_flags & SCX_DEQ_SCHED_CHANGE) && actor_of(p, &a))
        hold(&a);
}

/* Is the run's last owner still on its way out of another CPU? */
static bool still_on_cpu(struct pct_run_state *st, s32 cpu)
{
    struct task_struct *last;
    bool on = false;

    if (st->last_cpu == cpu || !st->last_pid)
        return false;
    last = bpf_task_from_pid(st->last_pid);
    if (last) {
        on = last->on_cpu && scx_bpf_task_cpu(last) != cpu;
        bpf_task_release(last);
    }
    return on;
}

/*
 * The kernel ejects a scheduler under which a runnable thread has not run for WATCHDOG_MS. Let every
 * waiting thread be switched in; pct_running sends each away before it executes an instruction.
 */
static bool refresh_run(struct pct_run_state *st, __u32 slot)
{
    struct task_struct *p;
    bool moved = false;

    st->last_refresh_ns = bpf_ktime_get_ns();
    bpf_for_each(scx_dsq, p, queue_of(slot), 0) {
        struct pct_thread *t = bpf_task_storage_get(&threads, p, NULL, 0);

        if (!t)
            continue;
        t->refresh = 1;
        if (scx_bpf_dsq_move(THIS_ITERATOR, p, SCX_DSQ_LOCAL_ON | cpu_for(p, slot), 0))
            moved = true;
        else
            t->refresh = 0;
    }
    return moved;
}

static __always_inline bool waits_at_step(const struct pct_thread *t)
{
    return t->arrived && !t->selected && !t->arriving;
}

static __always_inline void disturbed(struct pct_run_config *cfg, struct pct_run_state *st,
                                      struct pct_thread *t, __u32 reaction)
{
    policy_disturbed(&cfg->policy, &st->policy, &t->pol,
                     reaction == PCT_REACT_ALL ? NULL : &st->reacting_to);
}

/*
 * Waiting threads learn of what has happened to the object of their step, and change their places.
 * `leaving`, if not null, waits too, but is still on the CPU: it comes into the queue, with the priority
 * it gets here, when it has left that.
 */
static __noinline int carry_out_reaction(struct pct_run_config *cfg, struct pct_run_state *st,
                                         __u32 slot, struct pct_thread *leaving)
{
    __u64 queue = queue_of(slot);
    struct task_struct *p;
    __u32 reaction;

    if (!cfg || !st)
        return 0;
    reaction = st->reaction;
    st->reaction = PCT_REACT_NONE;
    if (leaving && !waits_at_step(leaving))
        leaving = NULL;
    bpf_for_each(scx_dsq, p, queue, 0) {
        struct pct_thread *t = bpf_task_storage_get(&threads, p, NULL, 0);
        __u64 before;

        if (!t || !waits_at_step(t))
            continue;
        before = t->pol.priority;
        if (leaving && leaving->pol.priority > before) { /* from the highest to the lowest */
            disturbed(cfg, st, leaving, reaction);
            leaving = NULL;
        }
        disturbed(cfg, st, t, reaction);
        if (t->pol.priority == before)
            continue;
        scx_bpf_dsq_move_set_vtime(THIS_ITERATOR, PCT_PRIO_MAX - rank_of(t));
        scx_bpf_dsq_move_vtime(THIS_ITERATOR, p, queue, 0);
    }
    if (leaving)
        disturbed(cfg, st, leaving, reaction);
    return 0;
}

/* Stepwise policies: the owner has come to its next step; what does it compete with? */
static __noinline void arrive(struct actor *a)
{
    struct pct_policy_view view = {};
    struct pct_thread *t = a->t;
    __u64 before;

    executed(a);
    if (a->st->reaction)
        carry_out_reaction(a->cfg, a->st, t->slot, NULL);
    t->pol.event = t->next;
    t->arriving = 0;
    t->arrived = 1;
    t->hashed = 0;
    come_to_object(a->st, t);
    view.other = best_other(a->st, t->slot);
    view.enabled = a->st->enabled;
    policy_arrive(&a->cfg->policy, &a->st->policy, &t->pol, &view);
    if (t->sign) {
        before = t->pol.priority;
        note_reaction(a, policy_stuck(&a->cfg->policy, &a->st->policy, &t->pol, &view,
                                      t->sign_count << 3 | t->sign));
        if (a->st->reaction || t->pol.priority != before)
            a->st->demotions[t->sign & 7]++;
        if (a->st->reaction)
            carry_out_reaction(a->cfg, a->st, t->slot, t);
        t->sign = 0;
    }
}

/* Stepwise policies: the thread goes on and executes its step. `leaving` loses the CPU to it, or null. */
static __always_inline void go_on(struct actor *a, struct pct_thread *leaving)
{
    if (!a->t->arrived || a->t->selected)
        return;
    a->t->selected = 1;
    if (!a->t->hashed) /* the order in which steps are executed, not that of arrivals */
        a->st->order_hash =
            pct_order_hash(a->st->order_hash, a->t->pol.identity, a->t->pol.event.kind);
    a->t->hashed = 1;
    note_reaction(a, policy_select(&a->cfg->policy, &a->st->policy, &a->t->pol));
    a->st->owner_priority = rank_of(a->t);
    if (a->st->reaction)
        carry_out_reaction(a->cfg, a->st, a->t->slot, leaving);
}

/*
 * Choose the run's next owner for this CPU. prev is the current owner if that is on this CPU and
 * could go on. True: the CPU has a task to run. A global function, so that it is verified once and
 * not for each slot.
 */
__noinline int dispatch_run(s32 cpu, __u32 slot, struct task_struct *prev __arg_trusted __arg_nullable)
{
    struct pct_thread *prev_thread = prev ? bpf_task_storage_get(&threads, prev, NULL, 0) : NULL;
    struct pct_run_config *cfg = config_of(slot);
    struct pct_run_state *st = state_of(slot);
    struct task_struct *p;
    struct pct_thread *next = NULL;
    bool keep = prev != NULL;
    __u64 held, expected, chosen;
    struct actor a;

    if (!cfg || !st || !cfg->id || !prev_thread != !prev)
        return false;
    expected = prev_thread ? PCT_OWNER(prev_thread->index, cpu) : 0;
    if (!cfg->parallel && st->owner != expected)
        return false;
    if (bpf_ktime_get_ns() - st->last_refresh_ns > REFRESH_NS && refresh_run(st, slot))
        return true;
    if (cfg->parallel)
        return dispatch_parallel(cpu, slot, prev);

    if (cfg->stepwise && st->reaction)
        carry_out_reaction(cfg, st, slot, prev_thread);
    a.cfg = cfg;
    a.st = st;
    held = best_held(st);
    if (prev_thread && rank_of(prev_thread) < held)
        keep = false;
    bpf_for_each(scx_dsq, p, queue_of(slot), 0) {
        struct pct_thread *t = bpf_task_storage_get(&threads, p, NULL, 0);
        __u64 priority = PCT_PRIO_MAX - p->scx.dsq_vtime;
        s32 want;

        if (!t || (prev_thread && rank_of(prev_thread) >= priority))
            break;
        if (held > priority)
            break;
        keep = false;
        want = cpu_for(p, slot);
        if (want != cpu) {
            scx_bpf_kick_cpu(want, 0);
            break;
        }
        chosen = PCT_OWNER(t->index, cpu);
        if (__sync_val_compare_and_swap(&st->owner, expected, chosen) != expected)
            break;
        /* only now can no other CPU let a thread start, run and begin to leave meanwhile */
        if (still_on_cpu(st, cpu)) {
            __sync_val_compare_and_swap(&st->owner, chosen, expected);
            scx_bpf_kick_cpu(cpu, 0);
            break;
        }
        st->owner_priority = priority;
        if (!prev_thread && scx_bpf_dsq_nr_queued(queue_of(slot)) == 1)
            st->lowest_ran = st->steps; /* all better ones are blocked */
        scx_bpf_dsq_move_set_slice(THIS_ITERATOR, SLICE_NS);
        if (scx_bpf_dsq_move(THIS_ITERATOR, p, SCX_DSQ_LOCAL, 0)) {
            next = t;
        } else { /* it left the queue just now: look again */
            __sync_val_compare_and_swap(&st->owner, chosen, expected);
            scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
        }
        break;
    }
    if (keep && prev) {
        prev->scx.slice = SLICE_NS;
        next = prev_thread;
    }
    if (cfg->stepwise && next) {
        a.t = next;
        go_on(&a, next == prev_thread ? NULL : prev_thread);
    }
    return next != NULL;
}

OPS(dispatch)
void BPF_PROG(pct_dispatch, s32 cpu, struct task_struct *prev)
{
    __u32 key = 0, prev_slot = PCT_MAX_RUNS, slot, i;
    __u32 *last = bpf_map_lookup_elem(&last_slot, &key);
    struct actor a;

    if (!last)
        return;
    if (prev && (prev->scx.flags & SCX_TASK_QUEUED) && actor_of(prev, &a) && owns(&a)) {
        prev_slot = a.t->slot;
        if (a.t->arriving) /* now, since it may be another run's turn next */
            arrive(&a);
    }
    slot = *last;
    bpf_for(i, 0, nr_slots) {
        slot = slot + 1 < nr_slots ? slot + 1 : 0;
        if (dispatch_run(cpu, slot, slot == prev_slot ? prev : NULL)) {
            *last = slot;
            return;
        }
    }
}

static __always_inline void yield_to_better(struct actor *a)
{
    if (outranked(a->cfg, a->st, a->t))
        scx_bpf_kick_cpu(bpf_get_smp_processor_id(), SCX_KICK_PREEMPT);
}

OPS(running)
void BPF_PROG(pct_running, struct task_struct *p)
{
    s32 cpu = bpf_get_smp_processor_id();
    struct actor a;

    if (!actor_of(p, &a))
        return;
    if (a.t->refresh) {
        scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
        return;
    }
    if (!owns(&a)) {
        scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
        return;
    }
    note_priority(&a);
    if (a.st->last_pid != p->pid)
        a.st->switches++;
    a.st->last_pid = p->pid;
    a.st->last_cpu = cpu;
    if (a.t->arriving) /* it lost the CPU on its way to arrive() */
        scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
    yield_to_better(&a); /* it may have come while this one was on its way to the CPU */
}

OPS(stopping)
void BPF_PROG(pct_stopping, struct task_struct *p, bool runnable)
{
    struct actor a;

    if (!actor_of(p, &a))
        return;
    if (runnable) {
        p->scx.slice = 0; /* whoever took the CPU, the thread goes back to its run's queue */
        if (!a.cfg->parallel)
            release(&a);
        return;
    }
    if (!p->__state)
        return; /* its attributes are being changed, it goes on executing */
    if (owns(&a) && kernel_wait(&a)) {
        hold(&a);
    } else if (a.t->selected) {
        a.t->selected = 0;
        a.t->blocked = 1;
        policy_block(&a.cfg->policy, &a.st->policy, &a.t->pol);
    }
    if (p->__state & TASK_DEAD) {
        count_out(&a);
    } else if (!a.t->leaving && waits_for_others(&a)) {
        a.t->idle = 1;
        __sync_fetch_and_add(&a.st->enabled, -1);
    }
    release(&a);
}

static __always_inline void wakes_from_idle(struct actor *a)
{
    if (!a->t->idle)
        return;
    a->t->idle = 0;
    __sync_fetch_and_add(&a->st->enabled, 1);
}

OPS(runnable)
void BPF_PROG(pct_runnable, struct task_struct *p, u64 enq_flags)
{
    struct actor a;

    if (!actor_of(p, &a))
        return;
    __sync_fetch_and_add(&a.st->runnable, 1);
    __sync_fetch_and_add(&a.st->progress, 1);
    wakes_from_idle(&a);
    if (!(enq_flags & SCX_ENQ_WAKEUP))
        return; /* only its attributes changed */
    not_spinning(&a);
    a.t->yield_count = 0;
    a.t->poll_count = 0;
    /* Others may get next to nothing done during a nanosecond's sleep. */
    if (a.t->sysno != NR_NANOSLEEP && a.t->sysno != NR_CLOCK_NANOSLEEP)
        a.t->loop_count = 0;
    if (a.t->blocked || (!a.cfg->stepwise && !a.cfg->parallel)) {
        a.t->blocked = 0;
        policy_wake(&a.cfg->policy, &a.st->policy, &a.t->pol);
    }
}

OPS(quiescent)
void BPF_PROG(pct_quiescent, struct task_struct *p, u64 deq_flags)
{
    struct actor a;

    if (!actor_of(p, &a))
        return;
    __sync_fetch_and_add(&a.st->progress, 1);
    if (__sync_fetch_and_add(&a.st->runnable, -1) == 1 &&
        __sync_val_compare_and_swap(&a.st->quiescent_armed, 1, 0) == 1)
        report(&a, PCT_EVENT_QUIESCENT, 0, 0, 0);
}

OPS(tick)
void BPF_PROG(pct_tick, struct task_struct *p)
{
    __u64 now = bpf_ktime_get_ns();
    struct actor a;

    if (!actor_of(p, &a) || a.t->refresh)
        return;
    if (!scx_bpf_dsq_nr_queued(queue_of(a.t->slot))) {
        not_spinning(&a);
        a.st->last_refresh_ns = now;
        return;
    }
    if (spun_ns(&a) > a.cfg->spin_limit_ns && a.cfg->spin_limit_ns && a.st->started &&
        (!a.cfg->parallel || a.st->policy.low)) {
        not_spinning(&a);
        no_progress(&a, PCT_DEMOTE_SPIN, 0);
        scx_bpf_kick_cpu(bpf_get_smp_processor_id(), SCX_KICK_PREEMPT);
    }
    if (now - a.st->last_refresh_ns > REFRESH_NS)
        scx_bpf_kick_cpu(bpf_get_smp_processor_id(), SCX_KICK_PREEMPT);
}

/* ---- Membership ------------------------------------------------------------------------------ */

/* A task becomes a thread of a run. */
static __always_inline int join_run(struct actor *a, __u32 slot)
{
    struct pct_thread *t = bpf_task_storage_get(&threads, a->p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

    a->t = t;
    a->cfg = config_of(slot);
    a->st = state_of(slot);
    if (!t || !a->cfg || !a->st)
        return -ENOMEM;
    __builtin_memset(t, 0, sizeof(*t));
    t->run = a->cfg->id;
    t->slot = slot;
    t->index = __sync_fetch_and_add(&a->st->threads, 1);
    __sync_fetch_and_add(&a->st->alive, 1);
    __sync_fetch_and_add(&a->st->enabled, 1);
    return 0;
}

OPS(init_task)
s32 BPF_PROG(pct_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
    struct actor parent, a = {.p = p};
    unsigned long irqs;

    if (!args->fork || !actor_of(bpf_get_current_task_btf(), &parent))
        return 0;
    if (join_run(&a, parent.t->slot))
        return -ENOMEM;
    not_spinning(&parent); /* who waits in a loop for others creates none */
    a.t->parent = parent.t->index;
    a.t->ordinal = ++parent.t->children;
    a.t->pol.identity = pct_child_identity(parent.t->pol.identity, a.t->ordinal);
    a.t->pol.priority = parent.t->pol.priority;
    a.t->loader_start = parent.t->loader_start;
    a.t->loader_end = parent.t->loader_end;
    bpf_local_irq_save(&irqs);
    lock_hooks(a.st);
    policy_appear(&a.cfg->policy, &a.st->policy, &a.t->pol);
    unlock_hooks(a.st);
    bpf_local_irq_restore(&irqs);
    report(&a, PCT_EVENT_THREAD, 0, a.t->pol.phase, 0);
    return 0;
}

/* A task leaves us: it ends, or somebody gave it another scheduling policy. */
OPS(disable)
void BPF_PROG(pct_disable, struct task_struct *p)
{
    struct actor a;

    if (!actor_of(p, &a))
        return;
    end_hold(&a);
    release(&a);
    wakes_from_idle(&a); /* nobody will tell when it does */
}

OPS(exit_task)
void BPF_PROG(pct_exit_task, struct task_struct *p, struct scx_exit_task_args *args)
{
    struct actor a;

    if (!actor_of(p, &a))
        return;
    release(&a);
    if (a.t->arrived)
        leave_object(a.t);
    count_out(&a);
    __sync_fetch_and_add(&a.st->alive, -1);
}

/* The controller makes a task the first thread of a run, before that enters SCHED_EXT. */
SEC("syscall")
int adopt(struct pct_call *args)
{
    struct pct_run_config *cfg = config_of(args->slot);
    struct actor a;
    int err = -ESRCH;

    if (!cfg || !PCT_POLICY_LOADED(cfg->policy.policy & 31))
        return -EINVAL; /* it would decide nothing */
    a.p = bpf_task_from_pid(args->value);
    if (!a.p)
        return err;
    err = join_run(&a, args->slot);
    if (!err) {
        a.t->pol.identity = PCT_ROOT_IDENTITY;
        policy_appear(&a.cfg->policy, &a.st->policy, &a.t->pol);
        a.st->last_refresh_ns = bpf_ktime_get_ns();
        report(&a, PCT_EVENT_THREAD, 0, 0, 0);
    }
    bpf_task_release(a.p);
    return err;
}

/* A thread held for has not come back for long: let the others go on. */
SEC("syscall")
int break_hold(struct pct_call *args)
{
    struct pct_run_config *cfg = config_of(args->slot);
    struct pct_run_state *st = state_of(args->slot);
    __u32 i = args->value;
    __u64 held;

    if (!cfg || !st || i >= PCT_MAX_HOLDS)
        return -EINVAL;
    held = st->holds[i].priority;
    if (held && __sync_val_compare_and_swap(&st->holds[i].priority, held, 0) == held) {
        st->hold_breaks++;
        scx_bpf_kick_cpu(cfg->home_cpu, SCX_KICK_PREEMPT);
    }
    return 0;
}

/* The first fatal signal of a run, and the thread that took it. */
static __always_inline void fatal_signal(struct actor *a, int sig)
{
    if (!__sync_val_compare_and_swap(&a->st->first_signal, 0, sig))
        report(a, PCT_EVENT_SIGNAL, 0, sig, 0);
}

/* A signal is about to act on its thread; with the default action and a fatal one, this is the end. */
SEC("tp/signal/signal_deliver")
int on_signal(struct trace_event_raw_signal_deliver *event)
{
    int sig = event->sig;
    struct actor a;

    if (!current_actor(&a) || !a.st->started)
        return 0;
    if (event->sa_handler) {
        a.t->signals += event->sa_handler != 1; /* not SIG_IGN */
        return 0;
    }
    if ((a.p->signal->flags & SIGNAL_GROUP_EXIT) || a.p->signal->group_exec_task)
        return 0; /* the process is ending or executing already; on_exit tells why */
    switch (sig) {
    case 17: /* SIGCHLD, SIGCONT, SIGURG, SIGWINCH: ignored by default */
    case 18:
    case 23:
    case 28:
    case 19: /* SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU: stop by default */
    case 20:
    case 21:
    case 22:
        return 0;
    }
    fatal_signal(&a, sig);
    return 0;
}

SEC("tp/sched/sched_process_exit")
int on_exit(void *event)
{
    struct actor a;
    int code;

    if (!current_actor(&a) || !a.st->started)
        return 0;
    code = a.p->exit_code;
    if (a.p->signal->flags & SIGNAL_GROUP_EXIT) {
        code = a.p->signal->group_exit_code;
        if (code & 0x7f)
            fatal_signal(&a, code & 0x7f);
    }
    if (a.cfg->stepwise)
        executed(&a);
    /* The last one of its process has still to close files and to tell the parent. Others only wake
     * their joiner, at once. */
    if (a.p->signal->live.counter > 0)
        count_out(&a);
    report(&a, PCT_EVENT_EXIT, 0, code, a.t->pol.steps);
    return 0;
}

/* ---- Life cycle ------------------------------------------------------------------------------ */

SEC("struct_ops.s/init")
s32 BPF_PROG(pct_init)
{
    __u32 i;
    s32 err;

    bpf_for(i, 0, nr_slots) {
        struct sleepers *s = bpf_map_lookup_elem(&sleepers, &i);

        err = scx_bpf_create_dsq(queue_of(i), -1);
        if (err)
            return err;
        if (!s || bpf_timer_init(&s->timer, &sleepers, CLOCK_MONOTONIC) ||
            bpf_timer_set_callback(&s->timer, end_of_sleep))
            return -ENOMEM;
    }
    return 0;
}

OPS(exit)
void BPF_PROG(pct_exit, struct scx_exit_info *info)
{
    exit_code = info->exit_code;
    bpf_probe_read_kernel_str(exit_reason, sizeof(exit_reason), BPF_CORE_READ(info, reason));
    bpf_probe_read_kernel_str(exit_message, sizeof(exit_message), BPF_CORE_READ(info, msg));
    exit_kind = info->kind;
}

SEC(".struct_ops.link")
struct sched_ext_ops pct_ops = {
    .select_cpu = (void *)pct_select_cpu,
    .enqueue = (void *)pct_enqueue,
    .dequeue = (void *)pct_dequeue,
    .dispatch = (void *)pct_dispatch,
    .runnable = (void *)pct_runnable,
    .running = (void *)pct_running,
    .stopping = (void *)pct_stopping,
    .quiescent = (void *)pct_quiescent,
    .tick = (void *)pct_tick,
    .init_task = (void *)pct_init_task,
    .disable = (void *)pct_disable,
    .exit_task = (void *)pct_exit_task,
    .init = (void *)pct_init,
    .exit = (void *)pct_exit,
    .flags = SCX_OPS_SWITCH_PARTIAL | SCX_OPS_ENQ_LAST | SCX_OPS_ENQ_EXITING |
             SCX_OPS_ENQ_MIGRATION_DISABLED,
    .timeout_ms = WATCHDOG_MS,
    .name = "pctctl",
};
