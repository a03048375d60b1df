#!/usr/bin/env bash
# Attacks on vauban sync by the carrier of its folder, by a removed device, and by a program of the user. Each check is an attack of
# Manual/attacks.md.
# limit: 1200
set -u
/usr/bin/python3 -c 'import cryptography' 2>/dev/null || { echo 'there is no python3-cryptography here'; exit 77; }
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/attack-report.sh
folder=$TMPDIR/shared
device() { export VAUBAN_HOME=$TMPDIR/$1; }
own() { setsid --wait "$VAUBAN_BUILD/vauban" "$@" </dev/null >"$TMPDIR/out" 2>"$TMPDIR/err"; }
with() { setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 3<<<"$passcode" </dev/null >"$TMPDIR/out" 2>"$TMPDIR/err"; }
# ends STATUS TEXT COMMAND…: the command ends with this status and prints a line with this text.
ends() { want=$1 text=$2; shift 2; "$@"; got=$?; [ $got = "$want" ] || { cat "$TMPDIR/err"; echo "    ended with $got, not $want"; return 1; }; says "$text" "$TMPDIR/err"; }
new_device() { device "$1"; new_keychain; set_passcode; }
item() { printf '{"service":"bank","account":"%s","secret":"%s","synchronizable":true}' "$1" "$2" | vauban add --json - 2>/dev/null; }
trap 'for home in "$TMPDIR"/keychain "$TMPDIR"/laptop "$TMPDIR"/other "$TMPDIR"/thief "$TMPDIR"/pi "$TMPDIR"/ci "$TMPDIR"/copier "$TMPDIR"/lent "$TMPDIR"/watched "$TMPDIR"/guest "$TMPDIR"/new; do VAUBAN_HOME=$home vauban stop; done >/dev/null 2>&1' EXIT
# ask NEW MEMBER: the steps of joining up to the code that the new device shows, which is in $code.
ask() {
    device "$1"; own sync join "$folder" --name "$1"
    device "$2"; own sync approve
    device "$1"; own sync join "$folder"; code=$(cat "$TMPDIR/out")
}
join() {
    ask "$1" "$2"
    device "$2"; with sync approve "$code" && answer=$(cat "$TMPDIR/out")
    device "$1"; with sync join "$folder" "$answer"
}
device keychain; set_passcode; own sync new "$folder" --name desk || exit 1
item anna secretvalue; item bert othervalue; own sync || exit 1
new_device laptop; join laptop keychain || exit 1
equals "$(vauban get bank/anna)" secretvalue || exit 1
# Another circle, with complete and signed files.
new_device other; own sync new "$TMPDIR/foreign" --name desk; item anna 'of another circle'; own sync || exit 1

check 'U80 names, values and owners in the folder: refused' eval '! grep -raqE "bank|anna|bert|secretvalue|othervalue|desk" "$folder/circle" "$folder/devices"'
check 'U80 control: what is not encrypted would be found' grep -raq 'VAUBAN SYNC 1' "$folder/devices"

# The last file of the desk, which the laptop has not read yet.
device keychain; printf newvalue | vauban set bank/anna --replace; own sync status
desk=$(basename "$folder/devices/$(sed -n 's/^Device *desk *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")"*)
cp -a "$folder" "$TMPDIR/older"
own sync || exit 1
last=$folder/devices/$desk/$(ls "$folder/devices/$desk" | tail -1)
cp -a "$folder" "$TMPDIR/good"
again() { rm -rf "$folder"; cp -a "$TMPDIR/${1:-good}" "$folder"; }
# tampered TEXT: the laptop reports this and keeps its item.
tampered() { device laptop; ends 1 "$1" own sync && equals "$(vauban get bank/anna)" secretvalue; result=$?; again; return $result; }
flip() { printf "$(printf '\\%03o' $(($(od -An -tu1 -j "$1" -N 1 "$last") ^ 1)))" | dd of="$last" bs=1 seek="$1" conv=notrunc 2>/dev/null; }
for place in 15 30 85 3000; do flip $place; check "U81 a byte of a file is changed: refused ($place)" tampered 'Not complete: The file'; done
truncate -s 2000 "$last"; check 'U81 a file is cut: refused' tampered 'was altered'
cp "$folder/devices/$desk/00000001" "$last"; check 'U81 an earlier file is replayed in its place: refused' tampered 'does not follow what was read before'
cp "$TMPDIR/foreign/devices/"*/00000001 "$last"; check 'U81 a file of another circle: refused' tampered 'was altered, or does not follow'
cp "$TMPDIR/foreign/circle/00000001" "$folder/circle/00000003"
check 'U82 a statement of another circle: refused' eval 'device laptop; ends 64 "of another circle" own sync'; again
cp "$folder/circle/00000001" "$folder/circle/00000002"
check 'U82 an earlier statement in place of the last: refused' eval 'device laptop; ends 64 "an earlier state or altered" own sync'; again
rm "$last"; mkfifo "$last"
check 'U87 a pipe in the place of a file, so that a run waits: refused' tampered 'is not a file'
check 'U81 control: the unaltered file is read' eval 'device laptop; own sync && equals "$(vauban get bank/anna)" newvalue'
again older
check 'U83 the folder is put back to an earlier state: refused' \
    eval 'device laptop; ends 1 "lacks files of desk that were read before" own sync && equals "$(vauban get bank/anna)" newvalue'
again

new_device thief; ask thief keychain
wrong='000 000'; [ "$code" != "$wrong" ] || wrong='111 111'
check 'U84 a device is admitted with another code: refused' eval 'device keychain; ends 51 "the code is not that of the other device" with sync approve "$wrong"'
cp "$folder"/join/*.3 "$TMPDIR/reveal"
sed -i 's/thief/th1ef/' "$folder"/join/*.3
check 'U84 a join request is altered: refused' eval 'device keychain; ends 64 "was altered" with sync approve "$code"'
cp "$TMPDIR/reveal" "$(ls "$folder"/join/*.3)"
check 'U84 it is admitted without the user: refused' eval 'device keychain; ends 36 "" own sync approve "$code"'
check 'U84 nobody was admitted' eval '[ ! -e "$folder/circle/00000003" ] && ! VAUBAN_HOME=$TMPDIR/thief vauban get bank/anna 2>/dev/null'
check 'U84 control: with the code and the user it is' \
    eval 'device keychain; with sync approve "$code" && answer=$(cat "$TMPDIR/out") && device thief && with sync join "$folder" "$answer" &&
        equals "$(vauban get bank/anna)" newvalue'

# The thief is a member now, and has read a file that is held back from the laptop.
device keychain; printf 'held back' | vauban set bank/anna --replace; own sync || exit 1
device thief; own sync; item carl thirdvalue; own sync || exit 1
held=$folder/devices/$desk/$(ls "$folder/devices/$desk" | tail -1); mv "$held" "$TMPDIR/held"
check 'U88 a file is held back from one device: noticed' \
    eval 'device laptop; ends 1 "thief has read" own sync && equals "$(vauban get bank/carl)" thirdvalue && ends 1 "thief has read" own sync &&
        equals "$(vauban get bank/anna)" newvalue'
mv "$TMPDIR/held" "$held"
check 'U88 control: it is read as soon as it is there' eval 'device laptop; own sync && equals "$(vauban get bank/anna)" "held back"'

device keychain; with sync remove thief || exit 1
printf 'after the removal' | vauban set bank/anna --replace; own sync || exit 1
check 'U85 a removed device reads what is written later: refused' \
    eval 'device thief; ends 51 "was removed from the circle" own sync && equals "$(vauban get bank/anna)" "held back"'
mv "$folder/circle/00000004" "$TMPDIR/removal"
check 'U85 even if its removal is hidden from it: refused' \
    eval 'device thief; ends 1 "has a later key than this device knows" own sync && equals "$(vauban get bank/anna)" "held back"'
mv "$TMPDIR/removal" "$folder/circle/00000004"

# Damage to the laptop's database loses nothing on the desk.
device laptop; own sync; vauban stop >/dev/null 2>&1
rm "$VAUBAN_HOME/keychain/$(id -u)/"keychain.db*
check "U89 a device's database is deleted, so that the others delete its items: refused" \
    eval 'unlock; ends 0 "were lost here" own sync && device keychain && ends 0 "0 changes received" own sync &&
        equals "$(vauban get bank/bert)" othervalue && device laptop && equals "$(vauban get bank/bert)" othervalue'

# A companion receives only bank/bert.
new_device pi; ask pi keychain
device keychain; with sync approve "$code" --companion --item bank/bert && answer=$(cat "$TMPDIR/out")
device pi; with sync join "$folder" "$answer"; equals "$(vauban get bank/bert)" othervalue || exit 1
check 'U90 a program of the user gives a companion another item: refused' \
    eval 'device keychain; ends 36 "" own sync allow pi bank/anna && own sync && device pi && own sync && ! vauban get bank/anna 2>/dev/null'
pi=$(ls "$folder/companions"); stream=$folder/companions/$pi/$desk
cp -a "$folder" "$TMPDIR/companions"
cp "$(ls "$folder/devices/$desk/"* | tail -1)" "$stream/00000002"
check "U91 the carrier gives a companion a file of the members': refused" eval 'device pi; ends 1 "was altered, or does not follow" own sync && ! vauban get bank/anna 2>/dev/null'
again companions
mkdir "$folder/devices/$pi"; cp "$stream/00000001" "$folder/devices/$pi/00000001"
check 'U91 and the members a file in the name of the companion: not read' eval 'device laptop; ends 0 "0 changes received" own sync'
again companions
check 'U90 control: with the user the item is given' \
    eval 'device keychain; with sync allow pi bank/anna && device pi && own sync && equals "$(vauban get bank/anna)" "after the removal"'

# The statements of members about their access logs. On a device that was lent, items are read; the desk sees the head of its log; then the whole
# device is restored to an earlier state: the enclave, the database, and its state of the circle.
for name in lent watched; do new_device $name; join $name keychain || exit 1; done
device keychain; own sync || exit 1
device lent; own sync || exit 1
restore_lent() { device lent; vauban stop >/dev/null 2>&1; rm -rf "$VAUBAN_HOME"; cp -a "$TMPDIR/lent-before" "$VAUBAN_HOME"; unlock; }
vauban stop >/dev/null 2>&1; cp -a "$VAUBAN_HOME" "$TMPDIR/lent-before"; unlock
vauban get bank/anna >/dev/null; vauban get bank/bert >/dev/null; own sync || exit 1
device keychain; own sync || exit 1
check 'U96 control: the desk has seen the log of the lent device' eval 'own sync status && grep -qE "^Log      lent  up to record [0-9]+" "$TMPDIR/out"'
# cosigned: the newest end of the log that others have seen is signed by this device and by them, as an independent reader verifies.
cosigned() {
    own log --head --cosigned --json && cp "$TMPDIR/out" "$TMPDIR/cosigned.json" && own log --head --cosigned && cp "$TMPDIR/out" "$TMPDIR/cosigned" ||
        { cat "$TMPDIR/err"; return 1; }
    PYTHONPATH=Vectors /usr/bin/python3 -B - "$TMPDIR/cosigned.json" "$TMPDIR/cosigned" <<'PYTHON'
import json, sys
from second_reader.heads import log_head, split
shown, note = json.load(open(sys.argv[1])), open(sys.argv[2], 'rb').read()
heads = [log_head(note, {'key': key}) for key in shown['keys']]
assert shown['note'].encode() == note and {head['number'] for head in heads} == {str(shown['record'])}, shown
# The first key is the device's own; only cosignatures have a time.
assert len(heads) == len(split(note)[1]) > 1 and ['time' in head for head in heads] == [False] + [True] * (len(heads) - 1), heads
PYTHON
}
check 'U96 control: the end of its own log that others have seen is signed by them too, and its log contains it' \
    eval 'cosigned && ends 0 "as it was signed" own log --verify "$TMPDIR/cosigned"'
restore_lent
check 'U96 the log itself shows nothing of it' vauban log
check 'U96 a whole device is put back: the device itself reports it' ends 1 'The access log of this device ended with log record' own sync
check 'U96 so do the others, by its name' eval 'device keychain; ends 1 "The access log of lent ended with log record" own sync'
check 'U96 at each run, and items are synchronized nevertheless' \
    eval 'item dora fourthvalue; ends 1 "The access log of lent ended" own sync; device lent; ends 1 "The access log of this device" own sync &&
        equals "$(vauban get bank/dora)" fourthvalue'
check 'U96 and sync status says it' eval 'device keychain; ends 0 "The access log of lent ended with log record" own sync status'
# Another device that is restored, and used until its log is longer than the head that the others have seen.
device watched; own sync; vauban get bank/anna >/dev/null; own sync
vauban stop >/dev/null 2>&1; cp -a "$VAUBAN_HOME" "$TMPDIR/watched-before"; unlock
vauban get bank/anna >/dev/null; own sync; device keychain; own sync
device watched; vauban stop >/dev/null 2>&1; rm -rf "$VAUBAN_HOME"; cp -a "$TMPDIR/watched-before" "$VAUBAN_HOME"; unlock
for number in 1 2 3 4 5 6; do printf "$number" | vauban set "own/$number" 2>/dev/null; done
check 'U96 a device is put back and used until its log is longer: it reports that itself' ends 1 'The access log of this device has another log record' own sync

device keychain; own sync status
watched=$(basename "$folder/heads/$(sed -n 's/^Device *watched *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")"*)
last=$folder/heads/$desk; cp "$last" "$TMPDIR/head"
device watched
for place in 10 20 40 200; do
    flip $place; check "U97 what a device says of its log is changed: refused ($place)" ends 1 'What desk says of the access logs' own sync; cp "$TMPDIR/head" "$last"
done
cp "$folder/heads/$watched" "$last"; check "U97 another device's is put in its place: refused" ends 1 'What desk says of the access logs is incomplete' own sync
cp "$TMPDIR/head" "$last"; device keychain; vauban get bank/anna >/dev/null; own sync; device watched; own sync; cp "$TMPDIR/head" "$last"
check 'U97 an earlier one is put back: reported' ends 1 'What desk says of the access logs is older than what was read before' own sync
device keychain; vauban get bank/anna >/dev/null; own sync
check 'U97 control: the next one is read' eval 'device watched; own sync; ! grep -q "What desk says" "$TMPDIR/err"'
# In such a circle the user's commands are performed, and the exit status shows that.
new_device guest; ask guest keychain
check 'U96 control: a device is admitted nevertheless' eval 'device keychain; ends 0 "The access log of lent ended" with sync approve "$code" && [ -s "$TMPDIR/out" ]'
device guest; with sync join "$folder" "$(cat "$TMPDIR/out")"
item guest 'of the guest'; own sync
check 'U96 control: and removed' eval 'device keychain; ends 0 "The access log of lent ended" with sync remove guest'
device keychain; with sync remove watched; with sync remove lent
check 'U96 control: without the devices that were put back nothing is reported' own sync

# Files of removed devices are removed once the laptop has followed too. The carrier forges its statement, and puts a link to other files there.
own sync status; laptop=$(basename "$folder/heads/$(sed -n 's/^Device *laptop *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")"*)
gone=$(ls "$folder/devices" | grep -v -e "$desk" -e "$laptop" | head -1); [ -n "$gone" ] || exit 1
last=$folder/heads/$laptop; cp "$last" "$TMPDIR/head"
printf '\004' | dd of="$last" bs=1 seek=21 conv=notrunc 2>/dev/null
check 'U141 the carrier says for a member that it has followed a removal, so that files go that it still reads: refused' \
    eval 'ends 1 "What laptop says of the access logs is incomplete" own sync && [ -e "$folder/devices/$gone/00000001" ]'
cp "$TMPDIR/head" "$last"
mkdir "$TMPDIR/diary"; echo mine >"$TMPDIR/diary/00000001"; mv "$folder/devices/$gone" "$TMPDIR/gone"; ln -s "$TMPDIR/diary" "$folder/devices/$gone"
check 'U140 it puts a link to a folder of yours in the place of what a removed device wrote: refused' \
    eval 'device laptop; ends 0 "Files of removed devices stay in the folder" own sync && [ -e "$TMPDIR/diary/00000001" ]'
rm "$folder/devices/$gone"; mv "$TMPDIR/gone" "$folder/devices/$gone"
check 'U140 control: what a removed device wrote goes' \
    eval 'own sync && [ ! -e "$folder/devices/$gone" ] && equals "$(ls "$folder/devices" | sort)" "$(printf "%s\n" "$desk" "$laptop" | sort)"'
# The laptop lost its database, so its log has a gap at the end that its enclave knows. Its head stays until that end is reported anew, some ten
# seconds after keychaind was started.
cp "$folder/heads/$laptop" "$TMPDIR/head"
has_new_head() { vauban get bank/anna >/dev/null 2>&1; own sync; ! cmp -s "$TMPDIR/head" "$folder/heads/$laptop"; }
eventually has_new_head || { echo 'the laptop does not report a new head'; exit 1; }
# A link to a folder of the user that contains a file of that name.
mv "$folder/heads" "$TMPDIR/heads"; cp -a "$TMPDIR/heads" "$TMPDIR/letters"; ln -s "$TMPDIR/letters" "$folder/heads"
cp "$TMPDIR/letters/$laptop" "$TMPDIR/letter"; vauban get bank/anna >/dev/null 2>&1
check 'U140 it puts a link to a folder of yours in the place of one that the device writes to: refused' \
    eval 'ends 64 "heads is not a folder: the folder of vauban sync was altered" own sync && cmp "$TMPDIR/letter" "$TMPDIR/letters/$laptop"'
rm "$folder/heads"; mv "$TMPDIR/heads" "$folder/heads"
check 'U140 control: it writes there again' eval 'own sync && ! cmp -s "$TMPDIR/letter" "$folder/heads/$laptop"'

# A server joins by a token for only bank/bert; a thief has a copy of the token.
device keychain
check 'U95 a program of the user makes a token: refused' \
    eval 'ends 36 "" own sync token ci --item bank/anna && [ ! -s "$TMPDIR/out" ] && own sync status && ! grep -q "^Token" "$TMPDIR/out"'
with sync token ci --item bank/bert --file "$TMPDIR/token"
check 'U95 control: with the user it is made' eval 'own sync status && grep -q "^Token    ci " "$TMPDIR/out"'
new_device ci; with sync join "$folder" --token-file "$TMPDIR/token" || exit 1
first=$(basename "$folder"/join/*.4); mv "$folder/join/$first" "$TMPDIR/first"
new_device copier; with sync join "$folder" --token-file "$TMPDIR/token" || exit 1
second=$(basename "$folder"/join/*.4); mv "$folder/join/$second" "$TMPDIR/second"
# altered PLACE: the device is not admitted by a request with one altered byte.
altered() {
    cp "$TMPDIR/first" "$folder/join/$first"; last=$folder/join/$first; flip "$1"
    device keychain; ends 0 "is not admitted. The join request was altered" own sync && ! grep -q Admitted "$TMPDIR/err"
}
check 'U93 the carrier puts another encryption key into a join request: refused' altered 400
check 'U93 or another proof: refused' altered $(($(stat -c %s "$TMPDIR/first") - 1))
cp "$TMPDIR/first" "$folder/join/$first"
check 'U93 control: the unaltered request is admitted' \
    eval 'device keychain; ends 0 "Admitted ci" own sync && device ci && own sync && equals "$(vauban get bank/bert)" othervalue && ! vauban get bank/anna 2>/dev/null'
cp "$TMPDIR/second" "$folder/join/$second"
check 'U92 a copy of a used token: refused' \
    eval 'device keychain; ends 0 "The token was used already" own sync && device copier && ends 51 "its token was used already" own sync && ! vauban get bank/bert 2>/dev/null'
device keychain; with sync remove ci || exit 1
cp "$TMPDIR/first" "$folder/join/$first"; cp "$TMPDIR/second" "$folder/join/$second"
check 'U93 join requests are sent again after the removal: refused' \
    eval 'device keychain; ends 0 "The token was used already" own sync && ! grep -q Admitted "$TMPDIR/err" && own sync status && ! grep -q "^Companion  ci" "$TMPDIR/out"'
device keychain; with sync token late --item bank/bert --file "$TMPDIR/late-token"
device copier; own sync leave; with sync join "$folder" --token-file "$TMPDIR/late-token" && device keychain && own sync || exit 1
device ci; own sync leave; with sync join "$folder" --token-file "$TMPDIR/late-token" && device keychain && own sync
check 'U94 a copy of a token is used before the server uses it: succeeds' eval 'device copier; own sync && equals "$(vauban get bank/bert)" othervalue'
check 'U94 the server is refused and says so' eval 'device ci; ends 51 "its token was used already" own sync'

# The circle gets a recovery key. The thief is a removed device, which has read the folder until its removal and works with the carrier.
device keychain
check 'U124 a program of the user makes a recovery key: refused' eval 'ends 36 "" own sync recovery --make && [ ! -s "$TMPDIR/out" ]'
device laptop; own sync; device keychain; own sync
check 'U124 control: with the user it is made' eval 'with sync recovery --make && key=$(cat "$TMPDIR/out") && is_key "$key"'
made=$folder/circle/$(ls "$folder/circle" | tail -1); cp -a "$folder" "$TMPDIR/keyed"
new_device new
# by_key KEY: the new device joins by this key, with its user's passcode.
by_key() {
    setsid --wait "$VAUBAN_BUILD/vauban" sync join "$folder" --name new --recovery-key-fd 4 --passcode-fd 3 3<<<"$passcode" 4<<<"$1" </dev/null >"$TMPDIR/out" 2>"$TMPDIR/err"
}
wrong=000000${key#??????}; [ "$wrong" != "$key" ] || wrong=000011${key#??????}
check 'U125 whoever has the folder joins with another recovery key: refused' ends 64 'No circle in the folder has this recovery key' by_key "$wrong"
# The recovery key of another circle, whose statement the carrier puts in place of the one that made this key.
device other; own sync leave; rm -rf "$TMPDIR/foreign"; own sync new "$TMPDIR/foreign" --name desk && with sync recovery --make || exit 1
cp "$TMPDIR/foreign/circle/00000002" "$made"; device new
check "U126 the carrier exchanges the recovery key for one of its own circle: refused" ends 64 'No circle in the folder has this recovery key' by_key "$key"
again keyed
last=$made; flip 1200; device new
check 'U126 it alters the statement that made the key: refused' ends 64 'No circle in the folder has this recovery key' by_key "$key"
again keyed
# A removed device makes a recovery key in its own copy of the folder, and the carrier puts its statement where the members expect the next one.
device laptop; own sync; device keychain; with sync remove laptop || exit 1
rm -rf "$TMPDIR/mine"; cp -a "$TMPDIR/keyed" "$TMPDIR/mine"; device laptop; own sync --folder "$TMPDIR/mine"; with sync recovery --make && laptops=$(cat "$TMPDIR/out") || exit 1
cp -a "$folder" "$TMPDIR/removed"
next=$folder/circle/$(printf %08d $(($(ls "$folder/circle" | wc -l) + 1))); cp "$(ls "$TMPDIR/mine/circle/"* | tail -1)" "$next"
check 'U127 a removed device makes a recovery key for the others: refused' eval 'device keychain; ends 64 "is refused" own sync'
again removed
device new
check 'U127 and joins, or lets join, by it: refused' ends 64 'No circle in the folder has this recovery key' by_key "$laptops"
check 'U125 control: with the key and the folder a new device joins' eval 'by_key "$key" && own sync status && ! grep -q "^Device   laptop" "$TMPDIR/out"'
check 'U128 a thief of the paper joins after it was used: refused' eval 'device copier; own sync leave; ends 51 "was used already" by_key "$key"'
check 'U128 and the members are told of each joining' eval 'device keychain; ends 0 "new joined the circle by the recovery key" own sync'
# The carrier can help a removed device: it hides the removal from a device that joins by a recovery key from before it.
again keyed
check 'U129 a removed device is shown as a member to whoever joins by an older recovery key: succeeds, and its name is shown' \
    eval 'device copier; own sync leave; by_key "$key" && own sync status && grep -q "^Device   laptop" "$TMPDIR/out"'
again removed
check 'U129 no other device follows such a circle' eval 'device copier; ends 64 "an earlier state or altered" own sync'

# A program of the user can delete the state of synchronization, and restore the folder from before a deletion.
device other; own sync || exit 1
cp -a "$TMPDIR/foreign" "$TMPDIR/before"
vauban delete bank/anna; own sync || exit 1
rm -rf "$TMPDIR/foreign"; cp -a "$TMPDIR/before" "$TMPDIR/foreign"
check 'U86 the folder alone is put back: refused' eval 'ends 1 "lacks files of desk that were read before" own sync; ! vauban get bank/anna 2>/dev/null'
rm "$VAUBAN_HOME/sync/state"
check 'U86 a deleted item comes back, if a program of the user also removes the state: succeeds' eval 'own sync && equals "$(vauban get bank/anna)" "of another circle"'
end_attacks
