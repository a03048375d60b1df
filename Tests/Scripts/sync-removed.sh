#!/usr/bin/env bash
# The files of removed devices and companions are removed from the folder by a member's run as soon as every member has stated that it has
# followed the removal, and not before: earlier statements do not count, and a missing one prevents it. A run that was killed is continued,
# no device reports the removed files as lost, and a device that joins later has every item.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
# identifier NAME: prints the full identifier of a member or companion.
identifier() {
    own 0 sync status
    short=$(sed -nE "s/^(Device|Companion) +$1 +([0-9a-f]*).*/\2/p" "$TMPDIR/out")
    find "$folder" -name "${short:-none}*" | sed 's|.*/||' | grep -xE '[0-9a-f]{32}' | head -1
}
# there GLOB, gone GLOB: the folder has, or lacks, a matching file.
there() { compgen -G "$folder/$1" >/dev/null || fail "$1 is missing"; }
gone() { ! compgen -G "$folder/$1" >/dev/null || fail "$1 was not removed"; }

set_passcode
own 0 sync new "$folder" --name desk; item s first one; sync keychain
for name in laptop phone tablet; do new_device $name; join $name keychain; done
for name in keychain laptop; do sync $name; done
new_device pi; join pi keychain --companion --item s/first
for name in keychain laptop phone tablet; do sync $name; done
# The phone writes for all members, and for the companion.
device phone; item s second 'of the phone'; printf 'by the phone' | vauban set s/first --replace; sync phone
vauban delete s/second --yes >/dev/null 2>&1; item s third 'of the phone too'; sync phone
sync pi; has pi s/first 'by the phone'
device keychain; phone=$(identifier phone); pi=$(identifier pi); laptop=$(identifier laptop)
there "companions/$pi/$phone/00000001"; there "heads/$phone"; there "devices/$phone/00000002"
cp "$folder/heads/$laptop" "$TMPDIR/earlier"
# The remains of a killed run of the phone, its request, and the request of a device that was never admitted.
stranger=00112233445566778899aabbccddeeff
touch "$folder/devices/$phone/00000009.abc.partial" "$folder/join/$phone.5"; touch "$folder/join/$stranger.5"

# Two members have not followed: the files stay, and status names these members.
with 0 sync remove phone
cp -a "$folder" "$TMPDIR/full"
there "devices/$phone/00000001"
own 0 sync status; expect_text 'files of removed devices stay until vauban sync has run on laptop, tablet' "$TMPDIR/out"
# The tablet does not get the statement yet: it reports nothing as lost, and nothing is removed.
statement=$(ls "$folder/circle" | tail -1); mv "$folder/circle/$statement" "$TMPDIR/statement"
sync tablet 1; text 'has a later key than this device knows'; ! grep -q phone "$TMPDIR/err" || fail 'files of the phone are reported as missing'
mv "$TMPDIR/statement" "$folder/circle/$statement"
sync laptop; text 'phone was removed from the circle'; there "devices/$phone/00000001"
own 0 sync status; expect_text 'stay until vauban sync has run on tablet' "$TMPDIR/out"; ! grep -q 'run on.*laptop' "$TMPDIR/out" ||
    fail 'status still names the laptop, which has followed'

# The carrier shows the tablet the earlier head of the laptop, which does not count.
cp "$folder/heads/$laptop" "$TMPDIR/later"; cp "$TMPDIR/earlier" "$folder/heads/$laptop"
sync tablet; text 'phone was removed from the circle'; there "devices/$phone/00000001"
cp "$TMPDIR/later" "$folder/heads/$laptop"
# An earlier statement is missing, so the earlier devices of the circle are not known.
mv "$folder/circle/00000002" "$TMPDIR/statement"
sync tablet; text 'Files of removed devices stay in the folder: The folder lacks circle/00000002'; there "devices/$phone/00000001"
cp "$folder/circle/00000003" "$folder/circle/00000002"; sync tablet; text 'Files of removed devices stay'; there "devices/$phone/00000001"
mv "$TMPDIR/statement" "$folder/circle/00000002"
sync tablet; text 'of removed devices from the folder'
gone "devices/$phone"; gone "heads/$phone"; gone "join/$phone*"; there "join/$stranger.5"
# A companion does not state what it has followed, so files that it may not have read stay.
there "companions/$pi/$phone/00000001"
own 0 sync status; ! grep -q '^Removed' "$TMPDIR/out" || fail 'status still waits'

# A run that was killed halfway: the next member's run continues it, and a further run finds nothing to do.
mkdir "$folder/devices/$phone"; cp "$TMPDIR/full/devices/$phone/00000002" "$folder/devices/$phone/"
sync keychain; text 'Removed 1 file of removed devices from the folder.'; gone "devices/$phone"
sync keychain; ! grep -q 'removed devices' "$TMPDIR/err" || fail 'the second run removed something too'
sync laptop
# No device lacks anything or reports a loss; nor do the companion, a member whose state is lost, and a device that joins now.
for name in keychain laptop tablet; do sync $name; text '0 changes received'; done
sync pi; text 'phone was removed from the circle'; sync pi; text '0 changes received'
for name in keychain laptop tablet; do has $name s/first 'by the phone'; has $name s/third 'of the phone too'; lacks $name s/second; done
has pi s/first 'by the phone'
device laptop; rm "$VAUBAN_HOME/sync/state"; sync laptop; lacks laptop s/second; has laptop s/third 'of the phone too'
new_device watch; join watch tablet; has watch s/first 'by the phone'; has watch s/third 'of the phone too'; lacks watch s/second
for name in keychain laptop tablet watch; do sync $name; done
# The phone reports its removal, and not that files are missing.
device phone; own 51 sync; text 'was removed from the circle'
# Files of the phone that arrive late, as from a delayed carrier, are not read.
cp -a "$TMPDIR/full/devices/$phone" "$folder/devices/"; for name in keychain laptop tablet watch; do sync $name; text '0 changes received, 0 sent'; done

# A companion is removed: all files for it are removed, also those of a device that was removed before, and those that arrived late. The new
# device has not stated that it has followed this removal, so the files stay until it has.
device keychain; with 0 sync remove pi
for name in laptop tablet; do sync $name; there "companions/$pi/$phone/00000001"; done
sync watch; text 'of removed devices from the folder'
gone "companions/$pi"; gone "devices/$phone"
device pi; own 51 sync; text 'was removed from the circle'
for name in keychain laptop tablet watch; do sync $name; has $name s/first 'by the phone'; done

# A circle of one device waits for no other.
for name in laptop tablet watch; do device keychain; with 0 sync remove $name; done
equals "$(ls "$folder/devices" | wc -l)" 1; equals "$(ls "$folder/heads" | wc -l)" 1
own 0 sync
new_device new; join new keychain; has new s/first 'by the phone'; has new s/third 'of the phone too'; lacks new s/second
echo 'files of removed devices are removed when every member has followed the removal, and nothing is lost'
