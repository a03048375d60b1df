#!/usr/bin/env bash
# Forty concurrent commands that store the same new item all succeed, and one of their secrets is stored.
set -u
. Tests/Scripts/lib/command-line.sh
for number in $(seq 40); do
    { printf 'of %s' "$number" | vauban set shop/anna --replace >"$TMPDIR/out.$number" 2>&1; echo $? >"$TMPDIR/status.$number"; } &
done
wait
for number in $(seq 40); do
    [ "$(cat "$TMPDIR/status.$number")" = 0 ] || { cat "$TMPDIR/out.$number"; fail "command $number ended with $(cat "$TMPDIR/status.$number")"; }
done
vauban get shop/anna | grep -qx 'of [0-9]*' || fail 'the item has none of the secrets'
# Forty concurrent deletions: one finds the item, the others do not.
for number in $(seq 40); do { vauban delete shop/anna --yes >"$TMPDIR/out.$number" 2>&1; echo $? >"$TMPDIR/status.$number"; } & done
wait
[ "$(cat "$TMPDIR"/status.* | sort | uniq -c | tr -s ' \n' ' ')" = ' 1 0 39 44 ' ] || { cat "$TMPDIR"/status.* "$TMPDIR"/out.* | sort | uniq -c
    fail 'not exactly one deletion succeeded'; }
echo 'forty concurrent commands on one item end as they should'
