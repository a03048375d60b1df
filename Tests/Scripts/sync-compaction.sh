#!/usr/bin/env bash
# The files of a device are compacted as soon as every other device has read the rewritten ones, and not before; a run that is killed after any
# step loses nothing; a device that joins afterwards has everything, also while earlier files remain; so has one that is restored to an
# earlier state.
# limit: 900
set -u
. Tests/Scripts/lib/compacting.sh
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
there() { [ -e "$folder/devices/$desk/0000000$1" ] || fail "file $1 of the desk is missing"; }
gone() { [ ! -e "$folder/devices/$desk/0000000$1" ] || fail "file $1 of the desk was not removed"; }
record() { head -c 14 "$folder/devices/$desk/00000001" | grep -q "VAUBAN SYNC $1"; }
# everything NAME: the device has the newest values, and lacks the deleted item.
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

# The laptop does not synchronize. The desk plans the compaction, is killed after each step, and keeps its files.
changes 3
printf 'value 4' | vauban set s/first --replace 2>/dev/null; value='value 4' written=4
killed planned
for step in added rewritten ended; do killed "$step"; there 2; record 1 || fail 'the record was written too early'; done
changes 2
there 2
own 0 sync status; grep -q '^Kept .* of this device, until these devices have read them: laptop' "$TMPDIR/out" ||
    { cat "$TMPDIR/out"; fail 'status does not name the device for which files are kept'; }
printf 'copied then' >"$folder/devices/$desk/.copying"

# The laptop reads the files, and states that. A run that is killed then is continued, and no file is removed before the record is written.
sync laptop; everything laptop
device keychain; killed recorded; record 2 || fail 'there is no record of the compaction'; there 2
killed noted; there 2
killed removed 2; gone 2; gone 3; there 4
# A device joins while only some of the files are removed.
new_device phone; join phone laptop; there 4; everything phone
device keychain
for run in 1 2 3; do own 0 sync; done
gone 4; gone 5; there 1
[ -e "$folder/devices/$desk/.copying" ] || fail 'a file was removed that does not belong to the desk'
sync laptop; everything laptop; everything keychain
new_device tablet; join tablet laptop; everything tablet

# Devices that are restored to the state before all this, including the writer, continue reading after the gap.
for name in laptop keychain; do
    rm -rf "$TMPDIR/$name/sync"; cp -a "$TMPDIR/$([ $name = laptop ] && echo laptop || echo desk)-before" "$TMPDIR/$name/sync"
    sync $name; everything $name
done
for round in 1 2; do for name in keychain laptop phone tablet; do sync $name; everything $name; done; done

# Once more, with a record that replaces the earlier one: each device states at times what it has read.
first=$(sha256sum <"$folder/devices/$desk/00000001")
for round in 1 2 3; do
    device keychain; changes 3
    for name in laptop phone tablet; do sync $name; done
done
for round in 1 2 3; do for name in keychain laptop phone tablet; do sync $name; done; done
[ "$first" != "$(sha256sum <"$folder/devices/$desk/00000001")" ] || fail 'the files were not compacted again'
for name in keychain laptop phone tablet; do everything $name; done
# A member whose state of synchronization is lost.
rm "$TMPDIR/phone/sync/state"; sync phone; everything phone

# An incompletely copied folder: a rewritten file is missing. A device that has read it is not affected, and one that must read it waits.
last=$folder/devices/$desk/$(ls "$folder/devices/$desk" | sed -n 2p); mv "$last" "$TMPDIR/last"
sync laptop; everything laptop
rm "$TMPDIR/phone/sync/state"; sync phone 1; text "lacks the file $(basename "$last") of desk"
mv "$TMPDIR/last" "$last"
sync phone; everything phone; sync keychain; everything keychain
echo 'files are removed when every device has read the rewritten ones, and no device lacks anything'
