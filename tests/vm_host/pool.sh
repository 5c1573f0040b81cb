#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Guests that stay up for several commands. A command behaves as in a guest of its own, finds nothing of earlier
# ones, and nothing is left when the guests end.
# timeout: 600
. "$(dirname -- "$0")/lib.sh"
mkdir "$work/here" "$work/there" && cd "$work/here" || exit 1
pool=$work
in_pool() { "$run" --in "$pool" "$@"; }
# The process id of the keeper, which starts the guests: the parent of QEMU.
keeper() {
    for one in /proc/[0-9]*; do
        { tr '\0' ' ' <"$one/cmdline"; } 2>/dev/null | grep -q -- "--pool $pool " &&
            echo "${one#/proc/}"
    done
}
alive_keeper() { [ -n "$(keeper)" ]; }
gone() { wait_for 20 eval '! alive_keeper' && wait_for 20 eval '! alive $qemu'; }
trap '"$run" --end "$pool" 2>/dev/null; rm -rf "$work"' EXIT

expect "no guests yet" 125 "$(status in_pool -- true)"
"$run" --pool "$pool" --guests 1 --rw ../there || fail "cannot start: $?"
expect "guests of this name are there" 125 "$(status "$run" --pool "$pool")"

boot=$(in_pool -- cat /proc/sys/kernel/random/boot_id)
expect "one boot" "$boot" "$(in_pool -- cat /proc/sys/kernel/random/boot_id)"
expect "the command's own status" 7 "$(status in_pool -- sh -c 'exit 7')"
expect "ended by a signal" 137 "$(status in_pool -- sh -c 'kill -9 $$')"
expect "not found" 127 "$(status in_pool -- no-such-command)"
expect "not executable" 126 "$(status in_pool -- /etc/passwd)"
expect "a bad option" 2 "$(status in_pool --cpus 3 -- true)"
expect "streams" "out:1
err:2" "$(in_pool -- sh -c 'echo out:1; echo err:2 >&2' 2>err </dev/null && cat err)"
expect "directory and environment" "$PWD 'x y' 1" \
    "$(OTHER_TEST="'x y'" in_pool -- sh -c 'echo "$PWD $OTHER_TEST $PCTCTL_GUEST"')"
in_pool -- sh -c 'echo one >file && echo two >../there/file' || fail "sharing"
expect "written here and there" "one two" "$(cat file ../there/file | xargs)"

# No command gets bytes of another: stdin that was not read, output that nobody takes, output of leftover processes.
head -c 3000000 /dev/zero | tr '\0' x | in_pool -- head -c 1 >/dev/null
expect "stdin is the command's own" "" "$(in_pool -- cat </dev/null)"
{
    in_pool -- yes
    echo $? >status
} | head -n 1 >/dev/null
expect "a reader that goes away" 141 "$(cat status)"
expect "a noisy process left behind" 0 "$(in_pool -- sh -c 'yes & exit 0' >/dev/null; echo $?)"
head -c 5000000 /dev/urandom >bytes
in_pool -- cat <bytes >copy && cmp bytes copy || fail "5 MB through the guest are not the same"
echo "ok: 5 MB in and out, after all that"

# What a command leaves behind.
in_pool -- sh -c '
    set -e
    for place in /tmp /dev/shm /run /etc /var/tmp; do echo x >$place/pctctl-left; done
    mkdir -p /sys/fs/cgroup/left/deeper
    sleep 1000 &
    echo $! >/sys/fs/cgroup/left/deeper/cgroup.procs
    echo 1 >/sys/fs/cgroup/left/cgroup.freeze
    setsid sleep 1000 &
    echo -pids >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null || true
    hostname left
    mkfifo /tmp/pctctl-fifo
    (trap "" TERM HUP INT; while :; do sleep 0.01; done) &' || fail "leaving: $?"
expect "is gone" "0 0 pctctl-vm pids" "$(in_pool -- sh -c '
    ls -d /tmp/pctctl-* /dev/shm/* /run/pctctl* /etc/pctctl* /var/tmp/pctctl* /sys/fs/cgroup/left 2>/dev/null | wc -l
    ps ax | grep -c "[s]leep"
    hostname
    grep -ow pids /sys/fs/cgroup/cgroup.subtree_control' | xargs)"
expect "in the same boot" "$boot" "$(in_pool -- cat /proc/sys/kernel/random/boot_id)"
now=$(date +%s)
late=$(($(in_pool -- date +%s) - now))
[ $late -ge 0 ] && [ $late -le 30 ] || fail "the clock: $late s"
echo "ok: the clock"

# A command that cannot be ended ends its guest, whose state is unknown then. The next one gets a new guest.
expect "--timeout" 124 "$(status in_pool --timeout 3 -- sleep 1000)"
second=$(in_pool -- cat /proc/sys/kernel/random/boot_id)
[ "$second" != "$boot" ] || fail "the guest of a command that has not ended is still used"
"$run" --in "$pool" -- sh -c 'touch started; exec sleep 1000' &
pid=$!
wait_for 60 test -e started || fail "the command does not start"
qemu=$(children "$(keeper)")
kill -KILL $pid
wait $pid 2>/dev/null
wait_for 20 eval '! alive $qemu' || fail "killed, but the command lives on"
echo "ok: SIGKILL of a command's vm/run"
rm started
"$run" --in "$pool" -- sh -c 'trap "echo caught; exit 9" INT; touch started; while :; do sleep 0.1; done' >out &
pid=$!
wait_for 60 test -e started || fail "the command does not start"
kill -INT $pid
wait $pid
expect "a handler" "9 caught" "$? $(cat out)"
"$run" --in "$pool" -- sh -c 'echo c >/proc/sysrq-trigger' 2>message
expect "a guest that panics" 125 $?
expect "is replaced" 0 "$(status in_pool -- true)"

# There is one guest: the second command waits, and each gets its own output.
"$run" --in "$pool" -- sh -c 'sleep 1; echo first' >out1 &
pid=$!
expect "two at the same time" second "$(in_pool -- echo second)"
wait $pid
expect "the other one" first "$(cat out1)"

# All ways in which a guest can end.
qemu=$(children "$(keeper)")
"$run" --end "$pool" || fail "--end: $?"
! alive_keeper && ! alive "$qemu" || fail "--end has ended before the guests"
echo "ok: --end"
expect "there are none to end" 125 "$(status "$run" --end "$pool")"

"$run" --pool "$pool" --guests 2 --idle 3 && in_pool -- true || fail "again: $?"
qemu=$(children "$(keeper)")
gone || fail "idle guests stay"
echo "ok: --idle"

"$run" --pool "$pool" && in_pool -- true || fail "again: $?"
qemu=$(children "$(keeper)")
kill -KILL "$(keeper)"
gone || fail "guests outlive their keeper"
echo "ok: SIGKILL of the keeper"

sh -c '"$1" --pool "$2" --with-parent && "$1" --in "$2" -- true && touch begun && exec sleep 1000' sh "$run" "$pool" &
pid=$!
wait_for 100 test -e begun || fail "again"
qemu=$(children "$(keeper)")
kill -KILL $pid
gone || fail "guests outlive the process they belong to"
echo "ok: --with-parent"
