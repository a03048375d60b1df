#!/usr/bin/env bash
# Forty concurrent commands that store the same new item all succeed, and one of their secrets is stored.
set -u
. Tests/Scripts/lib/command-line.sh
# in_time: whether the service started and replied in time for each of the forty. Each of them starts it at first, so on a busy machine that
# halts meanwhile the time may be over; then the round proved nothing, and the next one begins with another keychain.
in_time() { ! grep -qE 'did not answer in time|Connection timed out' "$TMPDIR"/out.*; }
for round in 1 2 3; do
    new_keychain
    for number in $(seq 40); do
        { printf 'of %s' "$number" | vauban set shop/anna --replace >"$TMPDIR/out.$number" 2>&1; echo $? >"$TMPDIR/status.$number"; } &
    done
    wait
    in_time || continue
    for number in $(seq 40); do
        status=$(cat "$TMPDIR/status.$number")
        [ "$status" = 0 ] || { cat "$TMPDIR/out.$number"; fail "command $number ended with $status"; }
    done
    vauban get shop/anna | grep -qx 'of [0-9]*' || fail 'the item has none of the secrets'
    # Forty concurrent deletions: one finds the item, the others do not.
    for number in $(seq 40); do { vauban delete shop/anna --yes >"$TMPDIR/out.$number" 2>&1; echo $? >"$TMPDIR/status.$number"; } & done
    wait
    in_time || continue
    [ "$(cat "$TMPDIR"/status.* | sort | uniq -c | tr -s ' \n' ' ')" = ' 1 0 39 44 ' ] ||
        { cat "$TMPDIR"/status.* "$TMPDIR"/out.* | sort | uniq -c; fail 'not exactly one deletion succeeded'; }
    echo 'forty concurrent commands on one item end as they should'
    exit 0
done
cat "$TMPDIR"/out.* | sort | uniq -c
fail 'in no round of three did every command get its reply in time'
