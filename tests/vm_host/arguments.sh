#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The command may have any bytes and any length; it starts in the same directory.
# timeout: 400
. "$(dirname -- "$0")/lib.sh"
mkdir "$work/a b, c" && cd "$work/a b, c" || exit 1

expect "the directory, with spaces and a comma" "$PWD" "$("$run" -- pwd)"
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
unset" "$(PCTCTL_TEST='from here' OTHER_TEST=x "$run" -- \
    sh -c 'echo "$PCTCTL_TEST"; echo "${OTHER_TEST-unset}"')"
