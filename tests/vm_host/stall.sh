#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The host stops the virtual machine again and again. Its clock goes on, but nothing executes. That must not look
# like a thread that spins, and must not change the order of a run.
# timeout: 400
. "$(dirname -- "$0")/lib.sh"
cd "$work" || exit 1

"$run" -- "$root/build/pctctl" replay --seed 000000305eed5eed5eed5eed --depth 3 --times 80 \
    --json report -- "$root/build/zoo/healthy_spawn_threads" >out 2>&1 </dev/null &
vm=$!
started() { [ -n "$(children $vm)" ]; }
wait_for 20 started || fail "there is no emulator"
stops=0
while alive $vm; do
    # shellcheck disable=SC2046
    kill -STOP $(children $vm) 2>/dev/null && stops=$((stops + 1))
    sleep 0.7
    # shellcheck disable=SC2046
    kill -CONT $(children $vm) 2>/dev/null
    sleep 0.5
done
wait $vm
ended=$?
[ $ended -eq 0 ] || cat out
expect "status" 0 $ended
[ $stops -ge 20 ] || fail "stopped $stops times only"
expect "runs" 80 "$(grep -c '"order_hash"' report)"
expect "orders" 1 "$(grep '"order_hash"' report | sort -u | grep -c .)"
expect "interventions" 0 "$(sed -n 's/^  "interventions": *\([0-9]*\).*/\1/p' report)"
