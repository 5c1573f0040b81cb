// SPDX-License-Identifier: GPL-2.0-only
// Proves that the policies compile for BPF, with warnings as errors: without floating point, and
// without calls of functions that BPF does not have. It is never loaded; the kernel verifies the
// scheduler.
#include "vmlinux.h"

#include "dispatch.h"

__attribute__((section("check"))) __u64 policies(struct pct_policy_config* cfg,
                                                 struct pct_policy_run* run,
                                                 struct pct_policy_thread* th,
                                                 struct pct_policy_view* view) {
    __u64 sum = pct_policy_arrive(cfg, run, th, view);

    pct_policy_appear(cfg, run, th);
    sum += pct_policy_select(cfg, run, th);
    pct_policy_block(cfg, run, th);
    pct_policy_wake(cfg, run, th);
    pct_policy_disturbed(cfg, run, th, &th->event);
    sum += pct_policy_executed(cfg, run, th);
    sum += pct_policy_stuck(cfg, run, th, view, PCT_DEMOTE_YIELD, th->steps);
    return sum + pct_policy_enforcement(cfg);
}
