#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The unit tests that start processes once more, on the kernel that has sched_ext: as root, on a pure
# cgroup v2 hierarchy with the pids controller, without the kernel's socket diagnosis.
# timeout: 300
exec build/tests/unit_tests --gtest_brief=1 \
    --gtest_filter='Groups.*:Guardian.*:Launch.*:Judge.*ocket*:Judge.Loopback*:PrivateFile.*'
