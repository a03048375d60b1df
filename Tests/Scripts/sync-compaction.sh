#!/usr/bin/env bash
# The files of a device are compacted as soon as every other one has read what was written again, and not before; a run that is killed after any
# step loses nothing; a device that joins afterwards has everything, also while files are still there; and so has one that is put back to before.
# limit: 900
set -u
. Tests/Scripts/lib/compacting.sh
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
there() { [ -e "$folder/devices/$desk/0000000$1" ] || fail "the file $1 of the desk is not there"; }
gone() { [ ! -e "$folder/devices/$desk/0000000$1" ] || fail "the file $1 of the desk is still there"; }
record() { head -c 14 "$folder/devices/$desk/00000001" | grep -q "VAUBAN SYNC $1"; }
# everything NAME: it has the newest of all, and what was deleted is not there.
everything() { has "$1" s/first "$value"; has "$1" s/old 'of the first file'; has "$1" s/laptop 'of the laptop'; lacks "$1" s/deleted; }

set_passcode
own 0 sync new "$folder" --name desk
new_device laptop; join laptop keychain; item s laptop 'of the laptop'; sync laptop
device keychain; item s old 'of the first file'; item s deleted 'of the first file'; item s first 'value 0'; sync keychain
desk=$(ls "$folder/heads"); own 0 sync status
desk=$(printf '%s\n' $desk | grep "^$(sed -n 's/^Device *desk *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")")
sync laptop; cp -a "$TMPDIR/laptop/sync" "$TMPDIR/laptop-before"
device keychain; vauban delete s/deleted --yes >/dev/null 2>&1; own 0 sync
cp -a "$TMPDIR/keychain/sync" "$TMPDIR/desk-before"

# The laptop is away. The desk plans, is killed after each step, and keeps its files.
changes 3
printf 'value 4' | vauban set s/first --replace 2>/dev/null; value='value 4' written=4
killed planned
for step in added rewritten ended; do killed "$step"; there 2; record 1 || fail 'there is a record too early'; done
changes 2
there 2
own 0 sync status; grep -q '^Kept .* of this device, for these until they have read on and say so: laptop' "$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'status does not say for whom files are kept'; }
printf 'copied then' >"$folder/devices/$desk/.copying"

# The laptop reads, and says so. What is killed then is continued, and no file goes before the record is there.
sync laptop; everything laptop
device keychain; killed recorded; record 2 || fail 'there is no record'; there 2
killed noted; there 2
killed removed 2; gone 2; gone 3; there 4
# A device joins while some are gone and others are not.
new_device phone; join phone laptop; there 4; everything phone
device keychain
for run in 1 2 3; do own 0 sync; done
gone 4; gone 5; there 1
[ -e "$folder/devices/$desk/.copying" ] || fail 'a file went that is none of the desk'
sync laptop; everything laptop; everything keychain
new_device tablet; join tablet laptop; everything tablet

# Devices that are put back to before all this, the writer too, read on behind the gap.
for name in laptop keychain; do
    rm -rf "$TMPDIR/$name/sync"; cp -a "$TMPDIR/$([ $name = laptop ] && echo laptop || echo desk)-before" "$TMPDIR/$name/sync"
    sync $name; everything $name
done
for round in 1 2; do for name in keychain laptop phone tablet; do sync $name; everything $name; done; done

# Once more, with a record in place of the record: each device says what it has read, now and then.
first=$(sha256sum <"$folder/devices/$desk/00000001")
for round in 1 2 3; do
    device keychain; changes 3
    for name in laptop phone tablet; do sync $name; done
done
for round in 1 2 3; do for name in keychain laptop phone tablet; do sync $name; done; done
[ "$first" != "$(sha256sum <"$folder/devices/$desk/00000001")" ] || fail 'the files were not compacted again'
for name in keychain laptop phone tablet; do everything $name; done
# A member that has the state of a device that read nothing.
rm "$TMPDIR/phone/sync/state"; sync phone; everything phone

# A half-copied folder: what was written again is missing. Who has read on is not concerned, and who joins waits.
last=$folder/devices/$desk/$(ls "$folder/devices/$desk" | sed -n 2p); mv "$last" "$TMPDIR/last"
sync laptop; everything laptop
rm "$TMPDIR/phone/sync/state"; sync phone 1; text "lacks the file $(basename "$last") of desk"
mv "$TMPDIR/last" "$last"
sync phone; everything phone; sync keychain; everything keychain
echo 'files go when everybody has read them, and nobody misses anything'
