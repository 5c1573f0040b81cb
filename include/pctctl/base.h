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
 * for (i = start; i < end; i++), of which the kernel's verifier looks at the body once and not for
 * each i. What is indexed by i needs PCT_HIDE(i) and a mask.
 */
#ifdef bpf_for
#define PCT_FOR(i, start, end) bpf_for(i, start, end)
#else
#define PCT_FOR(i, start, end) for ((i) = (start); (i) < (end); (i)++)
#endif

/*
 * A function that the verifier looks at once, alone, and not on each way that leads to it; a
 * pointer that it is given, which is never null.
 */
#ifdef __VMLINUX_H__
#define PCT_APART __attribute__((weak))
#define PCT_NONNULL __attribute__((btf_decl_tag("arg:nonnull")))
#else
#define PCT_APART static inline
#define PCT_NONNULL
#endif

/*
 * Hides from the compiler what it knows of a variable, so that a check of its bounds stays where
 * the kernel's verifier can see it.
 */
#define PCT_HIDE(variable) __asm__ volatile("" : "+r"(variable))

#endif
