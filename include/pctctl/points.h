/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scheduling points: what counts as a step.
 *
 * A step kind is a 16-bit number. System calls are their x86-64 number; libc operations are
 * PCT_KIND_LIBC plus their position in PCT_LIBC_POINTS. Positions are part of the order hash:
 * append, never reorder. The two ends of a creation have kinds of their own.
 */
#ifndef PCTCTL_POINTS_H
#define PCTCTL_POINTS_H

#include "pctctl/base.h"

/* Bits of a set of points; `--points` names them. */
#define PCT_POINTS_PTHREAD 1u
#define PCT_POINTS_SYSCALL 2u

#define PCT_KIND_LIBC 0x1000u
/* Under stepwise policies, whatever the set of points: */
#define PCT_KIND_BEGIN 0x2000u   /* a new thread is about to execute its first instruction */
#define PCT_KIND_CREATED 0x2001u /* its creator, to return from the system call that made it */
#define PCT_NR_SYSCALLS 512u

/* Traits of a point. */
#define PCT_POINT_STEP 1u  /* it is a step */
#define PCT_POINT_POLLS 2u /* may fail and be tried again: a sign of no progress when repeated */
#define PCT_POINT_IF_SHARED 4u   /* mmap: only with MAP_SHARED */
#define PCT_POINT_IF_LOCK 8u     /* fcntl: only the record-lock commands */
#define PCT_POINT_ZERO_FAILS 16u /* a system call that says "not yet" by returning 0 */
#define PCT_POINT_YIELD 32u      /* says itself that it makes no progress */
/* What it acts on: a libc operation, if nothing is said, on its first argument. */
#define PCT_POINT_FILE 64u       /* the file of the descriptor that is its first argument */
#define PCT_POINT_NAMES 128u     /* names of files, or other objects with names */
#define PCT_POINT_PROCESS 256u   /* processes and threads */
#define PCT_POINT_READ_ONLY 512u /* two of them on the same object commute */
#define PCT_POINT_ACQUIRES 1024u /* a lock */
/* A libc operation in which the program's own code may be executed, with operations of its own. */
#define PCT_POINT_CALLS_BACK 2048u

/* X(symbol, traits); a symbol absent from a libc is skipped, aliases of one address count once. */
#define PCT_LIBC_POINTS(X)                                                                         \
    X(pthread_mutex_lock, PCT_POINT_ACQUIRES)                                                      \
    X(pthread_mutex_trylock, PCT_POINT_POLLS | PCT_POINT_ACQUIRES)                                 \
    X(pthread_mutex_timedlock, PCT_POINT_ACQUIRES)                                                 \
    X(pthread_mutex_clocklock, PCT_POINT_ACQUIRES)                                                 \
    X(pthread_mutex_unlock, 0)                                                                     \
    X(pthread_cond_wait, 0)                                                                        \
    X(pthread_cond_timedwait, 0)                                                                   \
    X(pthread_cond_clockwait, 0)                                                                   \
    X(pthread_cond_signal, 0)                                                                      \
    X(pthread_cond_broadcast, 0)                                                                   \
    X(pthread_rwlock_rdlock, PCT_POINT_ACQUIRES | PCT_POINT_READ_ONLY)                             \
    X(pthread_rwlock_tryrdlock, PCT_POINT_POLLS | PCT_POINT_ACQUIRES | PCT_POINT_READ_ONLY)        \
    X(pthread_rwlock_timedrdlock, PCT_POINT_ACQUIRES | PCT_POINT_READ_ONLY)                        \
    X(pthread_rwlock_clockrdlock, PCT_POINT_ACQUIRES | PCT_POINT_READ_ONLY)                        \
    X(pthread_rwlock_wrlock, PCT_POINT_ACQUIRES)                                                   \
    X(pthread_rwlock_trywrlock, PCT_POINT_POLLS | PCT_POINT_ACQUIRES)                              \
    X(pthread_rwlock_timedwrlock, PCT_POINT_ACQUIRES)                                              \
    X(pthread_rwlock_clockwrlock, PCT_POINT_ACQUIRES)                                              \
    X(pthread_rwlock_unlock, 0)                                                                    \
    X(pthread_barrier_wait, 0)                                                                     \
    X(pthread_spin_lock, PCT_POINT_ACQUIRES)                                                       \
    X(pthread_spin_trylock, PCT_POINT_POLLS | PCT_POINT_ACQUIRES)                                  \
    X(pthread_spin_unlock, 0)                                                                      \
    X(sem_wait, 0)                                                                                 \
    X(sem_trywait, PCT_POINT_POLLS)                                                                \
    X(sem_timedwait, 0)                                                                            \
    X(sem_clockwait, 0)                                                                            \
    X(sem_post, 0)                                                                                 \
    X(pthread_once, PCT_POINT_CALLS_BACK)                                                          \
    X(pthread_create, PCT_POINT_PROCESS)                                                           \
    X(pthread_join, PCT_POINT_PROCESS)                                                             \
    X(pthread_tryjoin_np, PCT_POINT_POLLS | PCT_POINT_PROCESS)                                     \
    X(pthread_timedjoin_np, PCT_POINT_PROCESS)                                                     \
    X(pthread_clockjoin_np, PCT_POINT_PROCESS)                                                     \
    X(pthread_exit, PCT_POINT_PROCESS | PCT_POINT_CALLS_BACK)                                      \
    X(mtx_lock, PCT_POINT_ACQUIRES)                                                                \
    X(mtx_trylock, PCT_POINT_POLLS | PCT_POINT_ACQUIRES)                                           \
    X(mtx_timedlock, PCT_POINT_ACQUIRES)                                                           \
    X(mtx_unlock, 0)                                                                               \
    X(cnd_wait, 0)                                                                                 \
    X(cnd_timedwait, 0)                                                                            \
    X(cnd_signal, 0)                                                                               \
    X(cnd_broadcast, 0)                                                                            \
    X(call_once, PCT_POINT_CALLS_BACK)                                                             \
    X(thrd_create, PCT_POINT_PROCESS)                                                              \
    X(thrd_join, PCT_POINT_PROCESS)                                                                \
    X(thrd_exit, PCT_POINT_PROCESS | PCT_POINT_CALLS_BACK)                                         \
    X(pthread_mutex_destroy, 0)                                                                    \
    X(pthread_cond_destroy, 0)                                                                     \
    X(pthread_barrier_destroy, 0)                                                                  \
    X(pthread_rwlock_destroy, 0)                                                                   \
    X(sem_destroy, 0)

/* X(name, traits): system calls that communicate between threads or processes, or block. */
#define PCT_SYSCALL_POINTS(X)                                                                      \
    X(futex, 0)                                                                                    \
    X(read, PCT_POINT_POLLS | PCT_POINT_FILE)                                                      \
    X(write, PCT_POINT_POLLS | PCT_POINT_FILE)                                                     \
    X(pread64, PCT_POINT_POLLS | PCT_POINT_FILE | PCT_POINT_READ_ONLY)                             \
    X(pwrite64, PCT_POINT_FILE)                                                                    \
    X(readv, PCT_POINT_POLLS | PCT_POINT_FILE)                                                     \
    X(writev, PCT_POINT_POLLS | PCT_POINT_FILE)                                                    \
    X(preadv, PCT_POINT_POLLS | PCT_POINT_FILE | PCT_POINT_READ_ONLY)                              \
    X(pwritev, PCT_POINT_FILE)                                                                     \
    X(preadv2, PCT_POINT_POLLS | PCT_POINT_FILE | PCT_POINT_READ_ONLY)                             \
    X(pwritev2, PCT_POINT_FILE)                                                                    \
    X(sendfile, PCT_POINT_FILE)                                                                    \
    X(splice, PCT_POINT_FILE)                                                                      \
    X(tee, PCT_POINT_FILE)                                                                         \
    X(vmsplice, PCT_POINT_FILE)                                                                    \
    X(copy_file_range, PCT_POINT_FILE)                                                             \
    X(sendto, PCT_POINT_POLLS | PCT_POINT_FILE)                                                    \
    X(recvfrom, PCT_POINT_POLLS | PCT_POINT_FILE)                                                  \
    X(sendmsg, PCT_POINT_POLLS | PCT_POINT_FILE)                                                   \
    X(recvmsg, PCT_POINT_POLLS | PCT_POINT_FILE)                                                   \
    X(sendmmsg, PCT_POINT_FILE)                                                                    \
    X(recvmmsg, PCT_POINT_POLLS | PCT_POINT_FILE)                                                  \
    X(accept, PCT_POINT_POLLS | PCT_POINT_FILE)                                                    \
    X(accept4, PCT_POINT_POLLS | PCT_POINT_FILE)                                                   \
    X(connect, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                  \
    X(bind, PCT_POINT_NAMES)                                                                       \
    X(listen, PCT_POINT_NAMES)                                                                     \
    X(shutdown, PCT_POINT_FILE)                                                                    \
    X(close, PCT_POINT_FILE)                                                                       \
    X(open, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                     \
    X(openat, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                   \
    X(openat2, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                  \
    X(creat, PCT_POINT_NAMES)                                                                      \
    X(rename, PCT_POINT_NAMES)                                                                     \
    X(renameat, PCT_POINT_NAMES)                                                                   \
    X(renameat2, PCT_POINT_NAMES)                                                                  \
    X(unlink, PCT_POINT_NAMES)                                                                     \
    X(unlinkat, PCT_POINT_NAMES)                                                                   \
    X(rmdir, PCT_POINT_NAMES)                                                                      \
    X(link, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                     \
    X(linkat, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                   \
    X(symlink, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                  \
    X(symlinkat, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                \
    X(mkdir, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                    \
    X(mkdirat, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                  \
    X(truncate, PCT_POINT_NAMES)                                                                   \
    X(ftruncate, PCT_POINT_FILE)                                                                   \
    X(fallocate, PCT_POINT_FILE)                                                                   \
    X(fcntl, PCT_POINT_IF_LOCK | PCT_POINT_POLLS | PCT_POINT_FILE)                                 \
    X(flock, PCT_POINT_POLLS | PCT_POINT_FILE)                                                     \
    X(mmap, PCT_POINT_IF_SHARED | PCT_POINT_NAMES)                                                 \
    X(msync, PCT_POINT_NAMES)                                                                      \
    X(shmget, PCT_POINT_NAMES)                                                                     \
    X(shmat, PCT_POINT_NAMES)                                                                      \
    X(shmdt, PCT_POINT_NAMES)                                                                      \
    X(shmctl, PCT_POINT_NAMES)                                                                     \
    X(semop, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                    \
    X(semtimedop, PCT_POINT_POLLS | PCT_POINT_NAMES)                                               \
    X(semctl, PCT_POINT_NAMES)                                                                     \
    X(msgsnd, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                   \
    X(msgrcv, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                   \
    X(mq_open, PCT_POINT_NAMES)                                                                    \
    X(mq_unlink, PCT_POINT_NAMES)                                                                  \
    X(mq_timedsend, PCT_POINT_POLLS | PCT_POINT_NAMES)                                             \
    X(mq_timedreceive, PCT_POINT_POLLS | PCT_POINT_NAMES)                                          \
    X(kill, PCT_POINT_POLLS | PCT_POINT_PROCESS)                                                   \
    X(tkill, PCT_POINT_POLLS | PCT_POINT_PROCESS)                                                  \
    X(tgkill, PCT_POINT_POLLS | PCT_POINT_PROCESS)                                                 \
    X(rt_sigqueueinfo, PCT_POINT_PROCESS)                                                          \
    X(pidfd_send_signal, PCT_POINT_PROCESS)                                                        \
    X(wait4, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS | PCT_POINT_PROCESS)                           \
    X(waitid, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS | PCT_POINT_PROCESS)                          \
    X(pause, PCT_POINT_PROCESS)                                                                    \
    X(rt_sigsuspend, PCT_POINT_PROCESS)                                                            \
    X(rt_sigtimedwait, PCT_POINT_POLLS | PCT_POINT_PROCESS)                                        \
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
    X(futex_wake, 0)                                                                               \
    X(futex_wait, 0)                                                                               \
    X(futex_requeue, 0)                                                                            \
    X(mknod, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                    \
    X(mknodat, PCT_POINT_POLLS | PCT_POINT_NAMES)                                                  \
    X(open_by_handle_at, PCT_POINT_POLLS | PCT_POINT_NAMES)                                        \
    X(close_range, 0)                                                                              \
    X(rt_tgsigqueueinfo, PCT_POINT_PROCESS)                                                        \
    X(io_submit, PCT_POINT_POLLS)                                                                  \
    X(io_getevents, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS)                                        \
    X(io_pgetevents, PCT_POINT_POLLS | PCT_POINT_ZERO_FAILS)                                       \
    X(io_uring_enter, PCT_POINT_POLLS)

#define PCT_LIBC_POINT_ENUM(name, traits) PCT_LIBC_##name,
enum pct_libc_point { PCT_LIBC_POINTS(PCT_LIBC_POINT_ENUM) PCT_NR_LIBC_POINTS };
#undef PCT_LIBC_POINT_ENUM

#endif
