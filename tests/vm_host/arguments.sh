#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The command may have any bytes and any length; it starts in the same directory.
# timeout: 400
. "$(dirname -- "$0")/lib.sh"
mkdir "$work/a b, c" && cd "$work/a b, c" || exit 1

expect "the directory, with spaces and a comma" "$PWD" "$("$run" -- pwd)"
share_a_guest # for speed: arguments take the same way in every guest
newline='
'
odd=$(printf 'tab\there \303\244 \001 \377 " \\ %%s $HOME')
expect "odd bytes" "<$odd><><a${newline}b>" "$("$run" -- printf '<%s>' "$odd" "" "a${newline}b")"

long=$(head -c 100000 /dev/zero | tr '\0' x)
set --
for i in 1 2 3 4 5 6 7 8 9 10; do
    set -- "$@" "$i$long"
done
expect "a megabyte of arguments" 1000021 "$("$run" -- printf '%s\n' "$@" | wc -c)"

expect "environment" "from here
$PWD unset 1" "$(OTHER_TEST='from here' OLDPWD=/x PCTCTL_GUEST_OTHER=y "$run" -- \
    sh -c 'echo "$OTHER_TEST"; echo "$PWD ${OLDPWD-unset}${PCTCTL_GUEST_OTHER-} $PCTCTL_GUEST"')"
expect "a megabyte of environment" 1000021 "$(
    for i in 1 2 3 4 5 6 7 8 9 10; do export "LONG_$i=$i$long"; done
    "$run" -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do eval "echo \"\$LONG_$i\""; done | wc -c'
)"
