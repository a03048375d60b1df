#!/usr/bin/env bash
# A disk of 4 MiB that is nearly full, and then full: the doctor measures before it copies and leaves nothing unfinished, and every other writer
# reports that the disk is full, loses nothing, leaves nothing, and works again when there is room.
set -u
[ "$(id -u)" = 0 ] || { echo 'it needs root, to mount a small disk'; exit 77; }
. Tests/Scripts/lib/own-mounts.sh
# shellcheck disable=SC2086
if [ -z "${VAUBAN_INSIDE:-}" ]; then VAUBAN_INSIDE=1 exec unshare $own_mounts "$0"; fi
disk=$TMPDIR/disk
mkdir -m 700 "$disk"
mount -t tmpfs -o size=4m,mode=700 tmpfs "$disk" || { echo 'it cannot mount here'; exit 77; }
. Tests/Scripts/lib/command-line.sh
export VAUBAN_HOME=$disk/keychain
trap 'vauban stop >/dev/null 2>&1; umount "$disk"' EXIT
new_keychain
set_passcode
unlock
database=$VAUBAN_HOME/keychain/$(id -u)/keychain.db
free() { stat -f -c '%a %S' "$disk" | { read -r blocks size; echo $((blocks * size)); }; }
# unfinished: there is no unfinished file of a writer.
unfinished() { [ -z "$(find "$disk" -name '*.new*')" ] || { find "$disk" -name '*.new*'; fail "an unfinished file was left after $1"; }; }
# full COMMAND...: it ends with 53, and reports the reason and the way out.
full() {
    expect_status 53 "$@"
    expect_text 'disk is full' "$TMPDIR/err"
    expect_text 'free some space' "$TMPDIR/err"
    unfinished "$*"
}

head -c 30000 /dev/urandom >"$TMPDIR/value"
printf first | vauban add first/item 2>/dev/null || fail 'add failed'
printf asks | vauban add asks/item --require presence || fail 'add failed'

# A backup in a folder of the disk, which the next run cannot add to.
folder=$disk/backup
vauban backup "$folder/" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<'a passphrase of its own' 2>/dev/null || fail 'backup failed'
cp -r "$folder" "$TMPDIR/folder"

# The doctor, with room: a copy of two items.
expect_status 0 vauban doctor
expect_text 'verified, with 2 items' "$TMPDIR/out"

# Nearly full: the copy would fit, and then nothing else could be written. So none is made, and the earlier one stays.
stored=0
while [ "$(stat -c %s "$database")" -lt 900000 ]; do
    vauban add "big/$stored" <"$TMPDIR/value" || fail 'add failed'
    stored=$((stored + 1))
    # The content of the log moves into the file when the rooms end.
    [ $((stored % 12)) != 0 ] || { vauban stop >/dev/null 2>&1; unlock; }
done
vauban stop >/dev/null 2>&1; unlock
head -c $(($(free) - $(stat -c %s "$database") - 500000)) /dev/zero >"$disk/ballast"
expect_status 1 vauban doctor
expect_text 'none, since the disk is full; free 1 MiB' "$TMPDIR/out"
expect_text 'with 2 items, is kept' "$TMPDIR/out"
expect_text 'no new copy was made' "$TMPDIR/out"
unfinished doctor
# No user is locked out: a wrong passcode is counted, and the right one unlocks.
vauban lock || fail 'lock failed'
expect_status 51 vauban unlock --passcode-fd 3 3<<<'a wrong guess'
unlock
# With room it keeps the new one.
rm "$disk/ballast"
expect_status 0 vauban doctor
expect_text "verified, with $((stored + 2)) items" "$TMPDIR/out"

# The remains of a killed doctor are removed when the rooms start again, before anything else needs the room.
vauban stop
for name in "$database.verified.new" "$database.verified.new-journal" "$database.new"; do head -c 100000 /dev/zero >"$name"; done
[ "$(vauban get first/item 2>/dev/null || { unlock; vauban get first/item; })" = first ] || fail 'the item is gone'
unfinished 'a start'

# Full to the last byte.
cat /dev/zero >"$disk/filler" 2>/dev/null
full vauban add more/item <"$TMPDIR/value"
full vauban set first/item --replace <"$TMPDIR/value"
full vauban copy first/item second/item
printf '[{"service": "batch", "account": "a", "secret": "%s"}]' "$(head -c 20000 /dev/zero | tr '\0' x)" >"$TMPDIR/batch"
full vauban add --json "$TMPDIR/batch"
full vauban export "$disk/export.vauban" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<'a passphrase of its own'
[ ! -e "$disk/export.vauban" ] && [ ! -e "$disk/export.vauban.partial" ] || fail 'a partial export was left'
full vauban backup "$disk/one.backup" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<'a passphrase of its own'
[ ! -e "$disk/one.backup" ] && [ ! -e "$disk/one.backup.partial" ] || fail 'a partial backup was left'
full vauban backup "$folder" --no-input
diff -r "$folder" "$TMPDIR/folder" || fail 'a folder of a backup was changed though the disk is full'
full vauban passcode change --passcode-fd 3 --new-passcode-fd 4 3<<<"$passcode" 4<<<'another passcode'
mkdir -p "$disk/tmp" 2>/dev/null
full env TMPDIR="$disk/tmp" "$VAUBAN_BUILD/vauban" ephemeral -- true
[ -z "$(ls -A "$disk/tmp")" ] || fail 'an ephemeral keychain was left'
full env VAUBAN_HOME="$disk/another" "$VAUBAN_BUILD/vauban" list
expect_status 1 vauban doctor
expect_text 'since the disk is full' "$TMPDIR/out"
unfinished doctor
# Existing items can be read.
[ "$(vauban get first/item)" = first ] || fail 'a full disk keeps an item from being read'
# An attempt that cannot be counted is refused, even with the right passcode.
vauban lock || fail 'lock failed'
full vauban unlock --passcode-fd 3 3<<<'a wrong guess'
full vauban unlock --passcode-fd 3 3<<<"$passcode"
# Rooms cannot start either, and report the reason to their callers.
vauban stop >/dev/null 2>&1
cat /dev/zero >>"$disk/filler" 2>/dev/null
full vauban get first/item

# There is room again, and nothing was lost.
rm "$disk/filler"
unlock
[ "$(vauban get first/item)" = first ] || fail 'an item was lost'
for ((index = 0; index < stored; index++)); do
    vauban get "big/$index" >"$TMPDIR/got"; status=$?
    [ "$status" = 0 ] || fail "item $index cannot be read: the status is $status"
    cmp "$TMPDIR/got" "$TMPDIR/value" || fail "item $index was lost"
done
[ "$(vauban list | wc -l)" = $((stored + 2)) ] || { vauban list; fail 'something was written that was refused'; }
expect_status 0 vauban export "$disk/export.vauban" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<'a passphrase of its own'
rm "$disk/export.vauban"
mount -o remount,size=8m "$disk" || fail 'the disk cannot be made larger'
expect_status 0 vauban doctor
printf changed | vauban set first/item --replace 2>/dev/null || printf changed | vauban set first/item || fail 'set failed'
[ "$(vauban get first/item)" = changed ] || fail 'it does not work again'
unfinished 'all of it'
echo "a full disk loses none of $stored items, leaves no unfinished file, and is reported"
