#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Changes in the current directory and in each --rw DIR reach the host. All others are thrown away.
# timeout: 400
. "$(dirname -- "$0")/lib.sh"
mkdir "$work/here" "$work/there" "$work/else" && cd "$work/here" || exit 1

"$run" --rw ../there -- sh -c '
    set -e
    echo one >file
    mkdir -p deep/er && mv file deep/er/moved
    ln -s deep link
    mkfifo fifo
    (echo through >fifo &) && read -r line <fifo && test "$line" = through
    echo two >'"$work"'/there/file
    echo three >'"$work"'/else/file
    test "$(cat '"$work"'/else/file)" = three
    echo four >/etc/pctctl-test' || fail "the commands in the VM: $?"
expect "written in the current directory" one "$(cat link/er/moved)"
expect "written in --rw" two "$(cat ../there/file)"
expect "written elsewhere" "" "$(ls ../else)"
[ ! -e /etc/pctctl-test ] || fail "/etc was written to"
echo "ok: this machine's /etc is as it was"

# What a process has written is there even if it is killed before it closes the file.
"$run" -- sh -c 'exec 3>late; echo late >&3; kill -9 $$'
expect "written without closing" late "$(cat late)"

if command -v cc >/dev/null; then
    cat >shared.c <<'EOF'
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    int fd = open("mapped", O_RDWR | O_CREAT, 0644);
    if (ftruncate(fd, 4096))
        return 1;
    volatile int* here = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (here == MAP_FAILED)
        return 2;
    if (!fork()) {
        volatile int* there = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                                   open("mapped", O_RDWR), 0);
        *there = 42;
        _exit(0);
    }
    wait(NULL);
    return *here == 42 ? 0 : 3;
}
EOF
    cc -o shared shared.c || fail "cc"
    expect "two processes map one file" 0 "$(status "$run" -- ./shared)"
    expect "what they wrote is in the file" 42 "$(od -A n -t d4 -N 4 mapped | tr -d ' ')"
fi

# The clocks agree: a file made in the VM is neither from the future nor old.
touch before
"$run" -- sh -c 'touch made; date +%s%N >guest' || fail "touch"
touch after
[ "$(find made -newer before)" = made ] && [ "$(find after -newer made)" = after ] || fail "time stamps: $(ls -l --full-time before made after)"
echo "ok: time stamps"

# / itself is never shared.
(cd / && "$run" -- sh -c 'echo >/pctctl-test') || fail "in /"
[ ! -e /pctctl-test ] || fail "/ was written to"
echo "ok: / is not shared"
