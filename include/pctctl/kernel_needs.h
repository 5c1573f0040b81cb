/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the scheduler needs of the running kernel beyond the first version of sched_ext and of BPF.
 * One table for both sides: bpf/compat.bpf.h takes the enumerators from it, and `pctctl doctor`
 * looks for all of it in the kernel's type information.
 */
#ifndef PCTCTL_KERNEL_NEEDS_H
#define PCTCTL_KERNEL_NEEDS_H

/* X(name) */
#define PCT_KERNEL_FUNCTIONS(X)                                                                    \
    X(bpf_cpumask_first)                                                                           \
    X(bpf_cpumask_test_cpu)                                                                        \
    X(bpf_iter_num_destroy)                                                                        \
    X(bpf_iter_num_new)                                                                            \
    X(bpf_iter_num_next)                                                                           \
    X(bpf_iter_scx_dsq_destroy)                                                                    \
    X(bpf_iter_scx_dsq_new)                                                                        \
    X(bpf_iter_scx_dsq_next)                                                                       \
    X(bpf_local_irq_restore)                                                                       \
    X(bpf_local_irq_save)                                                                          \
    X(bpf_preempt_disable)                                                                         \
    X(bpf_preempt_enable)                                                                          \
    X(bpf_rcu_read_lock)                                                                           \
    X(bpf_rcu_read_unlock)                                                                         \
    X(bpf_task_from_pid)                                                                           \
    X(bpf_task_release)                                                                            \
    X(scx_bpf_create_dsq)                                                                          \
    X(scx_bpf_dsq_insert)                                                                          \
    X(scx_bpf_dsq_move)                                                                            \
    X(scx_bpf_dsq_move_set_slice)                                                                  \
    X(scx_bpf_dsq_move_set_vtime)                                                                  \
    X(scx_bpf_dsq_move_vtime)                                                                      \
    X(scx_bpf_dsq_nr_queued)                                                                       \
    X(scx_bpf_dsq_peek)                                                                            \
    X(scx_bpf_kick_cpu)                                                                            \
    X(scx_bpf_nr_cpu_ids)                                                                          \
    X(scx_bpf_pick_idle_cpu)                                                                       \
    X(scx_bpf_task_cpu)

/* X(name, successor): one of the two. */
#define PCT_KERNEL_ALTERNATIVES(X) X(scx_bpf_dsq_insert_vtime, __scx_bpf_dsq_insert_vtime)

/* X(enum, enumerator) */
#define PCT_KERNEL_ENUMERATORS(X)                                                                  \
    X(scx_deq_flags, SCX_DEQ_SCHED_CHANGE)                                                         \
    X(scx_dsq_id_flags, SCX_DSQ_GLOBAL)                                                            \
    X(scx_dsq_id_flags, SCX_DSQ_LOCAL)                                                             \
    X(scx_dsq_id_flags, SCX_DSQ_LOCAL_ON)                                                          \
    X(scx_enq_flags, SCX_ENQ_WAKEUP)                                                               \
    X(scx_ent_flags, SCX_TASK_QUEUED)                                                              \
    X(scx_kick_flags, SCX_KICK_IDLE)                                                               \
    X(scx_kick_flags, SCX_KICK_PREEMPT)

/* X(enum, enumerator): the scheduler's flags (sched_ext_ops.flags), set before it is loaded. */
#define PCT_KERNEL_OPS_FLAGS(X)                                                                    \
    X(scx_ops_flags, SCX_OPS_SWITCH_PARTIAL)                                                       \
    X(scx_ops_flags, SCX_OPS_ENQ_LAST)                                                             \
    X(scx_ops_flags, SCX_OPS_ENQ_EXITING)                                                          \
    X(scx_ops_flags, SCX_OPS_ENQ_MIGRATION_DISABLED)

#endif
