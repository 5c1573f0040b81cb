#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `pctctl --vm` as a user calls it: what it finds, what it leaves on this machine, as which user the program runs.
# timeout: 400
. "$(dirname -- "$0")/lib.sh"
pctctl=$root/build/pctctl
bug=$root/build/zoo/atomicity_account_bug
[ -x "$pctctl" ] && [ -x "$bug" ] || fail "no $pctctl or no $bug"

mkdir "$work/here" "$work/there" && cd "$work/here" || exit 1
"$pctctl" --vm --depth 2 --seed 2 --out ../there/out --json ../there/result.json --log ../there/log \
    -- "$bug" >said 2>&1
expect "a bug found" 1 $?
kept=$(echo ../there/out/run-*)
[ -f "$kept/run.json" ] && grep -q overdrawn "$kept/stderr" || fail "not kept: $(cat said)"
echo "ok: kept in $kept"
grep -q '"failures": *1' ../there/result.json || fail "the JSON file: $(cat ../there/result.json)"
echo "ok: the JSON file"
grep -q ' debug: run 1: pass ' ../there/log && ! grep -q 'debug: ' said || fail "the log: $(cat said ../there/log)"
echo "ok: the log"
"$pctctl" replay --vm "$kept" >said 2>&1
expect "replayed" 1 $?
grep -q '^same outcome, same order of steps as the kept run$' said || fail "another run: $(cat said)"
echo "ok: the same run"

another_user vm pctctl
# The program prints its user and its parent, and fails, so that its output is kept.
# shellcheck disable=SC2016
HOME=$work/here OTHER_TEST='from here' $as_user "$parts/build/pctctl" --vm --runs 1 -- \
    sh -c 'echo "$(id -u) $(id -g) <$OTHER_TEST> <$PCTCTL_GUEST_UID>"; exit 3' >"$work/said" 2>&1
expect "a failing script" 1 $?
expect "the program is the user, with the user's environment" "$uid $gid <from here> <>" \
    "$(cat pctctl-out/run-1/stdout)"
expect "what is kept is the user's" "$uid:$gid" "$(stat -c %u:%g pctctl-out/run-1/run.json)"
