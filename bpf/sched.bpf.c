/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler: strict priorities among the threads of each run, and exact change points.
 *
 * Each run has a queue ordered by priority and an owner, the one thread that may execute. A thread is
 * either blocked, waiting in its run's queue, or the owner; the owner is chosen in ops.dispatch and
 * gives up in ops.stopping, whatever the reason. So "at most one thread of a run executes" is the
 * invariant on pct_run_state.owner, and "the one of highest priority" is decided in a single
 * place, dispatch_serial(). Runs of several threads at a time: see parallel.bpf.h.
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
 * Only tasks whose scheduling class is SCHED_EXT are touched at all (SCX_OPS_SWITCH_PARTIAL). The
 * controller puts the first thread of a run there; all others inherit it.
 *
 * Here are the entry points. The path of a step, from file to file:
 *   libc_points, syscall_points   a thread has come to a point: is it a step, on which object?
 *   step, progress                count it and ask the policy; does the thread wait for a lower one?
 *   kick.bpf.c, rank              is it still the one to execute?
 *   order: serial or parallel     who is instead; stepwise: when all have arrived
 *   kernel_waits                  who is out of reach, but not blocked
 *   life                          threads appear, sleep, wake and end
 */
#include "actor.bpf.h"
#include "compat.bpf.h"
#include "cpu.bpf.h"
#include "kernel.bpf.h"
#include "kernel_waits.bpf.h"
#include "libc_points.bpf.h"
#include "life.bpf.h"
#include "order.bpf.h"
#include "step.bpf.h"
#include "syscall_points.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* ---- Points ---------------------------------------------------------------------------------- */

/* A libc operation is entered. Another thread's step must not come between counting and reporting one. */
SEC("uprobe.multi.s")
int on_libc_point(struct pt_regs *regs)
{
    bpf_preempt_disable();
    libc_point(regs);
    enforce();
    bpf_preempt_enable();
    return 0;
}

/* A system call is entered. kick.bpf.c makes the thread give way when this returns. */
SEC("tp/raw_syscalls/sys_enter")
int on_syscall(struct trace_event_raw_sys_enter *call)
{
    struct actor a;

    if (current_actor(&a))
        syscall_point(&a, call);
    return 0;
}

/* A system call returns: a new program was executed, a thread made, or a polling call failed. */
SEC("tp/raw_syscalls/sys_exit")
int on_syscall_exit(struct trace_event_raw_sys_exit *call)
{
    struct actor a;

    if (!current_actor(&a))
        return 0;
    if ((a.t->sysno == NR_EXECVE || a.t->sysno == NR_EXECVEAT) && call->ret == 0)
        start_program(&a);
    after_creation(&a, call->ret);
    after_poll(&a, call->ret);
    return 0;
}

/* ---- The order ------------------------------------------------------------------------------- */

OPS(select_cpu)
s32 BPF_PROG(pct_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
    struct actor a;

    return actor_of(p, &a) && !a.cfg->parallel ? cpu_for(p, a.t->slot) : prev_cpu;
}

OPS(enqueue)
void BPF_PROG(pct_enqueue, struct task_struct *p, u64 enq_flags)
{
    struct actor a;

    if (actor_of(p, &a))
        come_to_queue(&a, enq_flags);
    else
        dsq_insert(p, KERNEL(SCX_DSQ_GLOBAL), SLICE_NS, enq_flags);
}

/*
 * A waiting thread leaves the queue, for a change of its attributes or to move to another CPU; the kernel
 * puts it back. Called before it has left.
 */
OPS(dequeue)
void BPF_PROG(pct_dequeue, struct task_struct *p, u64 deq_flags)
{
    struct actor a;

    if ((deq_flags & KERNEL(SCX_DEQ_SCHED_CHANGE)) && actor_of(p, &a))
        hold(&a);
}

OPS(dispatch)
void BPF_PROG(pct_dispatch, s32 cpu, struct task_struct *prev)
{
    dispatch(cpu, prev);
}

OPS(running)
void BPF_PROG(pct_running, struct task_struct *p)
{
    struct actor a;

    if (actor_of(p, &a))
        get_cpu(&a);
}

OPS(tick)
void BPF_PROG(pct_tick, struct task_struct *p)
{
    struct actor a;

    if (actor_of(p, &a) && ends_turn(&a))
        scx_bpf_kick_cpu(bpf_get_smp_processor_id(), KERNEL(SCX_KICK_PREEMPT));
}

OPS(stopping)
void BPF_PROG(pct_stopping, struct task_struct *p, bool runnable)
{
    struct actor a;

    if (!actor_of(p, &a))
        return;
    if (runnable)
        lose_cpu(&a);
    else if (p->__state) /* else its attributes are being changed, it goes on executing */
        fall_asleep(&a);
}

/* ---- The life of a thread -------------------------------------------------------------------- */

/* The controller makes a task the first thread of a run, before that enters SCHED_EXT. */
SEC("syscall")
int adopt(struct pct_call *args)
{
    return adopt_task(args->slot, args->value);
}

OPS(init_task)
s32 BPF_PROG(pct_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
    struct actor parent;

    return args->fork && actor_of(bpf_get_current_task_btf(), &parent) ? child_appears(p, &parent) : 0;
}

OPS(runnable)
void BPF_PROG(pct_runnable, struct task_struct *p, u64 enq_flags)
{
    struct actor a;

    if (actor_of(p, &a))
        wake_up(&a, enq_flags);
}

OPS(quiescent)
void BPF_PROG(pct_quiescent, struct task_struct *p, u64 deq_flags)
{
    struct actor a;

    if (actor_of(p, &a))
        not_runnable(&a);
}

SEC("tp/signal/signal_deliver")
int on_signal(struct trace_event_raw_signal_deliver *event)
{
    struct actor a;

    if (current_actor(&a) && a.st->started)
        signal_taken(&a, event->sig, event->sa_handler);
    return 0;
}

SEC("tp/sched/sched_process_exit")
int on_exit(void *event)
{
    struct actor a;

    if (current_actor(&a) && a.st->started)
        thread_ends(&a);
    return 0;
}


OPS(disable)
void BPF_PROG(pct_disable, struct task_struct *p)
{
    struct actor a;

    if (actor_of(p, &a))
        leave(&a);
}

OPS(exit_task)
void BPF_PROG(pct_exit_task, struct task_struct *p, struct scx_exit_task_args *args)
{
    struct actor a;

    if (actor_of(p, &a))
        gone(&a);
}

/* ---- Waits of the kernel --------------------------------------------------------------------- */

SEC("tp/lock/contention_begin")
int on_lock_wait(struct trace_event_raw_contention_begin *wait)
{
    struct actor a;

    if (current_actor(&a))
        begin_lock_wait(&a, (__u64)wait->lock_addr, wait->flags);
    return 0;
}

SEC("tp/lock/contention_end")
int on_lock_got(struct trace_event_raw_contention_end *wait)
{
    struct actor a;

    if (current_actor(&a))
        end_lock_wait(&a, (__u64)wait->lock_addr);
    return 0;
}

/* A thread held for has not come back for long: let the others go on. */
SEC("syscall")
int break_hold(struct pct_call *args)
{
    return give_up_hold(args->slot, args->value);
}

/* ---- The scheduler --------------------------------------------------------------------------- */

SEC("struct_ops.s/init")
s32 BPF_PROG(pct_init)
{
    return init_order();
}

/* Why the scheduler was unloaded; written by ops.exit, read by the controller. */
__s32 exit_kind;
__s64 exit_code;
char exit_reason[128];
char exit_message[256];

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
    .flags = 0, /* set by the controller: PCT_KERNEL_OPS_FLAGS */
    .timeout_ms = WATCHDOG_MS,
    .name = "pctctl",
};
