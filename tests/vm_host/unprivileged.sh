#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A user without privileges can use the VM as well, with a copy of the files that it needs.
# timeout: 400
. "$(dirname -- "$0")/lib.sh"

another_user vm
cd "$work/here" || exit 1

in_vm() { # a script in the VM, started by the user
    # shellcheck disable=SC2086
    HOME=$work/here $as_user "$parts/vm/run" -- sh -c "$1"
}
expect "root inside, and told on whose behalf" "0 $uid $gid" \
    "$(in_vm 'echo $(id -u) $PCTCTL_GUEST_UID $PCTCTL_GUEST_GID')"
in_vm 'echo mine >file' || fail "writing"
expect "files belong to the user" "$uid:$gid mine" "$(stat -c %u:%g file) $(cat file)"

if [ -n "$as_user" ]; then
    mkdir -m 700 "$work/secret"
    echo secret >"$work/secret/file"
    expect "what the user cannot read stays unreadable" no \
        "$(in_vm "cat $work/secret/file 2>/dev/null || echo no")"
fi
