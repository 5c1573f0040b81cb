#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Executes the unit tests that start processes once more, in the guest: as root, on a kernel with sched_ext,
# with cgroup v2 only and its pids controller, without the kernel's socket diagnosis (sock_diag).
# timeout: 300
exec build/tests/unit_tests --gtest_brief=1 \
    --gtest_filter='Groups.*:Guardian.*:Launch.*:Judge.*ocket*:Judge.Loopback*:PrivateFile.*'
