#!/usr/bin/env bash
# Forty commands at once that keep the same new item all end well, and one of their secrets is there.
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
# As many that delete it: one finds it, the others find nothing.
for number in $(seq 40); do { vauban delete shop/anna --yes >"$TMPDIR/out.$number" 2>&1; echo $? >"$TMPDIR/status.$number"; } & done
wait
[ "$(cat "$TMPDIR"/status.* | sort | uniq -c | tr -s ' \n' ' ')" = ' 1 0 39 44 ' ] || { cat "$TMPDIR"/status.* "$TMPDIR"/out.* | sort | uniq -c; fail 'the deletions ended otherwise'; }
echo 'forty commands at once about one item all end well'
