#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a command finds in the guest: a kernel with all that pctctl needs, and a machine of its own.
# timeout: 400
. "$(dirname -- "$0")/lib.sh"
cd "$work" || exit 1

cat >look.sh <<'EOF'
set -eu
fail() { echo "FAILED: $*"; exit 1; }
[ "$(id -u)" = 0 ] || fail "not root"
[ "$(cat /sys/kernel/sched_ext/state)" = disabled ] || fail "sched_ext"
[ -r /sys/kernel/btf/vmlinux ] || fail "BTF"
grep -q '(full)' /sys/kernel/debug/sched/preempt || fail "not fully preemptible"
[ "$(nproc)" = "$1" ] || fail "$(nproc) CPUs"
memory=$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)
[ "$memory" -gt $(($2 * 1024 * 8 / 10)) ] && [ "$memory" -le $(($2 * 1024)) ] ||
    fail "memory: $memory kB"
for controller in cpu cpuset memory pids; do
    grep -qw $controller /sys/fs/cgroup/cgroup.subtree_control || fail "no controller $controller"
done
mkdir /sys/fs/cgroup/test && rmdir /sys/fs/cgroup/test
for directory in /proc /sys /dev /dev/pts /dev/shm /run /sys/fs/cgroup /sys/fs/bpf \
    /sys/kernel/debug /sys/kernel/tracing; do
    grep -q " $directory " /proc/mounts || fail "$directory is not mounted"
done
[ "$(ls /sys/class/net)" = lo ] || fail "a network: $(ls /sys/class/net)"
[ "$(cat /sys/class/net/lo/flags)" = 0x9 ] || fail "loopback is down" # up, loopback
[ "$(stat -c %a /run/lock)" = 1777 ] || fail "/run/lock: $(stat -c %a /run/lock)"
echo x >/dev/shm/x
for device in /dev/null /dev/fd/0 /dev/stdout /dev/ptmx; do
    [ -e $device ] || fail "no $device"
done
echo right
EOF
expect "by default" right "$("$run" -- sh look.sh 2 2048 </dev/null)"
expect "one CPU, 512 MB" right "$("$run" --cpus 1 --memory 512M -- sh look.sh 1 512 </dev/null)"
expect "four CPUs, 1 GB" right "$("$run" --cpus=4 --memory=1G -- sh look.sh 4 1024 </dev/null)"
now=$(date +%s)
guest=$("$run" -- date +%s)
late=$(($(date +%s) - guest))
[ "$guest" -ge "$now" ] && [ $late -le 30 ] || fail "the clock: $late s late"
echo "ok: the clock"
