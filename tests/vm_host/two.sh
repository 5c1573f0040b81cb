#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two virtual machines at the same time, started from one directory, do not disturb each other.
# timeout: 400
. "$(dirname -- "$0")/lib.sh"
cd "$work" || exit 1

"$run" -- sh -c 'echo first >one; sleep 2; cat; exit 11' </etc/hostname >out1 2>&1 &
first=$!
"$run" -- sh -c 'echo second >two; sleep 2; echo else; exit 12' >out2 2>&1 &
second=$!
wait $first
expect "status of the first" 11 $?
wait $second
expect "status of the second" 12 $?
expect "output of the first" "$(cat /etc/hostname)" "$(cat out1)"
expect "output of the second" else "$(cat out2)"
expect "files of both" "first second" "$(cat one) $(cat two)"
