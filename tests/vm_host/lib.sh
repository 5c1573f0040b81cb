# SPDX-License-Identifier: GPL-2.0-only
# library
# Helpers of the tests that look at the VM from outside. Sourced; leaves $work, an empty directory
# that is removed at the end, and $run, the absolute path of vm/run.
# shellcheck shell=sh disable=SC2034

set -u
root=$(cd -- "$(dirname -- "$0")/../.." && pwd -P)
run=$root/vm/run
work=$(mktemp -d "${TMPDIR:-/tmp}/host-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# expect WHAT EXPECTED ACTUAL
expect() {
    [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
    echo "ok: $1"
}

# status COMMAND...: its exit status
status() {
    "$@" >/dev/null 2>&1 </dev/null
    echo $?
}

# children PID: process ids, defunct ones left out
children() {
    for stat in /proc/[0-9]*/stat; do
        # pid (name) state ppid: the name may hold anything but is followed by the last ")"
        line=$(cat "$stat" 2>/dev/null) || continue
        rest=${line##*) }
        state=${rest%% *}
        parent=${rest#* }
        parent=${parent%% *}
        [ "$parent" = "$1" ] && [ "$state" != Z ] && echo "${line%% *}"
    done
}

alive() { # alive PID: exists and is no zombie
    line=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    rest=${line##*) }
    [ "${rest%% *}" != Z ]
}

# wait_for SECONDS COMMAND...
wait_for() {
    tries=$(($1 * 10))
    shift
    while ! "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.1
    done
}
