#!/usr/bin/env bash
# A companion (a build server, a watch) has its own keychain: it receives the items on its list and no others, follows each change of them,
# loses items that are taken off the list, changes nothing for the others, and reads nothing after its removal.
# proves: C-029
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
# ask NEW MEMBER: the steps up to the code that the new device shows, which is in $code.
ask() {
    device "$1"; own 0 sync join "$folder" --name "$1"
    device "$2"; own 0 sync approve
    device "$1"; own 0 sync join "$folder"; code=$(cat "$TMPDIR/out")
    device "$2"
}
# join NEW MEMBER WORDS…: joins by codes; the words go to the member's approval.
join() { ask "$1" "$2"; with 0 sync approve "$code" "${@:3}"; answer=$(cat "$TMPDIR/out"); device "$1"; with 0 sync join "$folder" "$answer"; }

set_passcode
own 0 sync new "$folder" --name desk
item deploy token 'first token'
item db anna 'of the database'
item bank anna 'never for a companion'
printf local | vauban set local/x
new_device laptop; join laptop keychain

# A companion is admitted by the same codes, and only with the user's approval.
new_device pi
ask pi keychain
own 64 sync approve --companion
own 64 sync approve "$code" --item deploy/token
own 44 sync approve "$code" --companion --item no/such; text 'No synchronizable item no/such'
own 44 sync approve "$code" --companion --item local/x; text 'No synchronizable item local/x'
own 36 sync approve "$code" --companion --item deploy/token
with 0 sync approve "$code" --companion --item deploy/token; answer=$(cat "$TMPDIR/out")
text 'Admitted as a companion'
own 0 sync approve "$code"; equals "$(cat "$TMPDIR/out")" "$answer"
device pi; with 0 sync join "$folder" "$answer"
text 'Joined as a companion'; text '1 change received.'
has pi deploy/token 'first token'
for name in db/anna bank/anna local/x; do lacks pi $name; done
own 0 sync status; grep -q 'This device is a companion' "$TMPDIR/out" || fail 'status does not say that this device is a companion'
device keychain; own 0 sync status
grep -q '^Companion  pi .* receives 1 item$' "$TMPDIR/out" || fail 'status does not list the companion'
sync laptop; text 'pi joined the circle as a companion'

# It follows changes by every member, and nothing that is not on its list.
device laptop; printf 'second token' | vauban set deploy/token --replace; printf changed | vauban set db/anna --replace; sync laptop
sync pi; text '1 change received.'
has pi deploy/token 'second token'; lacks pi db/anna
sync keychain; has keychain deploy/token 'second token'
sync keychain; text '0 changes received, 0 sent.'

# Allowed later: with the user's approval.
device keychain
own 36 sync allow pi db/anna
own 64 sync allow laptop db/anna; text 'No companion laptop'
with 0 sync allow pi db/anna; text 'receives db/anna'
sync pi; has pi db/anna changed

# Files for the companion are for it alone, and show nothing.
grep -raqE 'token|second|anna|of the database|changed' "$folder/companions" "$folder/circle" && fail 'the folder shows a name or a value'
pi=$(ls "$folder/companions"); [ "$(ls "$folder/companions" | wc -l)" = 1 ] || fail 'there are files for other companions'
[ ! -e "$folder/devices/$pi" ] || fail 'the companion wrote files for the others'

# Items that are created or changed on the companion go to no other device, and it cannot change the circle.
device pi; printf 'of the pi' | vauban set deploy/token --replace; item pi own 'made here'
sync pi; text 'Not sent, since this device is a companion: deploy/token'; text 'Not sent, since this device is a companion: pi/own'
for device in keychain laptop; do sync $device; has $device deploy/token 'second token'; lacks $device pi/own; done
[ ! -e "$folder/devices/$pi" ] || fail 'the companion wrote files for the others'
device pi
own 51 sync approve; text 'This device is a companion'
own 51 sync remove desk; text 'This device is a companion'
own 51 sync allow pi bank/anna; text 'This device is a companion'
own 51 sync disallow pi db/anna; text 'This device is a companion'
# The next change by a member replaces its own, which is then in the companion's history.
device keychain; printf 'third token' | vauban set deploy/token --replace; sync keychain
sync pi; has pi deploy/token 'third token'; equals "$(vauban history deploy/token --show 1)" 'of the pi'

# A companion that lost its state or its newer items gets them from the folder again, and nothing else.
rm "$VAUBAN_HOME/sync/state"; sync pi; has pi deploy/token 'third token'; has pi db/anna changed; lacks pi bank/anna
vauban stop >/dev/null 2>&1; cp -a "$VAUBAN_HOME/keychain/$(id -u)" "$TMPDIR/database"; unlock
device keychain; printf 'fourth token' | vauban set deploy/token --replace; printf changed | vauban set db/anna --replace
sync keychain; sync pi; has pi deploy/token 'fourth token'
vauban stop >/dev/null 2>&1; rm -rf "$VAUBAN_HOME/keychain/$(id -u)"; cp -a "$TMPDIR/database" "$VAUBAN_HOME/keychain/$(id -u)"; unlock
has pi deploy/token 'third token'
sync pi; text 'put back to an earlier state'; has pi deploy/token 'fourth token'
# A member whose state is lost does not write the same files for the companion again.
device keychain; own 0 sync status
desk=$(basename "$folder/devices/$(sed -n 's/^Device *desk *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")"*)
stream=$folder/companions/$pi/$desk
files=$(ls "$stream" | wc -l); rm "$VAUBAN_HOME/sync/state"; sync keychain; equals "$(ls "$stream" | wc -l)" "$files"
sync pi; text '0 changes received.'

# Altered, lost and rolled back files of its stream are refused by name, and so is one of another writer.
device keychain; printf 'fifth token' | vauban set deploy/token --replace; sync keychain
last=$stream/$(ls "$stream" | tail -1)
cp -a "$folder" "$TMPDIR/good"
restore_folder() { rm -rf "$folder"; cp -a "$TMPDIR/good" "$folder"; }
refused() { sync pi 1; text "$1"; has pi deploy/token 'fourth token'; restore_folder; }
printf "$(printf '\\%03o' $(($(od -An -tu1 -j 200 -N 1 "$last") ^ 1)))" | dd of="$last" bs=1 seek=200 conv=notrunc 2>/dev/null; refused 'was altered'
cp "$(ls "$folder/devices/$desk/"* | tail -1)" "$last"; refused 'was altered, or does not follow'
rm "$last" "$stream/$(ls "$stream" | tail -2 | head -1)"; refused 'lacks files of desk that were read before'
mkdir -p "$folder/companions/$pi/$pi"; cp "$last" "$folder/companions/$pi/$pi/00000001"; mv "$last" "$TMPDIR/last"
sync pi; has pi deploy/token 'fourth token'; restore_folder
sync pi; has pi deploy/token 'fifth token'

# Disallowed: the item is removed there, also from the deleted items, and later changes do not arrive until it is allowed again.
device keychain
own 36 sync disallow pi deploy/token
with 0 sync disallow pi deploy/token; text 'It has received these secrets: change each one where it is used.'
device laptop; printf 'after it' | vauban set deploy/token --replace; sync laptop; sync keychain
sync pi; lacks pi deploy/token
vauban list --deleted 2>&1 | grep -q deploy && fail 'a companion keeps an item that was disallowed'
has pi db/anna changed; has laptop deploy/token 'after it'
device keychain; with 0 sync allow pi deploy/token; sync pi; has pi deploy/token 'after it'

# An item that a member deleted is removed there too.
device keychain; vauban delete db/anna --yes >/dev/null 2>&1 || fail 'the item cannot be deleted'
sync keychain; sync pi; lacks pi db/anna

# Its name is still on the list, so a new item of that name would go there. The name can be removed from the list.
device keychain; own 0 sync status
grep -q '^Companion  pi .* receives 1 item, 1 name on its list without an item here$' "$TMPDIR/out" || fail 'status does not count the names without an item'
own 64 sync disallow pi; own 64 sync disallow pi --gone deploy/token
own 36 sync disallow pi --gone
with 0 sync disallow pi --gone; text 'Every name on the list of the companion pi now has an item here.'
own 0 sync status; grep -q '^Companion  pi .* receives 1 item$' "$TMPDIR/out" || fail 'a name without an item is on the list'
own 44 sync disallow pi --gone; text 'Each name on the companion'
item db anna 'made again'; sync keychain; sync pi; lacks pi db/anna; has pi deploy/token 'after it'
device keychain; vauban delete db/anna --yes >/dev/null 2>&1 || fail 'the item cannot be deleted'

# An item that the companion's user deleted stays deleted there, and can be disallowed.
device keychain; item ci key 'of the build'; with 0 sync allow pi ci/key; sync pi; has pi ci/key 'of the build'
vauban delete ci/key --yes >/dev/null 2>&1 || fail 'the item cannot be deleted on the companion'
sync pi; sync pi; lacks pi ci/key
device keychain; with 0 sync disallow pi ci/key; sync pi; lacks pi ci/key

# A removed companion reports its removal and reads nothing new, and the member names the items that it had.
# It does not read changes from before the removal that were not written yet either, not even from a folder without the removal.
device keychain; printf 'before the removal' | vauban set deploy/token --replace
own 36 sync remove pi
with 0 sync remove pi
text 'It has received ci/key, deploy/token, 1 item without a name here, and whatever else was on its list before. Change these secrets'
# before_removal DEVICE STATUS TEXT: synchronizes DEVICE with a copy of the folder that lacks the last statement.
before_removal() {
    rm -rf "$TMPDIR/stolen"; cp -a "$folder" "$TMPDIR/stolen"; rm "$TMPDIR/stolen/circle/$(ls "$folder/circle" | tail -1)"
    device "$1"; own "$2" sync --folder "$TMPDIR/stolen"; text "$3"
}
before_removal pi 0 '0 changes received'; has pi deploy/token 'after it'
device keychain
printf 'after the removal' | vauban set deploy/token --replace; sync keychain; sync laptop; text 'The companion pi was removed'
device pi; own 51 sync --folder "$folder"; text 'was removed from the circle'
has pi deploy/token 'after it'
own 0 sync leave
device keychain; own 0 sync status; grep -q pi "$TMPDIR/out" && fail 'the removed companion is listed'
has laptop deploy/token 'after the removal'

# A companion follows the removal of a member, under the new key, and keeps what that member wrote; the member reads nothing that is written later.
new_device watch; join watch keychain --companion --item deploy/token
has watch deploy/token 'after the removal'
sync laptop; printf 'of the laptop' | vauban set deploy/token --replace; sync laptop
# A removed member does not read unwritten changes from before its removal either.
device keychain; printf 'not for the laptop' | vauban set bank/anna --replace
with 0 sync remove laptop
before_removal laptop 1 'has a later key than this device knows'; has laptop bank/anna 'never for a companion'
sync watch; text 'laptop was removed from the circle'; has watch deploy/token 'of the laptop'
device keychain; printf 'under a new key' | vauban set deploy/token --replace; sync keychain
sync watch; has watch deploy/token 'under a new key'
lacks watch bank/anna
echo 'a companion receives the items on its list and no others, follows them, and changes nothing'
