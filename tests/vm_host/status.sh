#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The exit status is that of the command. Failures of the VM itself have statuses of their own.
# timeout: 400
. "$(dirname -- "$0")/lib.sh"
cd "$work" || exit 1

expect "the command's own status" 7 "$(status "$run" -- sh -c 'exit 7')"
expect "ended by a signal" 137 "$(status "$run" -- sh -c 'kill -9 $$')"
expect "not found" 127 "$(status "$run" -- no-such-command)"
expect "not executable" 126 "$(status "$run" -- /etc/passwd)"
expect "--timeout" 124 "$(status "$run" --timeout 10 -- sleep 1000)"
expect "an unknown option" 2 "$(status "$run" --bogus 1 -- true)"
expect "a bad value" 2 "$(status "$run" --cpus 0 -- true)"
expect "a bad size" 2 "$(status "$run" --memory 12X -- true)"
expect "no such directory" 2 "$(status "$run" --rw "$work/none" -- true)"
expect "no command" 2 "$(status "$run")"
"$run" -- sh -c 'echo c >/proc/sysrq-trigger' 2>message
expect "a guest that panics" 125 $?
expect "one line tells why" 1 "$(wc -l <message)"
grep -q 'Kernel panic' message || fail "the message does not name the panic: $(cat message)"

mkdir empty
expect "no kernel" 125 "$(status "$root/build/vm/launch" --init "$root/build/vm/init" \
    --kernel "$work/empty" -- true)"
