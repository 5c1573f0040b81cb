#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Which kernel setup/deps takes for the guest, of made-up lists of packages.
set -u
here=$(cd -- "$(dirname -- "$0")/../.." && pwd)

# check WHAT SERIES EXPECTED WORDS-ON-STDERR NAME...
check() {
    what=$1 series=$2 expected=$3 words=$4
    shift 4
    said=$(mktemp)
    actual=$(printf '%s\n' "$@" | "$here/setup/choose-kernel" "$series" 2>"$said") || actual="status $?"
    if [ "$actual" != "$expected" ]; then
        echo "FAILED: $what: expected $expected, got $actual"
        exit 1
    fi
    if [ "$words" = - ] && [ -s "$said" ]; then
        echo "FAILED: $what: said $(cat "$said")"
        exit 1
    fi
    if [ "$words" != - ] && ! { grep -q -- "$words" "$said" && [ "$(wc -l <"$said")" = 1 ]; }; then
        echo "FAILED: $what: said '$(cat "$said")' instead of one line with '$words'"
        exit 1
    fi
    rm -f "$said"
    echo "ok: $what"
}

others="linux-image-amd64 linux-image-cloud-amd64 linux-image-7.3.9+deb13-cloud-amd64
    linux-image-7.3.9+deb13-rt-amd64 linux-image-7.3.9+deb13-amd64-dbg linux-image-7.3.9+deb13-amd64-unsigned
    linux-image-7.9~rc3-amd64 linux-headers-7.3.9+deb13-amd64 linux-image-7.3.9+deb13-arm64"
# shellcheck disable=SC2086  # a list of words
{
    check "the only one" 7.3 linux-image-7.3.4+deb13-amd64 - linux-image-7.3.4+deb13-amd64 $others
    check "the newest of the series, by number" 7.3 linux-image-7.3.10+deb13-amd64 - \
        linux-image-7.3.9+deb13-amd64 linux-image-7.3.10+deb13-amd64 linux-image-7.3.4+deb13-amd64 $others
    check "the series, though there are newer ones" 7.3 linux-image-7.3.4+deb13-amd64 - \
        linux-image-7.4.1+deb13-amd64 linux-image-7.3.4+deb13-amd64 linux-image-8.0.1+deb13-amd64 $others
    check "7.3 is not 7.30" 7.3 linux-image-7.3.4+deb13-amd64 - \
        linux-image-7.30.1+deb13-amd64 linux-image-7.3.4+deb13-amd64
    check "the dot is one" 7.3 linux-image-7.4.2+deb13-amd64 "no kernel 7.3 .*taking 7.4.2+deb13-amd64" \
        linux-image-7.4.2+deb13-amd64 linux-image-7.2.13+deb13-amd64 $others
    check "only older ones" 7.3 linux-image-6.12.48+deb13-amd64 "no kernel 7.3 " \
        linux-image-6.12.48+deb13-amd64 linux-image-6.1.0-13-amd64
    check "names of other times" 6.1 linux-image-6.1.0-13-amd64 - \
        linux-image-6.1.0-9-amd64 linux-image-6.1.0-13-amd64 linux-image-6.12.48+deb13-amd64
    check "the first of a series" 7.4 linux-image-7.4+deb14-amd64 - linux-image-7.4+deb14-amd64 \
        linux-image-7.3.4+deb13-amd64
    check "the newest of all" newest linux-image-7.10.1+deb13-amd64 - \
        linux-image-7.10.1+deb13-amd64 linux-image-7.9.3+deb13-amd64 $others
    check "none" 7.3 "status 3" "no kernel image" $others
}
