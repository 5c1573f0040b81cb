# SPDX-License-Identifier: GPL-2.0-only
# library
# Helpers of the tests that look at the VM from outside, to be sourced. Sets $work, an empty directory that is
# removed at the end, and $run, the absolute path of vm/run.
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

# share_a_guest: from here on $run executes all commands in one guest, which ends with this script. It shares
# the current directory.
share_a_guest() {
    "$run" --pool "$work" --guests 1 --with-parent || fail "no guest: $?"
    printf '#!/bin/sh\nexec "%s" --in "%s" "$@"\n' "$run" "$work" >"$work/in-guest"
    chmod +x "$work/in-guest"
    run=$work/in-guest
}

# status COMMAND...: its exit status
status() {
    "$@" >/dev/null 2>&1 </dev/null
    echo $?
}

# another_user PART...: prepares commands of another user. Sets $as_user, a prefix that executes a command as that
# user, its $uid and $gid, and $parts, a copy of vm/ and these parts of build/ (the checkout may be in a directory
# that others cannot enter). Without root it is the present user and the checkout. The user owns $work/here.
another_user() {
    uid=$(id -u) gid=$(id -g)
    as_user=
    parts=$root
    mkdir -p "$work/here"
    [ "$uid" = 0 ] || return 0
    uid=54321 gid=54322
    as_user="setpriv --reuid $uid --regid $gid --clear-groups --no-new-privs"
    parts=$work/parts
    deps=${PCTCTL_DEPS:-$root/.deps}
    mkdir -p "$parts/build" "$parts/.deps" && cp -R "$root/vm" "$parts/vm" || fail "copying"
    for part in "$@"; do
        cp -R "$root/build/$part" "$parts/build/$part" || fail "copying"
    done
    for part in kernel qemu; do
        [ ! -e "$deps/$part" ] || cp -R "$deps/$part" "$parts/.deps/$part" || fail "copying"
    done
    chmod -R go+rX "$work"
    chown "$uid:$gid" "$work/here"
    unset PCTCTL_DEPS
}

# children PID: the process ids of its children, without zombies
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

alive() { # alive PID: it exists and is not a zombie
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
