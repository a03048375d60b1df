#!/usr/bin/env bash
# A backup restores on another device all items that may leave this one, and on this one also the others; what is damaged restores nothing; a
# restore merges by date, and a kill at any point loses nothing.
# proves: C-058 C-059 C-063 C-092
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
command -v python3 >/dev/null || { echo 'there is no python3 here'; exit 77; }
secret='a passphrase of its own'
# described NAME...: the description of an item, without its last uses, which are of this keychain.
described() {
    for name in "$@"; do
        vauban show "$name" --json | python3 -c 'import json, sys; item = json.load(sys.stdin); item.pop("lastRead", 0); item.pop("lastChanged", 0); print(item)'
        vauban get "$name" | sha256sum
    done
}
# with STATUS COMMAND...: with passcode and passphrase on descriptors, without a terminal.
with() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<"$secret" </dev/null; }
text() { expect_text "$1" "$TMPDIR/err"; }
own() { expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null; }
# device NAME: another set of rooms with other device keys.
device() { export VAUBAN_HOME=$TMPDIR/$1; }
names='github/anna bytes/x empty/x large/x late/x rich/r'
trap 'for home in "$TMPDIR"/keychain "$TMPDIR"/new "$TMPDIR"/third "$TMPDIR"/first; do VAUBAN_HOME=$home vauban stop; done >/dev/null 2>&1' EXIT

set_passcode
printf 'of github' | vauban add github/anna || fail 'add failed'
printf 'a\0b\377\n' | vauban add bytes/x --keep-newline
vauban add empty/x --empty
head -c 1048576 /dev/urandom | vauban add large/x
printf late | vauban add late/x --when after-first-unlock
printf here | vauban add here/x --this-device
printf '{"service":"rich","account":"r","secret":"s","comment":"c","generic":{"base64":"AP8="},"creator":1635017060,"isInvisible":true,"description":"d"}' |
    vauban add --json - 2>/dev/null || fail 'add --json failed'
printf asks | vauban add asks/x --require presence
vauban ssh new work/key >/dev/null 2>&1 || fail 'no key could be made'
described $names >"$TMPDIR/before"

# Items that leave the device, and items that stay and are named.
with 0 backup "$TMPDIR/one.backup"
text '7 items backed up, 2 not in the backup. Verified.'
text 'Not in the backup: asks/x: it has an access control'
grep -q 'Not in the backup: .*: the key is in the enclave of this device' "$TMPDIR/err" || fail 'the key of the enclave is not named'
[ "$(stat -c %a "$TMPDIR/one.backup")" = 600 ] || fail 'others can read the backup'
grep -aqE 'github|anna|of github|rich' "$TMPDIR/one.backup" && fail 'the backup is not encrypted'
with 64 backup "$TMPDIR/one.backup"
text 'already exists'
# It prompts the user, and without consent nothing is written.
expect_status 51 setsid --wait "$VAUBAN_BUILD/vauban" backup "$TMPDIR/none" --passcode-fd 3 --passphrase-fd 4 3<<<'not the passcode' 4<<<"$secret" </dev/null
expect_status 36 setsid --wait "$VAUBAN_BUILD/vauban" backup "$TMPDIR/none" --passphrase-fd 4 4<<<"$secret" </dev/null
secret=short
with 64 backup "$TMPDIR/none"
secret='a passphrase of its own'
[ ! -e "$TMPDIR/none" ] && [ ! -e "$TMPDIR/none.partial" ] || fail 'a refused backup left a file'

# The same device: nothing to do, and after the loss of the database everything, with what stays on it.
with 0 restore "$TMPDIR/one.backup"
text '0 items added, 0 replaced, 7 unchanged, 0 not restored.'
vauban stop >/dev/null 2>&1
rm -f "$VAUBAN_HOME/keychain/$(id -u)/"keychain.db*
with 0 restore "$TMPDIR/one.backup"
text '7 items added, 0 replaced, 0 unchanged, 0 not restored.'
described $names | diff "$TMPDIR/before" - || fail 'the restored items differ from the earlier ones on this device'
[ "$(vauban get here/x)" = here ] || fail 'what stays on this device did not come back on it'

# A new device: everything but that, which is named.
device new; new_keychain; set_passcode
with 1 restore "$TMPDIR/one.backup"
text '6 items added, 0 replaced, 0 unchanged, 1 not restored.'
text 'Not restored: here/x: it stays on the device where it was backed up'
described $names | diff "$TMPDIR/before" - || fail 'the items on a new device differ from those of the backup'
expect_status 44 vauban get here/x
for name in asks/x work/key; do expect_status 44 vauban get "$name"; done
with 1 restore "$TMPDIR/one.backup"
text '0 items added, 0 replaced, 6 unchanged, 1 not restored.'

# By date: what is newer here stays, what is older is replaced and kept in the history, deleted items return.
printf newer | vauban set github/anna --replace
vauban delete late/x
with 1 restore "$TMPDIR/one.backup"
text '1 item added, 0 replaced, 4 unchanged, 2 not restored.'
text 'Not restored: github/anna: the item here is newer'
[ "$(vauban get github/anna)" = newer ] || fail 'a newer item was replaced'
[ "$(vauban get late/x)" = late ] || fail 'a deleted item did not come back'
with 0 backup "$TMPDIR/two.backup"
device keychain
with 0 restore "$TMPDIR/two.backup"
text '0 items added, 1 replaced, 5 unchanged, 0 not restored.'
[ "$(vauban get github/anna)" = newer ] || fail 'an older item was not replaced'
vauban history github/anna >"$TMPDIR/out" 2>&1 && vauban undo github/anna >/dev/null 2>&1 || fail 'the replaced value is not in the history'
[ "$(vauban get github/anna)" = 'of github' ] || fail 'the history has another value'

# Bad input: nothing is restored of it.
device third; new_keychain; set_passcode
refused() { with "$1" restore "$2"; text "$3"; vauban list 2>&1 | grep -q 'No items yet' || fail "something of $2 was restored"; }
secret='another passphrase'; refused 51 "$TMPDIR/one.backup" 'passphrase of the backup is wrong'; secret='a passphrase of its own'
size=$(stat -c %s "$TMPDIR/one.backup")
for cut in 0 10 18 40 $((size / 2)) $((size - 1)) $((size - 200)); do
    head -c $cut "$TMPDIR/one.backup" >"$TMPDIR/cut"
    refused 64 "$TMPDIR/cut" "$([ $cut -lt 16 ] && echo 'not a backup' || echo 'cut off')"
done
for place in $((size / 2)) $((size - 1)); do
    cp "$TMPDIR/one.backup" "$TMPDIR/cut"
    printf "$(printf '\\%03o' $(($(od -An -tu1 -j $place -N 1 "$TMPDIR/cut") ^ 1)))" | dd of="$TMPDIR/cut" bs=1 seek=$place conv=notrunc 2>/dev/null
    refused 64 "$TMPDIR/cut" 'was altered'
done
cat "$TMPDIR/one.backup" "$TMPDIR/one.backup" >"$TMPDIR/cut"; refused 64 "$TMPDIR/cut" 'after the end'
sed '1s/BACKUP 1/BACKUP 2/' "$TMPDIR/one.backup" >"$TMPDIR/cut"; refused 64 "$TMPDIR/cut" 'later version'
head -c 100000 /dev/urandom >"$TMPDIR/cut"; refused 64 "$TMPDIR/cut" "$TMPDIR/cut is not a backup of vauban backup"
refused 64 "$TMPDIR/absent" 'No such file'
# Paths of one character, and paths without a folder.
mkdir "$TMPDIR/here"
(
    cd "$TMPDIR/here" || exit 1
    for path in x xy x/ '~' ''; do refused 64 "$path" 'No such file'; done
    for path in . /; do refused 64 "$path" 'not a folder of vauban backup'; done
) || exit 1

# A folder: the second run needs no user and writes only changes.
device keychain
# Markers of other programs are no content and stay. Other content is refused, and so is a backup that a program copies here under
# hidden names.
mkdir -p "$TMPDIR/folder/.stfolder" "$TMPDIR/folder/.git" "$TMPDIR/folder/lost+found" "$TMPDIR/arriving"
for name in .stfolder/x .stignore .git/config lost+found/1 notes; do echo "$name" >"$TMPDIR/folder/$name"; done
echo x >"$TMPDIR/arriving/.keybag.Ab12Cd"
for name in folder arriving; do with 64 backup "$TMPDIR/$name"; text 'not a folder of vauban backup'; done
rm "$TMPDIR/folder/notes"
sums() { find "$@" -type f -exec sha256sum {} + 2>/dev/null | LC_ALL=C sort -k 2; }
marked() { (cd "$TMPDIR/folder" && sums .st* .git lost+found segments/.[!.]*); }
before=$(marked)
with 0 backup "$TMPDIR/folder/"
text '7 items backed up. Verified.'
first=$(find "$TMPDIR/folder/segments" -type f | sort)
(
    cd "$TMPDIR/here" || exit 1
    with 0 backup x; text '7 items backed up'
    with 0 restore x; text '0 items added, 0 replaced, 7 unchanged, 0 not restored.'
    cd "$TMPDIR/folder" || exit 1
    for part in manifest segments/x; do with 64 restore "$part"; text 'restore its folder: vauban restore .'; done
) || exit 1
own 0 backup "$TMPDIR/folder"
text '0 items backed up, 7 unchanged'
[ "$(find "$TMPDIR/folder/segments" -type f | sort)" = "$first" ] || fail 'unchanged items were written again'
printf changed | vauban set late/x --replace; vauban delete bytes/x
own 0 backup "$TMPDIR/folder"
text '1 item backed up, 5 unchanged'
own 64 backup "$TMPDIR" ; text 'not a folder of vauban backup'
# The remains of a killed run are removed by the next one.
head -c 1000 /dev/zero >"$TMPDIR/folder/segments/abc.partial"
echo x >"$TMPDIR/folder/segments/.syncthing.abc.tmp"
before=$before$'\n'$(cd "$TMPDIR/folder" && sums segments/.syncthing.abc.tmp)
own 0 backup "$TMPDIR/folder"
[ ! -e "$TMPDIR/folder/segments/abc.partial" ] || fail 'a part of a killed run was left'
[ "$(marked)" = "$before" ] || fail 'files of another program were changed or removed'
rm "$TMPDIR/folder/segments/.syncthing.abc.tmp"
device third
cp -r "$TMPDIR/folder" "$TMPDIR/half"
victim=$(ls -S "$TMPDIR/half/segments" | head -1)
truncate -s 1000 "$TMPDIR/half/segments/$victim"; refused 64 "$TMPDIR/half" 'incomplete or was altered'
rm "$TMPDIR/half/segments/$victim"; refused 64 "$TMPDIR/half" 'is missing'
rm "$TMPDIR/half/manifest"; refused 64 "$TMPDIR/half" 'manifest of the backup is missing'
refused 64 "$TMPDIR/folder/keybag" "restore its folder: vauban restore $TMPDIR/folder"
refused 64 "$TMPDIR/half/segments/x" "restore its folder: vauban restore $TMPDIR/half"
rm "$TMPDIR/half/keybag"; refused 64 "$TMPDIR/half" 'not a folder of vauban backup'
# A folder whose copy has no keys yet is not begun anew.
mkdir "$TMPDIR/copying" && cp -r "$TMPDIR/folder/segments" "$TMPDIR/copying/"
with 64 backup "$TMPDIR/copying"; text 'not a folder of vauban backup'
diff -r "$TMPDIR/folder/segments" "$TMPDIR/copying/segments" || fail 'segments without their keys were removed'
with 1 restore "$TMPDIR/folder"
text '5 items added, 0 replaced, 0 unchanged, 1 not restored.'
[ "$(vauban get late/x)" = changed ] || fail 'the folder has an earlier value'
expect_status 44 vauban get bytes/x
# Another device cannot add to it without its passphrase.
own 51 backup "$TMPDIR/folder"
text 'without its passphrase'
# Nor with it, unless the user says so: an item was left out, so the keychain does not have everything of the backup.
with 51 backup "$TMPDIR/folder"
text 'gone from the keychain without having been deleted'
# The segment that a copy lost is written again.
device keychain
rm "$TMPDIR/folder/segments/$(ls -S "$TMPDIR/folder/segments" | head -1)"
own 0 backup "$TMPDIR/folder"
text 'Verified'
device third; with 1 restore "$TMPDIR/folder"
# A locked keychain is not backed up without the passcode.
device keychain; vauban lock
own 36 backup "$TMPDIR/folder"

# After a kill at any point, a restore can be run again and a backup is complete.
unlock
for number in $(seq 300); do printf '{"service":"many","account":"%s","secret":"value %s"}\n' "$number" "$number"; done | python3 -c 'import json, sys
print(json.dumps([json.loads(line) for line in sys.stdin]))' >"$TMPDIR/many.json"
vauban add --json "$TMPDIR/many.json" >/dev/null 2>&1 || fail 'add --json failed'
# killed_within SECONDS WORDS...: vauban, killed at a random instant within this time. False if it ended before.
killed_within() {
    { timeout -s KILL "$(python3 -c "import random; print(random.random() * $1)")" "$VAUBAN_BUILD/vauban" "${@:2}" 4<<<"$secret" </dev/null >/dev/null; } 2>/dev/null
    [ $? = 137 ]
}
# kill_six WORDS...: repeats vauban until six runs were killed; a run that ended by itself shortens the time for the next one. The last
# round's number is in $round.
kill_six() {
    local killed=0 window=1.5
    round=0
    while [ $killed -lt 6 ]; do
        round=$((round + 1))
        [ $round -le 200 ] || fail "only $killed of $round runs could be killed"
        printf "round $round" | between_rounds
        if killed_within $window "$@"; then killed=$((killed + 1)); else window=$(python3 -c "print($window * 0.8)"); fi
    done
}
between_rounds() { vauban set many/1 --replace; }
kill_six backup "$TMPDIR/folder"
last=$round
own 0 backup "$TMPDIR/folder"
find "$TMPDIR/folder" -name '*.partial' | grep -q . && fail 'parts of killed runs were not removed'
device new; new_keychain; set_passcode
between_rounds() { cat >/dev/null; }
kill_six restore "$TMPDIR/folder" --passphrase-fd 4
with 1 restore "$TMPDIR/folder"
with 1 restore "$TMPDIR/folder"
text '0 items added, 0 replaced, 305 unchanged, 1 not restored.'
for number in 2 150 300; do [ "$(vauban get many/$number)" = "value $number" ] || fail "many/$number is lost"; done
[ "$(vauban get many/1)" = "round $last" ] || fail 'the last change is not in the backup'
# A first run that is killed while it writes is continued by the next one, without a user.
device first; new_keychain; set_passcode
for number in $(seq 24); do head -c 200000 /dev/urandom | base64 -w0 | vauban add "large/$number" || fail 'a large item was not added'; done
# With commands of the shell alone, since the run may end while another program starts.
has_begun() { local file; for file in "$TMPDIR/begun/segments"/*; do [[ ! -e $file || $file == *partial* ]] || return 0; done; return 1; }
for attempt in $(seq 60); do
    rm -rf "$TMPDIR/begun"
    setsid "$VAUBAN_BUILD/vauban" backup "$TMPDIR/begun/" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<"$secret" </dev/null >/dev/null 2>&1 &
    run=$!
    until has_begun; do kill -0 $run 2>/dev/null || break; done
    kill -KILL $run 2>/dev/null
    wait $run 2>/dev/null
    [ -e "$TMPDIR/begun/manifest" ] || break
done
[ -n "$(ls "$TMPDIR/begun/segments")" ] && [ ! -e "$TMPDIR/begun/manifest" ] || fail "no first run of $attempt was killed while it wrote"
own 0 backup "$TMPDIR/begun"
own 0 backup "$TMPDIR/begun"; text '24 unchanged'

# A value that a restore replaces is in the history, also if the user keeps none.
printf older | vauban add s/kept
own 0 backup "$TMPDIR/begun"
device third; new_keychain; set_passcode
with 0 restore "$TMPDIR/begun"
device first; printf newer | vauban set s/kept --replace; own 0 backup "$TMPDIR/begun"
device third; own 0 settings --history off
with 0 restore "$TMPDIR/begun"
[ "$(vauban get s/kept)" = newer ] || fail 'the restore did not replace the older value'
[ "$(vauban history s/kept --show 1)" = older ] || fail 'what the restore replaced is not in the history'
# A restore that brings only another comment keeps nothing.
device first; own 0 edit s/kept --comment 'only a comment'; own 0 backup "$TMPDIR/begun"
device third; with 0 restore "$TMPDIR/begun"
text '1 replaced'
vauban show s/kept | grep -q 'only a comment' || fail 'the restore did not bring the comment'
expect_status 0 vauban history s/kept --show 1; [ "$(vauban history s/kept --show 1)" = older ] || fail 'a comment displaced a value'
vauban history s/kept --show 2 >/dev/null 2>&1 && fail 'a restore of a comment is in the history'
echo 'backups restore on the same and on a new device, and twelve killed runs lost nothing'
