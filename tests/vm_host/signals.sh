#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Signals reach the command. Ctrl-C ends everything. However it ends, nothing is left.
# timeout: 400
. "$(dirname -- "$0")/lib.sh"
cd "$work" || exit 1
mkdir tmp
export TMPDIR="$work/tmp"

begin() { # begin COMMAND...: starts it in the background, waits until it runs; sets $pid, $qemu
    rm -f started
    "$run" -- "$@" >out 2>err </dev/null &
    pid=$!
    wait_for 150 test -e started || fail "the command does not start: $(cat err)"
    qemu=$(children $pid)
    [ -n "$qemu" ] || fail "no QEMU below $pid"
}
end() { # end WHAT STATUS SECONDS: it must end in that time with that status and leave nothing
    before=$(date +%s)
    wait $pid
    expect "$1" "$2" $?
    took=$(($(date +%s) - before))
    [ $took -le "$3" ] || fail "$1: took $took s"
    wait_for 20 eval '! alive $qemu' || fail "$1: QEMU is left"
    expect "$1: no file left" "" "$(ls -A tmp)"
}

# The time limits below are for busy machines. The grace period is long, so that a command that ends has reacted
# to the signal: it was not killed at the end of the period.
export PCTCTL_VM_GRACE=300
for signal in INT HUP; do
    begin sh -c 'touch started; exec sleep 1000'
    kill -$signal $pid
    case $signal in INT) n=130 ;; HUP) n=129 ;; esac
    end "SIG$signal" "$n" 60
done

begin sh -c 'trap "echo caught; exit 9" INT; touch started; while :; do sleep 0.1; done'
kill -INT $pid
end "a handler" 9 60
expect "what the handler said" caught "$(cat out)"

begin sh -c 'trap "echo usr1; exit 8" USR1; touch started; while :; do sleep 0.1; done'
kill -USR1 $pid
end "SIGUSR1" 8 60

export PCTCTL_VM_GRACE=1
begin sh -c 'trap "" INT TERM; touch started; while :; do sleep 0.1; done'
kill -TERM $pid
end "a command that ignores it" 143 30
export PCTCTL_VM_GRACE=300

begin sh -c 'trap "" INT TERM; touch started; while :; do sleep 0.1; done'
kill -INT $pid
sleep 0.5
kill -INT $pid
end "asked twice" 130 30

begin sh -c 'touch started; exec sleep 1000'
kill -KILL $pid
end "SIGKILL of the launcher" 137 30

begin sh -c 'touch started; exec sleep 1000'
kill -KILL "$qemu"
end "SIGKILL of QEMU" 125 30
expect "one line tells so" 1 "$(wc -l <err)"

"$run" -- sleep 1000 >out 2>err </dev/null & # before it has booted
pid=$!
wait_for 60 eval 'qemu=$(children $pid); [ -n "$qemu" ]' || fail "no QEMU"
kill -INT $pid
end "while it boots" 130 30
