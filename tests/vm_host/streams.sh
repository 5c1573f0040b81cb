#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Standard streams carry any bytes, in any number, and end of file reaches the other side.
# timeout: 400
. "$(dirname -- "$0")/lib.sh"
cd "$work" || exit 1

head -c 20000000 /dev/urandom >bytes
"$run" -- cat <bytes >copy || fail "cat: $?"
cmp bytes copy || fail "20 MB through the VM are not the same"
echo "ok: 20 MB in and out"

# The rest in one guest for several commands, which relays streams in the same way.
share_a_guest
expect "order and end of both streams" "out:1
err:2" "$("$run" -- sh -c 'echo out:1; echo err:2 >&2' 2>err </dev/null && cat err)"
expect "stdin closed" 0 "$("$run" -- sh -c 'cat | wc -c' <&-)"
expect "NUL and high bytes" "000 377 012 000" \
    "$(printf '\000\377\n\000' | "$run" -- cat | od -A n -t o1 | tr -s ' ' | sed 's/^ //')"

head -c 50000000 /dev/zero | "$run" -- true
expect "a command that does not read its stdin" 0 $?
expect "a command that reads a little of it" y "$(yes | "$run" -- head -n 1)"

# When the reader closes its end, the command gets SIGPIPE, as it would on this machine.
{
    "$run" -- yes
    echo $? >status
} | head -n 1 >/dev/null
expect "a reader that goes away" 141 "$(cat status)"

"$run" -- echo lost >/dev/full 2>err
expect "output that cannot be written" 125 $?
grep -q 'No space left' err || fail "no word about the full disk: $(cat err)"

# A leftover process holds the pipes open. vm/run does not wait for it.
expect "a process left behind" "done" "$("$run" -- sh -c 'sleep 1000 & echo done')"
expect "a noisy process left behind" 0 "$("$run" -- sh -c 'yes & exit 0' >/dev/null; echo $?)"
