#!/usr/bin/env bash
# A new device joins a circle by its recovery key and the folder alone, without another device: once, with the approval of its user, and
# reported on all others. Another key, one that was replaced, removed or used, and an altered folder are refused.
# proves: C-219
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
# make MEMBER: makes a new recovery key there, and sets $key to it.
make() { device "$1"; with 0 sync recovery --make; key=$(cat "$TMPDIR/out"); is_key "$key" || fail "no recovery key was printed: $key"; }
# recover STATUS DEVICE KEY [NAME]: joins by the key, with the passcode.
recover() {
    device "$2"
    expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" sync join "$folder" --name "${4:-$2}" --recovery-key-fd 4 --passcode-fd 3 3<<<"$passcode" 4<<<"$3" </dev/null
}

set_passcode
own 64 sync recovery --make
own 0 sync new "$folder" --name desk
item bank anna 'of the desk'
own 0 sync
new_device laptop; join laptop keychain
new_device pi; join pi keychain --companion --item bank/anna
sync laptop

# A recovery key requires the user's approval, is shown once, and is stored nowhere.
device keychain
own 64 sync recovery
own 64 sync recovery --make --remove
own 36 sync recovery --make
own 64 sync recovery --remove; text 'The circle has no recovery key'
device pi; own 51 sync recovery --make
make keychain; first=$key
text 'This is the recovery key of the circle.'
for home in keychain laptop; do device $home; not_kept "$first"; done
grep -raqF "${first//-/}" "$folder" && fail 'the recovery key is in the folder'
device keychain; own 0 sync status; grep -q 'The circle has a recovery key' "$TMPDIR/out" || fail 'status does not report the recovery key'
own 0 sync status --json
for line in '"state" : "member"' '"recoveryKey" : true' '"name" : "laptop"' '"thisDevice" : true' '"namesWithoutItem" : 0'; do expect_text "$line" "$TMPDIR/out"; done
sync laptop; text 'The circle has a recovery key now.'
sync pi
printf 'of the laptop' | { device laptop; vauban set bank/anna --replace; }; sync laptop; sync keychain

# A new device, without the others: another key, a mistyped key, and a missing approval are refused.
for home in keychain laptop pi; do device $home; vauban stop >/dev/null 2>&1; done
new_device new
other=$(sed 's/^......-/000000-/' <<<"$first"); [ "$other" != "$first" ] || other=$(sed 's/^......-/000011-/' <<<"$first")
recover 64 new "$other"; text 'No circle in the folder has this recovery key'
recover 64 new "${first%?}x"; text 'contains only digits'
expect_status 36 setsid --wait "$VAUBAN_BUILD/vauban" sync join "$folder" --recovery-key-fd 4 4<<<"$first" </dev/null
own 36 sync join "$folder" --recovery-key
own 64 sync join "$folder" '123 456' --recovery-key
own 64 sync
mkdir "$TMPDIR/empty"; expect_status 64 setsid --wait "$VAUBAN_BUILD/vauban" sync join "$TMPDIR/empty" --recovery-key-fd 4 4<<<"$first" </dev/null
# A file that the carrier adds beside the statements does not prevent joining; an altered statement does.
cp -a "$folder" "$TMPDIR/good"
again() { rm -rf "$folder"; cp -a "$TMPDIR/good" "$folder"; }
last=$folder/circle/$(ls "$folder/circle" | tail -1)
printf "$(printf '\\%03o' $(($(od -An -tu1 -j 900 -N 1 "$last") ^ 1)))" | dd of="$last" bs=1 seek=900 conv=notrunc 2>/dev/null
recover 64 new "$first"; text 'No circle in the folder has this recovery key'; again
head -c 2000 /dev/urandom >"$folder/circle/00000009"
recover 0 new "$first"
text 'Joined by the recovery key, which is void now. This device shares synchronizable items with 2 devices.'
text '2 changes received'
rm "$folder/circle/00000009"
has new bank/anna 'of the laptop'
not_kept "$first"
item bank bert 'of the new device'; sync new; text '1 sent.'
own 0 sync status
grep -q 'Device   new .*(this device)  joined by a recovery key' "$TMPDIR/out" || fail 'status does not name the device that joined by the recovery key'
grep -q 'has a recovery key' "$TMPDIR/out" && fail 'status lists a recovery key that was used'

# The others report the new device, follow, and continue reading; so does the companion.
for home in keychain laptop pi; do device $home; unlock; done
for home in keychain laptop; do sync $home; text 'new joined the circle by the recovery key, which is void now.'; has $home bank/bert 'of the new device'; done
own 0 sync status; grep -q 'Device   new .*joined by a recovery key' "$TMPDIR/out" || fail 'the status of a member does not name the device that joined by the recovery key'
sync pi; lacks pi bank/bert
printf 'after it' | { device new; vauban set bank/anna --replace; }; sync new; sync keychain; sync pi; has pi bank/anna 'after it'

# A key that could not be shown replaces none, at no later run either.
make new; statements=$(ls "$folder/circle"); saved=$key
setsid --wait "$VAUBAN_BUILD/vauban" sync recovery --make --passcode-fd 3 3<<<"$passcode" </dev/null >/dev/full 2>"$TMPDIR/err" && \
    fail 'a key that could not be shown was made'
text 'could not be shown'
for home in new keychain laptop; do sync $home; done
[ "$(ls "$folder/circle")" = "$statements" ] || fail 'the folder has the statement of a key that nobody has seen'
new_device saved; recover 0 saved "$saved"; own 0 sync leave; sync new; with 0 sync remove saved

# If the folder is full, the key is shown all the same: it replaces the earlier one as soon as there is room.
make new; earlier=$key
(trap '' XFSZ; ulimit -f 1; setsid --wait "$VAUBAN_BUILD/vauban" sync recovery --make --passcode-fd 3 3<<<"$passcode" \
    </dev/null >"$TMPDIR/out" 2>"$TMPDIR/err" && fail 'a statement was written beyond the limit'; exit 0) || exit 1
late=$(cat "$TMPDIR/out"); is_key "$late" || fail "the recovery key was not shown: $late"
text 'keep an earlier one until then'
grep -q 'This is the recovery key of the circle' "$TMPDIR/err" && fail 'the key is said to be in the folder'
new_device late; cp -a "$folder" "$TMPDIR/before-late"
recover 64 late "$late"; text 'No circle in the folder has this recovery key'
sync new; recover 51 late "$earlier"; text 'another was made in its place'
recover 0 late "$late"; own 0 sync leave; sync new; with 0 sync remove late

# On a terminal, the statement is in the folder while the key is shown, since another device may change the circle meanwhile.
sync keychain; sync laptop; sync new
next=$folder/circle/$(printf %08d $((10#$(ls "$folder/circle" | tail -1) + 1)))
cat >"$TMPDIR/play" <<PLAY
expect asscode
secret $passcode
expect shown only once
expect Press Return
run until [ -e '$next' ]; do :; done
key enter
expect This is the recovery key of the circle
PLAY
"$VAUBAN_BUILD/pty-play" -- "$VAUBAN_BUILD/vauban" sync recovery --make <"$TMPDIR/play" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'no key was shown'; }

# A recovery key that was used, replaced or removed is refused.
new_device second
recover 51 second "$first"; text 'was used already'
make new; replaced=$key; make new
sync keychain; text 'The circle has a recovery key now.'
recover 51 second "$replaced"; text 'another was made in its place'
device new; own 36 sync recovery --remove; with 0 sync recovery --remove
recover 51 second "$key"
sync laptop; sync keychain; text 'The recovery key of the circle was removed.'
device second; own 64 sync; text 'This device is in no circle'

# A run that was killed after the enclave had joined and before the statement was in the folder.
make laptop; cp -a "$folder" "$TMPDIR/before"
recover 0 second "$key"
sync second; last=$(ls "$folder/circle" | tail -1)
rm "$folder/circle/$last"; sync second; [ -e "$folder/circle/$last" ] || fail 'the statement was not written to the folder again'
sync keychain; text 'second joined the circle by the recovery key'; sync laptop; has second bank/bert 'of the new device'
# Of two devices the second finds the key used. On an earlier copy of the folder it joins a circle that the others do not follow.
new_device third
recover 51 third "$key"; text 'was used already'
mv "$folder" "$TMPDIR/current"; cp -a "$TMPDIR/before" "$folder"
recover 0 third "$key"
rm -rf "$folder"; mv "$TMPDIR/current" "$folder"
sync third 64; text 'an earlier state or altered'
own 0 sync leave

# Removing a device still works, and the message says when a new recovery key is needed.
make keychain; with 0 sync remove second; text 'If somebody else has it now, make another recovery key too'
sync new; sync laptop
printf 'not for the second' | { device new; vauban set bank/anna --replace; }; sync new
sync second 51; has second bank/anna 'after it'
recover 0 third "$key"; has third bank/anna 'not for the second'
echo 'a new device joins by the recovery key once, all others report it, and a key that was used, replaced or removed is refused'
