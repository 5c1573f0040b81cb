/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scheduling points: what counts as a step.
 *
 * A step kind is a 16-bit number. System calls are their x86-64 number; libc operations are
 * PCT_KIND_LIBC plus their position in PCT_LIBC_POINTS. Positions are part of the order hash:
 * append, never reorder.
 */
#ifndef PCTCTL_POINTS_H
#define PCTCTL_POINTS_H

#include "pctctl/base.h"

/* Bits of a set of points; `--points` names them. */
#define PCT_POINTS_PTHREAD 1u
#define PCT_POINTS_SYSCALL 2u

#define PCT_KIND_LIBC 0x1000u
#define PCT_NR_SYSCALLS 512u

/* Traits of a point. */
#define PCT_POINT_STEP 1u  /* it is a step */
#define PCT_POINT_POLLS 2u /* may fail and be tried again: a sign of no progress when repeated */
#define PCT_POINT_IF_SHARED 4u   /* mmap: only with MAP_SHARED */
#define PCT_POINT_IF_LOCK 8u     /* fcntl: only the record-lock commands */
#define PCT_POINT_ZERO_FAILS 16u /* a system call that says "not yet" by returning 0 */
#define PCT_POINT_YIELD 32u      /* says itself that it makes no progress */

/* X(symbol, traits); a symbol absent from a libc is skipped, aliases of one address count once. */
#define PCT_LIBC_POINTS(X)                                                                         \
    X(pthread_mutex_lock, 0)                                                                       \
    X(pthread_mutex_trylock, PCT_POINT_POLLS)                                                      \
    X(pthread_mutex_timedlock, 0)                                                                  \
    X(pthread_mutex_clocklock, 0)                                                                  \
    X(pthread_mutex_unlock, 0)                                                                     \
    X(pthread_cond_wait, 0)                                                                        \
    X(pthread_cond_timedwait, 0)                                                                   \
    X(pthread_cond_clockwait, 0)                                                                   \
    X(pthread_cond_signal, 0)                                                                      \
    X(pthread_cond_broadcast, 0)                                                                   \
    X(pthread_rwlock_rdlock, 0)                                                                    \
    X(pthread_rwlock_tryrdlock, PCT_POINT_POLLS)                                                   \
    X(pthread_rwlock_timedrdlock, 0)                                                               \
    X(pthread_rwlock_clockrdlock, 0)                                                               \
    X(pthread_rwlock_wrlock, 0)                                                                    \
    X(pthread_rwlock_trywrlock, PCT_POINT_POLLS)                                                   \
    X(pthread_rwlock_timedwrlock, 0)                                                               \
    X(pthread_rwlock_clockwrlock, 0)                                                               \
    X(pthread_rwlock_unlock, 0)                                                                    \
    X(pthread_barrier_wait, 0)                                                                     \
    X(pthread_spin_lock, 0)                                                                        \
    X(pthread_spin_trylock, PCT_POINT_POLLS)                                                       \
    X(pthread_spin_unlock, 0)                                                                      \
    X(sem_wait, 0)                                                                                 \
    X(sem_trywait, PCT_POINT_POLLS)                                                                \
    X(sem_timedwait, 0)                                                                            \
    X(sem_clockwait, 0)                                                                            \
    X(sem_post, 0)                                                                                 \
    X(pthread_once, 0)                                                                             \
    X(pthread_create, 0)                                                                           \
    X(pthread_join, 0)                                                                             \
    X(pthread_tryjoin_np, PCT_POINT_POLLS)                                                         \
    X(pthread_timedjoin_np, 0)                                                                     \
    X(pthread_clockjoin_np, 0)                                                                     \
    X(pthread_exit, 0)                                                                             \
    X(mtx_lock, 0)                                                                                 \
    X(mtx_trylock, PCT_POINT_POLLS)                                                                \
    X(mtx_timedlock, 0)                                                                            \
    X(mtx_unlock, 0)                                                                               \
    X(cnd_wait, 0)                                                                                 \
    X(cnd_timedwait, 0)                                                                            \
    X(cnd_signal, 0)                                                                               \
    X(cnd_broadcast, 0)                                                                            \
    X(call_once, 0)                                                                                \
    X(thrd_create, 0)                                                                              \
    X(thrd_join, 0)                                                                                \
    X(thrd_exit, 0)                                                                                \
    X(pthread_mutex_destroy, 0)                                                                    \
    X(pthread_cond_destroy, 0)                                                                     \
    X(pthread_barrier_destroy, 0)                                                                  \
    X(pthread_rwlock_destroy, 0)                                                                   \
    X(sem_destroy, 0)

/* X(name, traits): system calls that communicate between threads or processes, or block. */
#define PCT_SYSCALL_POINTS(X)                                                                      \
    X(futex, 0)                                                                                    \
    X(read, PCT_POINT_POLLS)                                                                       \
    X(write, PCT_POINT_POLLS)                                                                      \
    X(pread64, PCT_POINT_POLLS)                                                                    \
    X(pwrite64, 0)                                                                                 \
    X(readv, PCT_POINT_POLLS)                                                                      \
    X(writev, PCT_POINT_POLLS)                                                                     \
    X(preadv, PCT_POINT_POLLS)                                                                     \
    X(pwritev, 0)                                                                                  \
    X(preadv2, PCT_POINT_POLLS)                                                                    \
    X(pwritev2, 0)                                                                                 \
    X(sendfile, 0)                                                                                 \
    X(splice, 0)                                                                                   \
    X(tee, 0)                                                                                      \
    X(vmsplice, 0)                                                                                 \
    X(copy_file_range, 0)                                                                          \
    X(sendto, PCT_POINT_POLLS)                                                                     \
    X(recvfrom, PCT_POINT_POLLS)                                                                   \
    X(sendmsg, PCT_POINT_POLLS)                                                                    \
    X(recvmsg, PCT_POINT_POLLS)                                                                    \
    X(sendmmsg, 0)                                                                                 \
    X(recvmmsg, PCT_POINT_POLLS)                                                                   \
    X(accept, PCT_POINT_POLLS)                                                                     \
    X(accept4, PCT_POINT_POLLS)                                                                    \
    X(connect, PCT_POINT_POLLS)                                                                    \
    X(bind, 0)                                                                                     \
    X(listen, 0)                                                                                   \
    X(shutdown, 0)                                                                                 \
    X(close, 0)                                                                                    \
    X(open, PCT_POINT_POLLS)                                                                       \
    X(openat, PCT_POINT_POLLS)                                                                     \
    X(openat2, PCT_POINT_POLLS)                                                                    \
    X(creat, 0)                                                                                    \
    X(rename, 0)                                                                                   \
    X(renameat, 0)                                                                                 \
    X(renameat2, 0)                                                                                \
    X(unlink, 0)                                                                                   \
    X(unlinkat, 0)                                                                                 \
    X(rmdir, 0)                                                                                    \
    X(link, PCT_POINT_POLLS)                                                                       \
    X(linkat, PCT_POINT_POLLS)                                                                     \
    X(symlink, PCT_POINT_POLLS)                                                                    \
    X(symlinkat, PCT_POINT_POLLS)                                                                  \
    X(mkdir, PCT_POINT_POLLS)                                                                      \
    X(mkdirat, PCT_POINT_POLLS)                                                                    \
    X(truncate, 0)                                                                                 \
    X(ftruncate, 0)                                                                                \
    X(fallocate, 0)                                                                                \
    X(fcntl, PCT_POINT_IF_LOCK | PCT_POINT_POLLS)                                                  \
    X(flock, PCT_POINT_POLLS)                                                                      \
    X(mmap, PCT_POINT_IF_SHARED)                                                                   \
    X(msync, 0)                                                                                    \
    X(shmget, 0)                                                                                   \
    X(shmat, 0)                                                                                    \
    X(shmdt, 0)                                                                                    \
    X(shmctl, 0)                                                                                   \
    X(semop, PCT_POINT_POLLS)                                                                      \
    X(semtimedop, PCT_POINT_POLLS)                                                                 \
    X(semctl, 0)                                                                                   \
    X(msgsnd, PCT_POINT_POLLS)                                                                     \
    X(msgrcv, PCT_POINT_POLLS)                                                                     \
    X(mq_open, 0)                                                                                  \
    X(mq_unlink, 0)                                                                                \
    X(mq_timedsend, PCT_POINT_POLLS)                                                               \
    X(mq_timedreceive, PCT_POINT_POLLS)                                                            \
    X(kill, PCT_POINT_POLLS)                                                                       \
    X(tkill, PCT_POINT_POLLS)                                                                      \
    X(tgkill, PCT_POINT_POLLS)                                                                     \
    X(rt_sigqueueinfo, 0)                                                                          \
    X(pidfd_send_signal, 0)                                                                        \
    X(wait4, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS)                                               \
    X(waitid, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS)                                              \
    X(pause, 0)                                                                                    \
    X(rt_sigsuspend, 0)                                                                            \
    X(rt_sigtimedwait, PCT_POINT_POLLS)                                                            \
    X(poll, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS)                                                \
    X(ppoll, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS)                                               \
    X(select, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS)                                              \
    X(pselect6, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS)                                            \
    X(epoll_wait, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS)                                          \
    X(epoll_pwait, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS)                                         \
    X(epoll_pwait2, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS)                                        \
    X(sched_yield, PCT_POINT_YIELD)                                                                \
    X(nanosleep, 0)                                                                                \
    X(clock_nanosleep, 0)                                                                          \
    X(futex_waitv, 0)                                                                              \
    X(io_uring_enter, PCT_POINT_POLLS)

#define PCT_LIBC_POINT_ENUM(name, traits) PCT_LIBC_##name,
enum pct_libc_point { PCT_LIBC_POINTS(PCT_LIBC_POINT_ENUM) PCT_NR_LIBC_POINTS };
#undef PCT_LIBC_POINT_ENUM

#endif
