#!/usr/bin/env bash
# A removed device and the carrier fork a circle: a device that sees only the statements of the removed one follows it; from the first file of
# another member on, it reports the fork and writes nothing under the removed device's key (Models/circle.pml, property 3).
set -u
. Tests/Scripts/lib/command-line.sh
folder=$TMPDIR/shared
fork=$TMPDIR/fork
device() { export VAUBAN_HOME=$TMPDIR/$1; }
own() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" </dev/null; }
with() { expect_status 0 setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 3<<<"$passcode" </dev/null; }
item() { printf '{"service":"bank","account":"%s","secret":"%s","synchronizable":true}' "$1" "$2" | vauban add --json - 2>/dev/null || fail 'add failed'; }
join() {
    device "$1"; new_keychain; set_passcode; own 0 sync join "$folder" --name "$1"
    device desk; own 0 sync approve
    device "$1"; own 0 sync join "$folder"; code=$(cat "$TMPDIR/out")
    device desk; with sync approve "$code"; code=$(cat "$TMPDIR/out")
    device "$1"; with sync join "$folder" "$code"
}
trap 'for home in desk laptop phone thief; do VAUBAN_HOME=$TMPDIR/$home vauban stop; done >/dev/null 2>&1' EXIT
device desk; new_keychain; set_passcode; own 0 sync new "$folder" --name desk
for name in laptop phone thief; do join $name; done
for name in desk laptop; do device $name; own 0 sync; done
device desk; item anna 'before'; own 0 sync
device laptop; own 0 sync
cp -a "$folder" "$fork"

# The desk removes the thief, in the folder. The thief removes the phone, in a copy of the folder: a key of the same epoch.
device desk; with sync remove thief; item bert 'after the removal'; own 0 sync
device thief; own 0 sync --folder "$fork"; with sync remove phone
statements() { ls "$1/circle" | wc -l; }
[ "$(statements "$folder")" = "$(statements "$fork")" ] || fail 'the fork is not as long as the circle'
cmp -s "$folder/circle/00000005" "$fork/circle/00000005" && fail 'there is no fork'

# The laptop sees only the fork, and cannot detect it.
device laptop; own 0 sync --folder "$fork"
vauban sync status >"$TMPDIR/out" && ! grep -q phone "$TMPDIR/out" || fail 'the laptop does not follow the fork'
item carl 'in the fork'; own 0 sync
count() { find "$fork/devices" -type f | wc -l; }
# Now it sees what the desk wrote after the removal: each run reports the fork, and nothing more is written.
cp -an "$folder/devices/." "$fork/devices/"
files=$(count)
item dora 'not for the thief'
for run in 1 2; do
    own 1 sync
    expect_text 'has another key than this device knows: the circle was forked' "$TMPDIR/err"
done
[ "$(count)" = "$files" ] || fail 'the laptop wrote for the removed device'
expect_status 44 vauban get bank/bert
# The desk sees the laptop's file of the fork, and does the same.
device desk; cp -an "$fork/devices/." "$folder/devices/"
files=$(find "$folder/devices" -type f | wc -l)
item emil 'waits'
own 1 sync
expect_text 'the circle was forked' "$TMPDIR/err"
[ "$(find "$folder/devices" -type f | wc -l)" = "$files" ] || fail 'the desk wrote after it had seen the fork'
echo 'a fork of the circle is noticed by the first file of the other branch, and nothing more is written'
