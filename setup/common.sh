# SPDX-License-Identifier: GPL-2.0-only
# Shared by the set-up scripts: where things are and how to fail in one line.
# shellcheck shell=sh disable=SC2034

root=$(cd -- "$(dirname -- "$0")/.." && pwd)
deps=${PCTCTL_DEPS:-$root/.deps}
PATH=$PATH:/usr/sbin:/sbin

die() { # exit 3: this machine cannot do it as it is
    echo "$(basename -- "$0"): $*" >&2
    exit 3
}

say() { echo "$(basename -- "$0"): $*" >&2; }

# version_ge A B: is A >= B ?
version_ge() { dpkg --compare-versions "$1" ge "$2"; }
