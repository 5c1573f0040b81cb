/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of system calls that the distribution's headers may be too old to know.
 */
#ifndef PCTCTL_SYSCALL_NUMBERS_H
#define PCTCTL_SYSCALL_NUMBERS_H

#include <sys/syscall.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wake
#define SYS_futex_wake 454
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif
#ifndef SYS_futex_requeue
#define SYS_futex_requeue 456
#endif

#endif
