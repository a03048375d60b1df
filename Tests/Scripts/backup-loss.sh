#!/usr/bin/env bash
# A folder of backups keeps items that the keychain lost, and forgets deleted ones; a run without the user stops when many items are missing.
# Damage in the folder is noticed and repaired, and the intact parts of a damaged backup restore. A run is tried again if its medium is absent.
# proves: C-059
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
command -v python3 >/dev/null || { echo 'there is no python3 here'; exit 77; }
secret='a passphrase of its own'
with() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<"$secret" </dev/null; }
own() { expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null; }
text() { expect_text "$1" "$TMPDIR/err"; }
no_text() { ! grep -qF -- "$1" "$TMPDIR/err" || { cat "$TMPDIR/err"; fail "there is \"$1\" in what was shown"; }; }
# altered FILE [PART]: changes one byte in its middle, or after this part of it; its size stays.
altered() {
    local place=$(($(stat -c %s "$1") / ${2:-2}))
    printf "$(printf '\\%03o' $(($(od -An -tu1 -j $place -N 1 "$1") ^ 1)))" | dd of="$1" bs=1 seek=$place conv=notrunc 2>/dev/null
}
database() { printf '%s' "$VAUBAN_HOME/keychain/$(id -u)/keychain.db"; }
# damage_oldest: cuts the row of the oldest item, which then does not open any more.
damage_oldest() {
    vauban stop >/dev/null 2>&1
    python3 -c 'import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("UPDATE item SET metadata = zeroblob(80) WHERE id = (SELECT min(id) FROM item)")
database.commit()' "$(database)" || fail 'the database could not be damaged'
    unlock
}
lose_database() { vauban stop >/dev/null 2>&1; rm -f "$(database)"*; unlock; }
device() { export VAUBAN_HOME=$TMPDIR/$1; }
trap 'for home in "$TMPDIR"/keychain "$TMPDIR"/new; do VAUBAN_HOME=$home vauban stop; done >/dev/null 2>&1' EXIT
set_passcode
for name in one two three; do printf "value of $name" | vauban add "$name/item" || fail 'add failed'; done

# The database is lost: no run mirrors that by itself, and the backup still brings everything back.
with 0 backup "$TMPDIR/folder/"
text '3 items backed up. Verified.'
lose_database
cp -a "$TMPDIR/folder" "$TMPDIR/untouched"
own 51 backup --no-input "$TMPDIR/folder"
diff -r "$TMPDIR/folder" "$TMPDIR/untouched" || fail 'a run that was refused has written'
text '3 of 3 items in the backup are gone from the keychain without having been deleted; nothing was backed up.'
text "vauban restore $TMPDIR/folder"
own 51 backup "$TMPDIR/folder"
# At a terminal it prompts, and continues only after yes. Missing items stay in the backup.
play "$VAUBAN_BUILD/vauban" backup "$TMPDIR/folder" >"$TMPDIR/shown" <<'STEPS'
expect Type yes to confirm:
send no
STEPS
[ $? = 128 ] || { cat "$TMPDIR/shown"; fail 'the user was not prompted'; }
printf 'value of four' | vauban add four/item
own 0 backup --accept-missing "$TMPDIR/folder"
text '3 items of the backup are gone from the keychain without having been deleted; the backup keeps them.'
text '1 item backed up'
own 0 backup --no-input "$TMPDIR/folder"
text 'the backup keeps them'
with 0 restore "$TMPDIR/folder"
text '3 items added, 0 replaced, 1 unchanged, 0 not restored.'
for name in one two three four; do [ "$(vauban get $name/item)" = "value of $name" ] || fail "$name/item did not come back"; done
own 0 backup --no-input "$TMPDIR/folder"
no_text 'without having been deleted'
# The same without a run in between: after the restore it continues by itself.
lose_database
with 0 restore "$TMPDIR/folder"
text '4 items added'
own 0 backup --no-input "$TMPDIR/folder"
text 'Verified'

# A deleted item is forgotten, and one that was lost with its row is kept.
vauban delete two/item || fail 'delete failed'
damage_oldest
own 0 backup --no-input "$TMPDIR/folder"
no_text 'without having been deleted'
# The next request that opens it finds it damaged, and sets it aside.
vauban list >/dev/null
own 0 backup --no-input "$TMPDIR/folder"
text '1 item of the backup is gone from the keychain without having been deleted; the backup keeps it.'
device new; new_keychain; set_passcode
with 0 restore "$TMPDIR/folder"
text '3 items added'
expect_status 44 vauban get two/item

# A keychain that is an earlier copy of itself: later changes in the backup are not replaced.
device keychain
with 0 restore "$TMPDIR/folder"
own 0 backup --no-input "$TMPDIR/folder"
vauban stop >/dev/null 2>&1
mkdir "$TMPDIR/earlier" && cp -p "$(database)"* "$TMPDIR/earlier/" || fail 'the database could not be copied'
unlock
printf changed | vauban set one/item --replace
own 0 backup --no-input "$TMPDIR/folder"
vauban stop >/dev/null 2>&1
rm -f "$(database)"*; cp -p "$TMPDIR/earlier/"* "$(dirname "$(database)")/"
unlock
own 51 backup --no-input "$TMPDIR/folder"
text 'The keychain is an earlier copy of the one that was backed up here last'
with 0 restore "$TMPDIR/folder"
text 'Replaced by the newer item of the backup: one/item'
[ "$(vauban get one/item)" = changed ] || fail 'the newer value did not come back'
own 0 backup --no-input "$TMPDIR/folder"

# A changed byte in a part. Each part is read again within a week: here the time of the last reading is unknown, so all are.
victim() { ls -S "$TMPDIR/folder/segments" | head -1; }
altered "$TMPDIR/folder/segments/$(victim)"
with 64 restore "$TMPDIR/folder"
text 'was altered'
text 'vauban restore --damaged'
rm "$TMPDIR/folder/memory"
# A folder without a record may belong to another keychain: that is reported once.
own 51 backup --no-input "$TMPDIR/folder"
text 'What the backup remembers of the keychain is missing or damaged'
own 0 backup --accept-missing "$TMPDIR/folder"
text 'A part of the backup was damaged or missing, and is made again: segments/'
with 0 restore "$TMPDIR/folder"
with 0 restore --damaged "$TMPDIR/folder"
text 'Nothing of the backup is damaged.'

# The intact parts of a damaged folder restore on another device, and missing ones are reported.
printf 'value of five' | vauban add five/item
own 0 backup --no-input "$TMPDIR/folder"
printf 'value of six' | vauban add six/item
own 0 backup --no-input "$TMPDIR/folder"
cp -a "$TMPDIR/folder" "$TMPDIR/half"
count=$(find "$TMPDIR/half/segments" -type f | wc -l)
[ "$count" -ge 3 ] || fail "there are only $count parts"
altered "$TMPDIR/half/segments/$(ls -t "$TMPDIR/half/segments" | head -1)"
device new; new_keychain; set_passcode
with 64 restore "$TMPDIR/half"
with 1 restore --damaged "$TMPDIR/half"
text 'Damaged: segments/'
text '1 item of the damaged parts is not here either.'
[ "$(vauban get five/item)" = 'value of five' ] || fail 'the intact items were not restored'
expect_status 44 vauban get six/item

# A damaged list: the earlier one and the parts replace it, and the next run writes it again.
device keychain
[ -e "$TMPDIR/folder/manifest.previous" ] || fail 'there is no earlier list'
altered "$TMPDIR/folder/manifest"
with 64 restore "$TMPDIR/folder"
text 'The file manifest of the backup was altered'
with 0 restore --damaged "$TMPDIR/folder"
text 'Damaged: the list.'
own 0 backup --no-input "$TMPDIR/folder"
text 'The list of the backup was damaged or missing, and was made again from its parts.'
with 0 restore "$TMPDIR/folder"
for list in manifest manifest.previous; do altered "$TMPDIR/folder/$list"; done
own 0 backup --no-input "$TMPDIR/folder"
with 0 restore "$TMPDIR/folder"
# With a damaged list and an altered part nobody knows what is in that part: it stays, and each run says so.
cp -a "$TMPDIR/folder" "$TMPDIR/unknown"; rm -f "$TMPDIR/unknown/manifest.previous"
part=$TMPDIR/unknown/segments/$(ls -S "$TMPDIR/unknown/segments" | head -1)
altered "$TMPDIR/unknown/manifest"; altered "$part"
for run in 1 2 3; do
    own 0 backup --no-input "$TMPDIR/unknown"
    text '1 altered file in the folder segments stays'
    [ -e "$part" ] || fail 'a part of unknown content was removed'
done
# The same if the list before can no longer be read: what only it may name stays until it was replaced.
altered "$TMPDIR/unknown/manifest"; rm -f "$TMPDIR/unknown/manifest.previous"; ln -s manifest.previous "$TMPDIR/unknown/manifest.previous"
own 0 backup --no-input "$TMPDIR/unknown"
[ -e "$part" ] || fail 'a part was removed although the list before could not be read'
own 0 backup --no-input "$TMPDIR/folder"
device new; new_keychain; set_passcode
with 0 restore "$TMPDIR/folder"
for name in four five six; do [ "$(vauban get $name/item)" = "value of $name" ] || fail "$name/item is lost"; done
expect_status 44 vauban get two/item

# The same for a file: a part of it is altered, and then its end.
device keychain
for name in one two three four; do head -c 1000000 /dev/urandom | vauban add large/$name || fail 'add failed'; done
with 0 backup "$TMPDIR/whole.backup"
cp "$TMPDIR/whole.backup" "$TMPDIR/part.backup"
altered "$TMPDIR/part.backup" 4
device new; new_keychain; set_passcode
with 64 restore "$TMPDIR/part.backup"
with 1 restore --damaged "$TMPDIR/part.backup"
text 'Damaged: a part of '
vauban get large/four >/dev/null || fail 'no item of the intact parts was restored'
expect_status 44 vauban get large/one
head -c $(($(stat -c %s "$TMPDIR/whole.backup") - 10)) "$TMPDIR/whole.backup" >"$TMPDIR/part.backup"
with 1 restore --damaged "$TMPDIR/part.backup"
text 'Damaged: everything after part'
for name in one two three four; do vauban get large/$name >/dev/null || fail 'the items before the damaged end were not restored'; done

# A medium that fails temporarily is not damage: nothing is removed, and the next run continues.
device keychain
own 0 backup --no-input "$TMPDIR/folder"
part=$TMPDIR/folder/segments/$(victim)
mv "$part" "$TMPDIR/part"; ln -s "$part" "$part"
own 53 backup --no-input "$TMPDIR/folder"
text 'cannot be read now'
[ -L "$part" ] || fail 'what could not be read was removed'
# Without a list neither: the part is only known by its file.
cp -a "$TMPDIR/folder" "$TMPDIR/unlisted"; rm -f "$TMPDIR"/unlisted/manifest*
other=$TMPDIR/unlisted/segments/$(basename "$part")
own 53 backup --no-input "$TMPDIR/unlisted"
text 'cannot be read now'
[ -L "$other" ] || fail 'what could not be read was removed, since there was no list'
rm "$part"; mv "$TMPDIR/part" "$part"
cp "$TMPDIR/folder/keybag" "$TMPDIR/keybag"
own 0 backup --no-input "$TMPDIR/folder"
no_text 'damaged or missing'
# The keys at its beginning are rewritten only if those of the keychain are.
cmp "$TMPDIR/folder/keybag" "$TMPDIR/keybag" || fail 'the keybag was replaced without need'

# Two devices on one folder: what one has written, the other must restore before it continues.
device new; new_keychain; set_passcode
with 0 restore "$TMPDIR/folder"
device keychain
printf again | vauban set one/item --replace
own 0 backup --no-input "$TMPDIR/folder"
device new
with 51 backup "$TMPDIR/folder"
text 'The keychain is not the one that was backed up here'
with 0 restore "$TMPDIR/folder"
[ "$(vauban get one/item)" = again ] || fail 'what the other device wrote did not come'
with 0 backup "$TMPDIR/folder"
device keychain
own 51 backup --no-input "$TMPDIR/folder"
text 'The keychain is not the one that was backed up here'
with 0 restore "$TMPDIR/folder"
own 0 backup --no-input "$TMPDIR/folder"

# What an incomplete restore left out is replaced by no later run without the user, also where this database was the last to back up.
printf 'value of a' | vauban add a/item
with 0 backup "$TMPDIR/early.backup"
vauban rename a/item b/item && printf 'later value' | vauban set b/item --replace || fail 'the item was not changed'
own 0 backup --no-input "$TMPDIR/folder"
vauban delete b/item --now --yes || fail 'delete failed'
with 0 restore "$TMPDIR/early.backup"
printf 'value of another b' | vauban add b/item
with 1 restore "$TMPDIR/folder"
text 'Not restored: b/item: another item here has its name, and was kept'
own 51 backup --no-input "$TMPDIR/folder"
text 'or was not restored completely'
[ "$(vauban get b/item)$(vauban get a/item)" = 'value of another bvalue of a' ] || fail 'an item here was replaced'
vauban delete b/item --now --yes || fail 'delete failed'
with 0 restore "$TMPDIR/folder"
[ "$(vauban get b/item)" = 'later value' ] || fail 'the item did not come back under its later name'
own 0 backup --no-input "$TMPDIR/folder"

# An altered part that is the only copy of an item is not removed by any later run.
device new; new_keychain; set_passcode
printf 'value of rot' | vauban add rot/item
with 0 backup "$TMPDIR/rot/"
part=$TMPDIR/rot/segments/$(ls "$TMPDIR/rot/segments")
altered "$part"
lose_database
own 51 backup --no-input "$TMPDIR/rot"
text '1 of 1 item in the backup is gone from the keychain'
own 0 backup --accept-missing "$TMPDIR/rot"
text '1 item of it is gone from the keychain too, and lost.'
for run in 1 2 3; do
    printf "value $run" | vauban add "more/$run"
    own 0 backup --no-input "$TMPDIR/rot"
    no_text 'and lost'
    [ -e "$part" ] || fail 'the last copy of an item was removed'
done

# Of two items of which a program always has one, and deletes and adds them in turn, one is in a backup, or the run says that it was too fast.
device keychain
printf 0 | vauban add churn/0 || fail 'add failed'
churn() {
    local number=0
    while :; do
        number=$((number + 1))
        printf "$number" | vauban add "churn/$((number % 2))"
        vauban delete "churn/$(((number + 1) % 2))" --now
    done
}
churn >/dev/null 2>&1 & churning=$!
with 0 backup "$TMPDIR/churn.backup"
kill "$churning"; wait "$churning" 2>/dev/null
cp "$TMPDIR/err" "$TMPDIR/churn.err"
device new; new_keychain; set_passcode
with 0 restore "$TMPDIR/churn.backup"
vauban get churn/0 >/dev/null 2>&1 || vauban get churn/1 >/dev/null 2>&1 || grep -qF 'kept changing' "$TMPDIR/churn.err" ||
    { cat "$TMPDIR/churn.err"; fail 'an item that was replaced during the run is in the backup in no form'; }

# An item that cannot be read is missing in a first backup, which says so.
device new; new_keychain; set_passcode
for name in one two; do printf "value of $name" | vauban add "$name/item" || fail 'add failed'; done
damage_oldest
with 0 backup "$TMPDIR/unread.backup"
text '1 item cannot be read and is not backed up'
text '1 item backed up. Verified.'

# The medium is away, or its mount point is empty: it is tried again, and nothing is written there.
device keychain
own 53 backup --no-input --continue "$TMPDIR/away"
text 'it may not be mounted'
[ ! -e "$TMPDIR/away" ] || fail 'a folder was made in the place of a medium'
mkdir "$TMPDIR/away"
own 53 backup --no-input --continue "$TMPDIR/away"
[ -z "$(find "$TMPDIR/away" -mindepth 1)" ] || fail 'something was written to an empty mount point'
own 36 backup --no-input "$TMPDIR/away"
[ -z "$(find "$TMPDIR/away" -mindepth 1)" ] || fail 'something was written to an empty mount point'
own 64 backup --continue --generate "$TMPDIR/folder"
own 0 backup --no-input --continue "$TMPDIR/folder"

# On a terminal a run and a restore show their progress.
printf 'value of more' | vauban add more/item || fail 'add failed'
play "$VAUBAN_BUILD/vauban" backup "$TMPDIR/folder" >"$TMPDIR/shown" <<'STEPS' || { cat "$TMPDIR/shown"; fail 'a backup on a terminal shows no progress'; }
expect Backing up: 0 of 1
expect 1 item backed up
STEPS
play "$VAUBAN_BUILD/vauban" restore "$TMPDIR/folder" >"$TMPDIR/shown" <<STEPS || { cat "$TMPDIR/shown"; fail 'a restore on a terminal shows no progress'; }
expect Passphrase of the backup (
secret $secret
expect Verifying the backup
expect Restoring: 0 of
STEPS
echo 'a backup keeps lost items, notices damage, and waits for an absent medium'
