/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fixed-width types for headers that are compiled both into BPF (where vmlinux.h defines them) and
 * into the host programs.
 */
#ifndef PCTCTL_BASE_H
#define PCTCTL_BASE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

/* For functions of more arguments than BPF can pass. */
#define PCT_ALWAYS_INLINE inline __attribute__((always_inline))

/*
 * Hides from the compiler what it knows of a variable, so that a check of its bounds stays where
 * the kernel's verifier can see it.
 */
#define PCT_HIDE(variable) __asm__ volatile("" : "+r"(variable))

#endif
