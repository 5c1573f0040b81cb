#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# KVM is tried once. When it does not work, the command runs under emulation and does not notice.
# timeout: 400
. "$(dirname -- "$0")/lib.sh"
cd "$work" || exit 1
unset PCTCTL_VM_ACCEL
export XDG_CACHE_HOME="$work/cache"

expect "ended before it has booted" 124 "$(status "$run" --timeout 0.05 -- true)"
! grep -qs kvm cache/pctctl/accel-* || fail "KVM was remembered, which nobody has seen to work"
rm -rf cache
expect "the first run, stdin included" "$(cat /etc/hostname)" "$("$run" -- cat </etc/hostname)"
if [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
    verdict=$(cat cache/pctctl/accel-*)
    case $verdict in
    kvm | tcg) echo "ok: remembered $verdict" ;;
    *) fail "remembered '$verdict'" ;;
    esac
    files=$(ls -i cache/pctctl)
    expect "the second run" 0 "$(status "$run" -- true)"
    expect "nothing learned anew" "$files" "$(ls -i cache/pctctl)"
    if [ "$verdict" = tcg ]; then
        # The host remembers wrongly that KVM works: the failure corrects that.
        echo kvm >"$(ls -d cache/pctctl/accel-*)"
        expect "a wrong memory" 0 "$(status "$run" -- true)"
        expect "is corrected" tcg "$(cat cache/pctctl/accel-*)"
    fi
else
    [ ! -e cache ] || fail "a verdict on an accelerator that cannot be opened"
    echo "ok: no KVM to be tried"
fi
rm -rf cache
expect "a wish" 0 "$(PCTCTL_VM_ACCEL=tcg status "$run" -- true)"
[ ! -e cache ] || fail "a wish was remembered"
