#!/usr/bin/env bash
# Attacks by the carrier of the folder of vauban sync with the records that replace earlier files. Each check is an attack of Manual/attacks.md.
# limit: 600
set -u
. Tests/Scripts/lib/compacting.sh
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
. Tests/Scripts/lib/attack-report.sh
# ends STATUS TEXT: a run on the phone, without stored state of the folder, ends with this status and prints this text.
ends() {
    device phone; rm -f "$VAUBAN_HOME/sync/state"; "$VAUBAN_BUILD/vauban" sync --no-input </dev/null >"$TMPDIR/out" 2>"$TMPDIR/err"; got=$?
    [ $got = "$1" ] || { cat "$TMPDIR/err"; echo "    ended with $got, not $1"; return 1; }; says "$2" "$TMPDIR/err"
}
flip() { printf "$(printf '\\%03o' $(($(od -An -tu1 -j "$1" -N 1 "$first") ^ 1)))" | dd of="$first" bs=1 seek="$1" conv=notrunc 2>/dev/null; }
again() { cp "$TMPDIR/record" "$first"; }

set_passcode
own 0 sync new "$folder" --name desk; item s old 'of the first file'; item s first 'value 0'; own 0 sync
desk=$(ls "$folder/heads")
new_device phone; join phone keychain
device keychain
cp "$folder/devices/$desk/00000001" "$TMPDIR/first"
changes 6
first=$folder/devices/$desk/00000001
# The carrier removes files as if there were a record, and forges that statement of the desk.
mkdir "$TMPDIR/kept"; mv "$folder/devices/$desk/"0000000[2-4] "$TMPDIR/kept/"
printf 'VAUBAN SYNC 2\n' | cat - <(tail -c +15 "$TMPDIR/first") >"$first"
check 'U170 the carrier makes a record, to remove what a device has not read: refused' ends 1 'of desk is incomplete, or was altered'
cp "$TMPDIR/first" "$first"
check 'U171 it removes files without a record: noticed' ends 1 'lacks the file 00000002 of desk'
mv "$TMPDIR/kept/"* "$folder/devices/$desk/"
check 'U170 control: the files themselves are read' ends 0 'received'
# The phone has read everything and states that. The desk makes its record and removes its files.
sync phone; for run in 1 2 3 4; do sync keychain; done
check 'U170 control: there is a record, and the phone reads on behind it' \
    eval 'head -c 14 "$first" | grep -q "VAUBAN SYNC 2" && ends 0 received && has phone s/first "$value" && has phone s/old "of the first file"'
cp "$first" "$TMPDIR/record"
for place in 15 30 90 2000; do flip $place; check "U170 it changes a record: refused ($place)" ends 1 'of desk is incomplete, or was altered'; again; done
truncate -s 60 "$first"; check 'U170 it cuts a record: refused' ends 1 'of desk is incomplete, or was altered'; again
# Another device's record, and another circle's.
phone=$(ls "$folder/devices" | grep -v "$desk")
mkdir -p "$folder/devices/$phone"; [ ! -e "$folder/devices/$phone/00000001" ] || mv "$folder/devices/$phone/00000001" "$TMPDIR/phones"
cp "$TMPDIR/record" "$folder/devices/$phone/00000001"
check "U170 it puts a record in the place of another device's file: refused" ends 1 'of phone is incomplete, or was altered'
rm "$folder/devices/$phone/00000001"; [ ! -e "$TMPDIR/phones" ] || mv "$TMPDIR/phones" "$folder/devices/$phone/00000001"
# The rewritten files are withheld, or the record is.
next=$folder/devices/$desk/$(ls "$folder/devices/$desk" | sed -n 2p); mv "$next" "$TMPDIR/next"
check 'U171 it holds back what was written again: noticed, and nothing behind it is read' ends 1 "lacks the file $(basename "$next") of desk"
mv "$TMPDIR/next" "$next"
rm "$first"; check 'U171 it holds back a record: noticed' ends 1 'lacks the file 00000001 of desk'; again
cp "$TMPDIR/first" "$first"; check 'U171 it puts the first file back in its place: noticed' ends 1 'lacks the file 00000002 of desk'; again
check 'U171 control: the unaltered record is read' eval 'ends 0 received && has phone s/first "$value"'
# A later record is exchanged for the earlier one.
device keychain; changes 7; ends 0 received; sync phone; for run in 1 2 3 4; do sync keychain; done
cmp -s "$first" "$TMPDIR/record" && { echo 'there is no second record'; exit 1; }
cp "$first" "$TMPDIR/second"; again
check 'U172 it puts back an earlier record: noticed' ends 1 'lacks the file'
check 'U172 and who has read on is not concerned' eval 'device keychain; own 0 sync; has keychain s/first "$value"'
cp "$TMPDIR/second" "$first"
check 'U172 control: the later one is read' eval 'ends 0 received && has phone s/first "$value" && has phone s/old "of the first file"'
end_attacks
