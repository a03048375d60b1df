#!/usr/bin/env bash
# Attacks by a program that can write the keychain's database, or the folder of vauban backup, before a scheduled run. Each check is an attack of
# Manual/attacks.md.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/attack-report.sh
folder=$TMPDIR/folder
secret='a passphrase of its own'
own() { setsid --wait "$VAUBAN_BUILD/vauban" "$@" </dev/null >"$TMPDIR/out" 2>"$TMPDIR/err"; }
with() { setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<"$secret" </dev/null >"$TMPDIR/out" 2>"$TMPDIR/err"; }
scheduled() { own backup --no-input --continue "$folder"; }
# ends STATUS TEXT COMMAND…: with this status and a line that has this text.
ends() { want=$1 text=$2; shift 2; "$@"; got=$?; [ $got = "$want" ] || { cat "$TMPDIR/err"; echo "    ended with $got, not $want"; return 1; }; says "$text" "$TMPDIR/err"; }
database=$VAUBAN_HOME/keychain/$(id -u)/keychain.db
stopped() { vauban stop >/dev/null 2>&1; "$@"; local status=$?; unlock; return $status; }
set_passcode
for name in anna bert; do printf "of $name" | vauban add "bank/$name" || exit 1; done
with backup "$folder/" || exit 1
check 'control: a scheduled run goes on by itself' ends 0 '2 unchanged' scheduled
check 'control: what is deleted leaves the backup' eval 'vauban delete bank/bert && ends 0 "1 unchanged" scheduled && ! says "keeps" "$TMPDIR/err" >/dev/null'

cp -r "$folder" "$TMPDIR/untouched"
stopped rm -f "$database" "$database-wal" "$database-shm"
check "U160 the keychain's database is deleted before a run: refused" ends 51 '1 of 1 item in the backup is gone' scheduled
check 'U160 and everything is still in the backup' eval 'with restore "$folder" && equals "$(vauban get bank/anna)" "of anna" && ends 0 Verified scheduled'

keep() { mkdir "$TMPDIR/before" && cp -p "$database"* "$TMPDIR/before/"; }
stopped keep || exit 1
printf newer | vauban set bank/anna --replace; scheduled || exit 1
restore_database() { rm -f "$database"*; cp -p "$TMPDIR/before/"* "$(dirname "$database")/"; }
stopped restore_database
check 'U161 the database of before is put back: refused' ends 51 'an earlier copy of the one that was backed up here last' scheduled
check 'U161 and what is newer is still in the backup' eval 'with restore "$folder" && equals "$(vauban get bank/anna)" newer && ends 0 Verified scheduled'

for part in "$folder"/segments/*; do
    python3 -c 'import sys
data = bytearray(open(sys.argv[1], "rb").read()); data[len(data) // 2] ^= 1; open(sys.argv[1], "r+b").write(data)' "$part" || exit 1
done
check 'U162 control: the damaged folder restores nothing' ends 64 'was altered' with restore "$folder"
# The parts were read when they were written, moments ago. Without that record they are read again, as after a week.
rm "$folder/memory"
check 'U162 control: a folder that remembers nothing is not continued by itself' ends 51 'What the backup remembers of the keychain is missing' scheduled
check 'U162 a part is altered: noticed and made again' \
    eval 'ends 0 "was damaged or missing, and is made again" own backup --accept-missing "$folder" && ends 0 "1 unchanged" with restore "$folder"'

lists() { rm -f "$folder/manifest" "$folder/manifest.previous"; }
printf 'of dora' | vauban add bank/dora; scheduled || exit 1
stopped rm -f "$database" "$database-wal" "$database-shm"
lists
check 'U163 the lists are deleted, and the database: refused' ends 51 'gone from the keychain' scheduled
check 'U163 and the parts are all there' \
    eval 'ends 0 "" with restore --damaged "$folder" && equals "$(vauban get bank/anna)" newer && equals "$(vauban get bank/dora)" "of dora" &&
        ends 0 "made again from its parts" scheduled && ends 0 "0 not restored" with restore "$folder"'
end_attacks
echo 'what is lost or altered before a scheduled run takes nothing from the backup'
