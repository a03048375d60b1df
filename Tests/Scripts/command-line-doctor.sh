#!/usr/bin/env bash
# vauban doctor: its output, exit codes and repairs, and restoring a database after the user typed the word.
set -u
. Tests/Scripts/lib/command-line.sh
command -v sqlite3 >/dev/null || command -v python3 >/dev/null || { echo 'neither sqlite3 nor python3 is here, to damage a database'; exit 77; }
set_passcode
printf one | vauban set one/item && printf two | vauban set two/item --require presence || fail 'set failed'
database=$VAUBAN_HOME/keychain/$(id -u)/keychain.db

# edit SQL: changes the database directly, as anyone with access to the file could.
edit() {
    if command -v sqlite3 >/dev/null; then sqlite3 "$database" "$1"; else
        python3 -c 'import sqlite3, sys; connection = sqlite3.connect(sys.argv[1]); connection.executescript(sys.argv[2]); connection.commit()' "$database" "$1"
    fi
}

expect_status 0 detached doctor
expect_text '2 items' "$TMPDIR/out"
expect_text '1 with the secret; 1 without' "$TMPDIR/out"
expect_text 'verified, with 2 items' "$TMPDIR/out"
expect_text 'everything is good' "$TMPDIR/out"
grep -q 'one/item\|two/item' "$TMPDIR/out" && fail 'the output names an item'
[ -s "$database.verified" ] || fail 'there is no copy'

# If no copy can be stored, the exit status reports it, since a timer reads no output.
mkdir -p "$database.verified.new/in the way"
expect_status 1 vauban doctor
expect_text 'none, since' "$TMPDIR/out"
expect_text 'no new copy was made' "$TMPDIR/out"
rm -r "$database.verified.new"
expect_status 0 vauban doctor

# While the keychain is locked, doctor neither prompts nor reports a fault.
vauban lock
expect_status 0 detached doctor
expect_text '2 items, locked' "$TMPDIR/out"
unlock

# A fault that can be repaired is repaired, and the exit status reports that something was found.
edit 'DELETE FROM lookup WHERE item = 1'
expect_status 44 vauban get one/item
expect_status 1 vauban doctor
expect_text 'item 1, class unlocked: some of its indexes were wrong' "$TMPDIR/out"
[ "$(vauban get one/item)" = one ] || fail 'the repaired item is not found'
expect_status 0 vauban doctor

# An item that cannot be decrypted is quarantined, and reported until it is deleted.
printf three | vauban set three/item || fail 'set failed'
expect_status 0 vauban doctor
edit "UPDATE item SET metadata = zeroblob(length(metadata)) WHERE id = 3"
expect_status 1 vauban doctor
expect_text 'its attributes cannot be decrypted' "$TMPDIR/out"
expect_text 'Set aside    1 item, since' "$TMPDIR/out"
expect_status 44 vauban get three/item
expect_status 1 vauban doctor
expect_text 'an item set aside returns when it opens again' "$TMPDIR/out"

# An intact database is never replaced.
expect_status 51 vauban doctor --restore --yes-restore
expect_text 'can be read' "$TMPDIR/err"
expect_status 64 vauban doctor --yes-restore

# A damaged database is replaced only after the user typed the word.
printf later | vauban set later/item && vauban delete one/item || fail 'set or delete failed'
vauban stop
rm -f "$database-wal" "$database-shm"
head -c 20000 /dev/zero >"$database"
unlock
expect_status 53 vauban get one/item
expect_status 53 vauban doctor
expect_text 'vauban doctor --restore' "$TMPDIR/err"
expect_status 36 detached doctor --restore
expect_text '--yes-restore' "$TMPDIR/err"
for answer in 'send yes' 'key enter' 'key ctrl-c'; do
    play "$VAUBAN_BUILD/vauban" doctor --restore >"$TMPDIR/out" <<STEPS
expect A verified copy of
expect are lost
expect COME BACK
expect Type restore
$answer
expect nothing was restored
STEPS
    [ $? = 128 ] || { cat "$TMPDIR/out"; fail "\"$answer\" is not cancelled"; }
done
expect_status 53 vauban get one/item
play "$VAUBAN_BUILD/vauban" doctor --restore >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'restore failed'; }
expect Type restore
send restore
expect is restored
STEPS
[ "$(vauban get one/item)" = one ] || fail 'the copy was not restored'
expect_status 44 vauban get later/item
cmp -s "$database.quarantined-1" <(head -c 20000 /dev/zero) || fail 'the damaged database was not kept'

# Erasing also deletes the copy.
vauban doctor >"$TMPDIR/out"
expect_status 0 vauban erase --yes-erase-everything --passcode-fd 3 3<<<"$passcode"
[ ! -e "$database.verified" ] || fail 'the copy remained after the keychain was erased'

# A secret that is too large for a keychain.
head -c 1048577 /dev/zero >"$TMPDIR/large"
expect_status 64 vauban set large/item <"$TMPDIR/large"
expect_text 'encrypt the file elsewhere and store its key in the keychain' "$TMPDIR/err"
# The output as JSON.
new_keychain
printf x | vauban add one/item 2>/dev/null || fail 'add failed'
json_is() { [ "$(/usr/bin/python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for part in sys.argv[2].split(): value = value[int(part)] if isinstance(value, list) else value[part]
print(json.dumps(value))' "$TMPDIR/out" "$1")" = "$2" ] || { cat "$TMPDIR/out"; fail "$1 is not $2"; }; }
expect_status 0 vauban doctor --json
json_is checked 1; json_is found 0; json_is good true; json_is findings '[]'; json_is putAside '[]'; json_is 'copy state' '"kept"'; json_is 'copy items' 1
expect_status 64 vauban doctor --json --restore
echo 'doctor finds, repairs and reports faults, and restores a database only after the user typed the word'
