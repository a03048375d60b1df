#!/usr/bin/env bash
# vauban log on the command line: what is recorded, filters, JSON, the journal of the rooms, and a log that was tampered with.
set -u
. Tests/Scripts/lib/command-line.sh

printf one | vauban set github/anna 2>/dev/null || fail 'set failed'
vauban get github/anna >/dev/null && vauban get github/anna >/dev/null || fail 'get failed'
printf two | vauban set github/anna --replace 2>/dev/null
printf three | vauban set mail/bert 2>/dev/null
vauban delete mail/bert || fail 'delete failed'

expect_status 0 vauban log
cut -f2,3 "$TMPDIR/out" | sed 's/, [0-9]* times//' | uniq >"$TMPDIR/uses"
printf 'github/anna\tadded\ngithub/anna\tread\ngithub/anna\tchanged\nmail/bert\tadded\nmail/bert\tdeleted\n' | cmp -s - "$TMPDIR/uses" ||
    { cat "$TMPDIR/out"; fail 'the log differs'; }
grep -qE $'^20[0-9-]+ [0-9:]+\t' "$TMPDIR/out" || fail 'a line has no date'
grep -qE 'one|two|three' "$TMPDIR/out" && fail 'the log shows a secret'

# Filters.
expect_status 0 vauban log mail
[ "$(cut -f2 "$TMPDIR/out" | sort -u)" = mail/bert ] || { cat "$TMPDIR/out"; fail 'the uses of one service differ'; }
expect_status 0 vauban log github/anna --action changed
[ "$(wc -l <"$TMPDIR/out")" = 1 ] || { cat "$TMPDIR/out"; fail 'one change is not shown as one line'; }
expect_status 0 vauban log --limit 1
grep -q deleted "$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'the last use is not the last line'; }
expect_status 0 vauban log --since 4000000000
grep -q 'No use matches' "$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'a search without matches is not reported'; }
expect_status 0 vauban log --refused
[ ! -s "$TMPDIR/out" ] || fail 'a use is shown as refused'
expect_status 64 vauban log --limit 0
expect_status 64 vauban log --since yesterday
for time in 2d 15min 2026-01-01; do expect_status 0 vauban log --since $time; [ -s "$TMPDIR/out" ] || fail "no use is shown since $time"; done
expect_status 64 vauban log --action reading
expect_status 0 vauban log github/anna --json
python3 -c '
import itertools, json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert [action for action, _ in itertools.groupby(lines, lambda line: line["action"])] == ["added", "read", "changed"], lines
# Reads that are written together are one line.
assert sum(line["count"] for line in lines if line["action"] == "read") == 2, lines
assert lines[1]["item"] == "github/anna" and lines[1]["outcome"] == "done", lines
assert all("program" not in line for line in lines), "user mode names a program"
' "$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'the JSON differs'; }

# A use is shown while it happens.
exec 4< <(exec "$VAUBAN_BUILD/vauban" log github/anna --follow --limit 1 --action read 2>/dev/null)
followed=$!
read -r -t "$hang_seconds" line <&4 || fail 'the earlier reads are not shown'
vauban get github/anna >/dev/null
read -r -t "$hang_seconds" line <&4 || fail 'a read was not shown while it happened'
kill $followed; exec 4<&-

# The end of the log, signed: kept elsewhere, and compared with the log later. Another reader verifies the signature.
expect_status 0 vauban log --head
cp "$TMPDIR/out" "$TMPDIR/head"
expect_status 0 vauban log --head --json
PYTHONPATH=Vectors /usr/bin/python3 -B - "$TMPDIR/out" "$TMPDIR/head" <<'PYTHON' || fail 'the independent reader does not verify the head'
import json, sys
from second_reader.heads import log_head
shown, note = json.load(open(sys.argv[1])), open(sys.argv[2], 'rb').read()
fields = log_head(note, {'key': shown['keys'][0]})
assert fields['number'] == str(shown['record']) and shown['note'].encode() == note and shown['log'].startswith('vauban-access-log-v1/'), shown
PYTHON
expect_status 0 vauban log --verify "$TMPDIR/head"
expect_text 'The log ends as it was signed' "$TMPDIR/err"
vauban get github/anna >/dev/null
expect_status 0 vauban log --verify - <"$TMPDIR/head"
expect_text 'as it was signed, and 1 log record after it' "$TMPDIR/err"
sed 2s/.*/1/ "$TMPDIR/head" >"$TMPDIR/altered"
expect_status 64 vauban log --verify "$TMPDIR/altered"
expect_status 64 vauban log --verify /dev/null
expect_status 64 vauban log --verify "$TMPDIR/nothing"
expect_status 64 vauban log --head --limit 3
expect_status 64 vauban log --cosigned
expect_status 64 vauban log --head --cosigned; expect_text 'in no circle' "$TMPDIR/err"

# While the keychain is locked, nothing is shown; and the database, which this user can read here, contains no name.
set_passcode
vauban lock || fail 'lock failed'
expect_status 36 detached log
expect_status 36 detached log --head
expect_status 36 detached log --verify "$TMPDIR/head"
grep -raqE 'github|anna' "$VAUBAN_HOME" && fail 'a file of the keychain shows a name'
unlock

# A program that can write the database can remove records, and this is reported.
vauban stop >/dev/null 2>&1
database=$VAUBAN_HOME/keychain/$(id -u)/keychain.db
python3 - "$database" <<'PYTHON'
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("DELETE FROM log WHERE number = 2")
connection.execute("UPDATE log SET sealed = zeroblob(length(sealed)) WHERE number = 4")
connection.commit()
PYTHON
unlock
expect_status 1 vauban log
grep -q 'Log records are missing before 3' "$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'a removed record is not reported'; }
grep -q 'Log record 4 does not follow' "$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'an altered record is not named'; }
# Writing the head does not hide this.
expect_status 1 vauban log --verify "$TMPDIR/head"
expect_text 'Log record 4 does not follow' "$TMPDIR/err"

# An erased keychain has no log, and this is not reported as a fault.
expect_status 0 vauban erase --yes-erase-everything --passcode-fd 3 3<<<"$passcode"
expect_status 0 vauban log
grep -q 'The log is empty' "$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'the log of an erased keychain is not empty'; }
printf four | vauban set github/anna 2>/dev/null || fail 'set failed'
expect_status 0 vauban log
[ "$(wc -l <"$TMPDIR/out")" = 1 ] || { cat "$TMPDIR/out"; fail 'the log does not continue after an erasure'; }
expect_status 64 vauban log --verify "$TMPDIR/head"
expect_text 'the keychain was erased since' "$TMPDIR/err"
