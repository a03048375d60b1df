#!/usr/bin/env bash
# Synchronizable items are transferred between devices that share a folder: added, updated, deleted, in conflict and renamed; only devices that
# two codes and two approvals admitted can read them; altered, lost, foreign, replayed or rolled back files in the folder are refused; and
# items that stay on a device are in no file.
# proves: C-064 C-215 C-216 C-217 C-218 C-219
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
[ -x "$VAUBAN_BUILD/keychain-caller" ] || { echo 'keychain-caller is not built'; exit 77; }
folder=$TMPDIR/shared
device() { export VAUBAN_HOME=$TMPDIR/$1; }
text() { expect_text "$1" "$TMPDIR/err"; }
own() { expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null; }
with() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 3<<<"$passcode" </dev/null; }
sync() { device "$1"; own "${2:-0}" sync; }
caller() { "$VAUBAN_BUILD/keychain-caller" "$@"; }
equals() { [ "$1" = "$2" ] || fail "there is \"$1\", not \"$2\""; }
trap 'for home in "$TMPDIR"/keychain "$TMPDIR"/laptop "$TMPDIR"/phone "$TMPDIR"/thief "$TMPDIR"/tablet "$TMPDIR"/desktop; do VAUBAN_HOME=$home vauban stop; done >/dev/null 2>&1' EXIT
new_device() { device "$1"; new_keychain; set_passcode; }
# join NEW MEMBER: all steps of joining, with the codes that each side shows.
join() {
    device "$1"; own 0 sync join "$folder" --name "$1"
    device "$2"; own 0 sync approve
    device "$1"; own 0 sync join "$folder"; code=$(cat "$TMPDIR/out")
    device "$2"; with 0 sync approve "$code"; answer=$(cat "$TMPDIR/out")
    # The second code can be shown again, without another prompt.
    own 0 sync approve "$code"; equals "$(cat "$TMPDIR/out")" "$answer"
    device "$1"; with 0 sync join "$folder" "$answer"
}

# Without a passcode no circle can be started, and without a circle nothing is synchronized.
own 64 sync; text 'This device is in no circle'
own 51 sync new "$folder"
rm -rf "$folder"
set_passcode
# Other content is refused; the markers of Syncthing and git, and the folder that a file system has at its root, are no content.
mkdir -p "$folder/.stfolder" "$folder/.stversions" "$folder/.git" "$folder/lost+found"
for name in .stfolder/x .stignore .stversions/old .git/config .gitignore lost+found/1 notes; do echo "$name" >"$folder/$name"; done
own 64 sync new "$folder"; text 'is not empty'
rm "$folder/notes"
marked() { (cd "$folder" && find .st* .git* lost+found devices/*/.[!.]* -type f -exec sha256sum {} + 2>/dev/null | LC_ALL=C sort -k 2); }
own 0 sync new "$folder" --name desk
own 64 sync new "$folder"
new_device phone
own 64 sync new "$folder"

# C-216, C-218: the attribute selects the items, in all four calls.
device keychain
equals "$(caller synced-add bank everywhere)" 0
equals "$(caller add bank here)" 0
equals "$(caller get bank)" '0 here'
equals "$(caller synced-get bank)" '0 everywhere'
printf '{"service":"s","account":"json","secret":"of json","synchronizable":true}' | vauban add --json - 2>/dev/null || fail 'add --json failed'
printf '{"service":"s","account":"stays","secret":"stays here","synchronizable":true,"readable":"unlocked, this device only"}' | vauban add --json - 2>/dev/null ||
    fail 'add --json failed for an item of this device'
printf local | vauban add local/x
printf asks | vauban add asks/x --require presence
sync keychain
text 'Stays on this device: s/stays'
text '0 changes received, 2 sent.'
sync keychain
text '0 changes received, 0 sent.'
# What such a program keeps for a while beside the files of a device is not theirs either.
for name in .syncthing.00000002.tmp .copy.partial; do for place in "$folder"/devices/*; do echo "$name" >"$place/$name"; done; done
before=$(marked)
equals "$(wc -l <<<"$before")" 8
sync keychain

# A wrong folder for a device that is in a circle is not remembered.
mkdir "$TMPDIR/elsewhere"
own 64 sync join "$TMPDIR/elsewhere"; text 'is in a circle already'
own 64 sync --folder "$TMPDIR/elsewhere"; text 'The folder lacks circle/00000001'
sync keychain

# C-215: a device that joined reads them through SecItemCopyMatching.
new_device laptop
join laptop keychain
text '2 changes received, 0 sent.'
equals "$(caller synced-get bank)" '0 everywhere'
equals "$(caller get bank)" -25300
equals "$(vauban get s/json)" 'of json'
for name in s/stays local/x asks/x; do expect_status 44 vauban get "$name"; done
own 0 sync status
grep -q 'Device   desk ' "$TMPDIR/out" && grep -q 'Device   laptop .*(this device)' "$TMPDIR/out" || fail 'status does not list the devices'

# C-217: updates and deletions go both ways, and C-219: the user never types a password again.
equals "$(caller synced-update bank newer)" 0
sync laptop; text '0 changes received, 1 sent.'
sync keychain; text '1 change received, 0 sent.'
equals "$(caller synced-get bank)" '0 newer'
equals "$(caller get bank)" '0 here'
equals "$(caller synced-delete bank)" 0
sync keychain; sync laptop
equals "$(caller synced-get bank)" -25300
vauban list --deleted 2>&1 | grep -q 'callers/bank' || fail 'an item that another device deleted is not kept'
equals "$(marked)" "$before"

# A conflict: the later change wins everywhere, and the other value is in the history.
device keychain; printf first | vauban set s/json --replace
device laptop; printf second | vauban set s/json --replace
sync keychain; sync laptop; text 's/json was changed on two devices; the later change, of this device, is kept'
sync keychain; sync laptop
grep -q 'changed on two devices' "$TMPDIR/err" && fail 'a conflict is reported twice'
for name in keychain laptop; do device $name; equals "$(vauban get s/json)" second; done
device keychain; equals "$(vauban history s/json --show 1)" first

# The value that lost remains in the history when the winner's device then deletes or renames the item.
synced() { printf '{"service":"s","account":"%s","secret":"%s","synchronizable":true}' "$1" "$2" | vauban add --json - 2>/dev/null || fail "add $1 failed"; }
device keychain; synced gone base; synced moved base; sync keychain; sync laptop
device keychain; for name in gone moved; do printf loser | vauban set s/$name --replace; done
device laptop; for name in gone moved; do printf winner | vauban set s/$name --replace; done; sync laptop
own 0 delete s/gone; own 0 rename s/moved s/renamed; sync laptop
# A change that was not sent is reported where it lost.
sync keychain
for name in gone moved; do text "s/$name was changed here, and deleted or renamed on another device. What was here is kept: vauban undelete s/$name"; done
equals "$(vauban get s/renamed)" winner
for name in gone moved; do expect_status 44 vauban get s/$name; done
equals "$(vauban history s/renamed --show 1)" loser
own 64 undelete s/moved; text 'The item is there again, as s/renamed'
own 0 undelete s/gone
equals "$(vauban get s/gone)" winner
equals "$(vauban history s/gone --show 1)" loser
own 0 delete s/gone
sync keychain

# Received changes of a comment displace no value from the history.
device keychain; synced remark base; sync keychain; sync laptop
device keychain; printf loser | vauban set s/remark --replace
device laptop; printf winner | vauban set s/remark --replace; sync laptop
sync keychain; text 's/remark was changed on two devices; the later change, of the other device, is kept'
text 'vauban history s/remark'
for number in 1 2 3 4 5 6 7 8 9 10 11; do
    device laptop; own 0 edit s/remark --comment "comment $number"; sync laptop
    sync keychain; text '1 change received'
    grep -q 'changed on two devices' "$TMPDIR/err" && fail 'a change that knew the other one is reported as a conflict'
done
equals "$(vauban get s/remark)" winner
equals "$(vauban history s/remark --show 1)" loser

# The folder shows no name and no value, and only padded sizes.
grep -raqE 'bank|json|of json|second|newer|stays here|local' "$folder/devices" "$folder/circle" && fail 'the folder shows a name or a value'
for file in "$folder"/devices/*/*; do
    size=$(($(stat -c %s "$file") - 82 - 28))
    [ $((size & (size - 1))) = 0 ] && [ $size -ge 4096 ] || fail "$file has $size bytes"
done

# Altered, truncated, exchanged, lost and rolled back files are refused by name, and everything else is read.
device laptop; printf third | vauban set s/json --replace; sync laptop
cp -a "$folder" "$TMPDIR/good"
own 0 sync status
laptop=$(basename "$folder/devices/$(sed -n 's/^Device *laptop *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")"*)
last=$(ls "$folder/devices/$laptop" | tail -1)
restore_folder() { rm -rf "$folder"; cp -a "$TMPDIR/good" "$folder"; }
refused() { sync keychain 1; text "$1"; equals "$(vauban get s/json)" second; restore_folder; }
for place in 20 90 200 4000; do
    printf "$(printf '\\%03o' $(($(od -An -tu1 -j $place -N 1 "$folder/devices/$laptop/$last") ^ 1)))" |
        dd of="$folder/devices/$laptop/$last" bs=1 seek=$place conv=notrunc 2>/dev/null
    refused 'Not complete: The file'
done
truncate -s 500 "$folder/devices/$laptop/$last"; refused 'was altered'
truncate -s 10 "$folder/devices/$laptop/$last"; refused 'is incomplete'
cp "$folder/devices/$laptop/00000001" "$folder/devices/$laptop/$last"; refused 'was altered, or does not follow'
sed -i '1s/SYNC 1/SYNC 3/' "$folder/devices/$laptop/$last"; refused 'later version'
sed -i '1s/SYNC 1/SYNC 2/' "$folder/devices/$laptop/$last"; refused 'belongs in another place'
rm -f "$folder/devices/$laptop/"*; refused 'lacks files of laptop that were read before'
mv "$folder/devices/$laptop/$last" "$folder/devices/$laptop/$(printf %08d $((10#$last + 1)))"; refused 'not copied completely'
rm "$folder/circle/00000002"; sync laptop 64; text 'The folder lacks circle/00000002'; restore_folder
rm "$folder/devices/$laptop/$last"; mkfifo "$folder/devices/$laptop/$last"; refused 'is not a file'
cp "$folder/circle/00000001" "$folder/circle/00000002"; sync keychain 64; text 'an earlier state or altered'; restore_folder
cp "$folder/circle/00000001" "$folder/circle/00000003"; sync keychain 64; text 'changed in two places'; restore_folder
sync keychain; text '1 change received'
equals "$(vauban get s/json)" third

# A statement that a device could not write to the folder is written by its next run.
rm "$folder/circle/00000002"; sync keychain; [ -e "$folder/circle/00000002" ] || fail 'the last statement is not in the folder'

# After a killed run nothing is repeated or lost: the device reads its own file again.
cp -a "$VAUBAN_HOME/sync" "$TMPDIR/earlier"
printf fourth | vauban set s/json --replace; sync keychain
rm -rf "$VAUBAN_HOME/sync"; cp -a "$TMPDIR/earlier" "$VAUBAN_HOME/sync"
sync keychain; sync laptop
equals "$(vauban get s/json)" fourth

# No device joins without the codes: not with a wrong code, not without the user's approval.
new_device thief
own 0 sync join "$folder" --name thief
own 0 sync join "$folder"; text 'Waiting.'
device keychain; own 0 sync approve
device thief; own 0 sync join "$folder"; code=$(cat "$TMPDIR/out")
wrong='000 000'; [ "$code" != "$wrong" ] || wrong='111 111'
device keychain
with 51 sync approve "$wrong"
own 36 sync approve "$code"
[ ! -e "$folder/circle/00000003" ] || fail 'a device was admitted without an approval'
device thief; with 51 sync join "$folder" "$code"
own 0 sync leave
rm -rf "$folder/join"

# A removed device reads nothing that is written later, and devices that join later have what it wrote.
new_device phone
join phone keychain
text 'received'
equals "$(vauban get s/json)" fourth
equals "$(caller synced-add of-phone phone)" 0
sync phone
device keychain
own 36 sync remove phone
with 0 sync remove phone
text 'Removed phone.'
equals "$(caller synced-get of-phone)" '0 phone'
printf 'after the removal' | vauban set s/json --replace
sync keychain
device phone; own 51 sync; text 'was removed from the circle'
equals "$(vauban get s/json)" fourth
own 0 sync leave
sync laptop; equals "$(vauban get s/json)" 'after the removal'
new_device tablet
join tablet laptop
equals "$(caller synced-get of-phone)" '0 phone'
equals "$(vauban get s/json)" 'after the removal'
sync keychain
own 0 sync status
grep -q phone "$TMPDIR/out" && fail 'the removed device is listed'
grep -q tablet "$TMPDIR/out" || fail 'a device that another member admitted is not listed'

# A device that was restored to an earlier state while the folder lacks its newest file writes nothing until that file is there.
device keychain; cp -a "$VAUBAN_HOME/sync" "$TMPDIR/before"
printf fifth | vauban set s/json --replace; sync keychain
sync laptop; printf sixth | vauban set s/json --replace; sync laptop
own 0 sync status; desk=$(basename "$folder/devices/$(sed -n 's/^Device *desk *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")"*)
newest=$folder/devices/$desk/$(ls "$folder/devices/$desk" | tail -1)
mv "$newest" "$TMPDIR/newest"
rm -rf "$TMPDIR/keychain/sync"; cp -a "$TMPDIR/before" "$TMPDIR/keychain/sync"
sync keychain 1; text 'laptop has read'; text 'Nothing is sent until the folder is complete'
equals "$(vauban get s/json)" sixth
mv "$TMPDIR/newest" "$newest"
sync keychain; equals "$(vauban get s/json)" sixth

# A restored database is not a change: later additions and deletions arrive from the other devices, which lose nothing.
device laptop; equals "$(caller synced-add gone deleted)" 0; sync laptop
vauban stop >/dev/null 2>&1
database=$VAUBAN_HOME/keychain/$(id -u)
cp -a "$database" "$TMPDIR/database"
unlock; printf seventh | vauban set s/json --replace; equals "$(caller synced-add added new)" 0; equals "$(caller synced-delete gone)" 0
sync laptop; sync keychain
device laptop; vauban stop >/dev/null 2>&1
rm -rf "$database"; cp -a "$TMPDIR/database" "$database"
unlock; equals "$(vauban get s/json)" sixth
sync laptop; text 'put back to an earlier state'; text '0 sent.'
equals "$(vauban get s/json)" seventh
equals "$(caller synced-get added)" '0 new'
equals "$(caller synced-get gone)" -25300
sync keychain; text '0 changes received, 0 sent.'
equals "$(caller synced-get gone)" -25300

# A deleted item that the user restores returns on every device.
equals "$(caller synced-delete added)" 0; sync keychain; sync laptop
equals "$(caller synced-get added)" -25300
vauban undelete callers/added >/dev/null 2>&1 || fail 'a deleted item cannot be restored'
sync laptop; sync keychain; equals "$(caller synced-get added)" '0 new'

# An item that cannot be stored here does not prevent reading others, and is stored as soon as it can be.
device laptop
printf '{"service":"s","account":"twin","secret":"of this device","synchronizable":true,"readable":"unlocked, this device only"}' |
    vauban add --json - 2>/dev/null || fail 'add --json failed'
device keychain
printf '{"service":"s","account":"twin","secret":"of the circle","synchronizable":true}' | vauban add --json - 2>/dev/null || fail 'add --json failed'
printf eighth | vauban set s/json --replace; sync keychain
sync laptop 1; text 'cannot be made here: an item with the same name stays on this device'
equals "$(vauban get s/json)" eighth
equals "$(vauban get s/twin)" 'of this device'
vauban delete s/twin --yes >/dev/null 2>&1 || fail 'the twin cannot be deleted'
sync laptop; equals "$(vauban get s/twin)" 'of the circle'

# An item that a device restores from a backup older than its deletion does not return, neither there nor elsewhere.
both() { expect_status 0 setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<'a passphrase of this backup' </dev/null; }
device laptop; synced old 'long ago'; sync laptop
both backup "$TMPDIR/old.backup"
own 0 delete s/old; sync laptop
sync keychain
new_device desktop; join desktop keychain
both restore "$TMPDIR/old.backup"
equals "$(vauban get s/old)" 'long ago'
sync desktop; expect_status 44 vauban get s/old
vauban list --deleted 2>&1 | grep -q 's/old' || fail 'an item that was restored, and deleted elsewhere, is not kept'
sync laptop; expect_status 44 vauban get s/old
# An item that is added there under that name is new.
device desktop; synced old 'new again'; sync desktop; sync laptop; equals "$(vauban get s/old)" 'new again'

# A locked keychain synchronizes nothing.
vauban lock
own 36 sync
echo 'items are transferred between devices, a folder that was tampered with is refused, and a removed device reads nothing new'
