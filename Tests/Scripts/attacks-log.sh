#!/usr/bin/env bash
# The access log in system mode: it names programs, other owners' items need the user, and what was removed is reported. The checks with a
# number are attacks of Manual/attacks.md.
# limit: 600
set -u
. Tests/Scripts/lib/system-rooms.sh
for name in mail chat; do cp "$bin/keychain-caller" /usr/local/games/bin/$name; done
chmod 755 /usr/local/games/bin/*
start_rooms
by() { who=$1; shift; as "vauban-test-$who" "$@"; }
# approved WORDS...: vauban of alice with her passcode, without a terminal.
approved() { as vauban-test-alice setsid --wait "$bin/vauban" "$@" --passcode-fd 3 3<"$TMPDIR/alice.passcode" </dev/null; }
check 'alice sets a passcode' eval 'with_passcode alice passcode set 2>/dev/null'
check 'a program of alice keeps an item' equals "$(by alice /usr/local/games/bin/mail add letters x)" 0
check 'and reads it' equals "$(by alice /usr/local/games/bin/mail get letters)" '0 x'
check 'another does not' equals "$(by alice /usr/local/games/bin/chat get letters)" -25300
check 'she sees who did what' eval 'approved log --all-owners --json >"$TMPDIR/log.json"'
check 'by which program' python3 - "$TMPDIR/log.json" <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert [(line["action"], line["program"], line["throughCommandLine"]) for line in lines] == [
    ("added", "/usr/local/games/bin/mail", False), ("read", "/usr/local/games/bin/mail", False)], lines
PYTHON
check 'a name that nobody has is not recorded' eval '! grep -q chat "$TMPDIR/log.json"'
check 'U110 a program of hers reads of other items in the log: refused without her' refused 36 as vauban-test-alice setsid --wait "$bin/vauban" log --all-owners
check 'U110 its own log has none of them' eval 'as vauban-test-alice setsid --wait "$bin/vauban" log --json >"$TMPDIR/own.json" 2>"$TMPDIR/err" </dev/null && equals "$(cat "$TMPDIR/own.json")" "" && grep -q "The log is empty" "$TMPDIR/err"'
check 'bob sees nothing of it' eval 'equals "$(bob log 2>"$TMPDIR/err")" "" && grep -q "The log is empty" "$TMPDIR/err"'
check 'the journal names the program and no item' eval 'grep "items were used" "$TMPDIR/rooms.log" | grep -q /usr/local/games/bin/mail && ! grep -q letters "$TMPDIR/rooms.log"'
check 'the database shows no name of an item' eval '! grep -raq letters "$state/keychain"/*/keychain.db*'
check 'the enclave keeps the end of the log' test -s "$state/enclave/people/$(id -u vauban-test-alice)/log"

# The database as it was, put back to hide what was read since.
folder=$state/keychain/$(id -u vauban-test-alice)
stop_keychain() { kill "$keychain_pid"; wait "$keychain_pid" 2>/dev/null; }
stop_keychain; cp -a "$folder" "$TMPDIR/copy"; start_keychain
check 'the program reads again' equals "$(by alice /usr/local/games/bin/mail get letters)" '0 x'
check 'which the log has' eval 'approved log --all-owners | grep -c read | grep -qx 2'
stop_keychain; rm -r "$folder"; cp -a "$TMPDIR/copy" "$folder"; start_keychain
check 'U111 an earlier database hides a read: reported' eval 'approved log --all-owners >/dev/null 2>"$TMPDIR/err"; [ $? = 1 ] && grep -q "are missing at the end" "$TMPDIR/err"'
check 'the program goes on' equals "$(by alice /usr/local/games/bin/mail get letters)" '0 x'
check 'U111 and so it stays: reported' eval 'approved log --all-owners >/dev/null 2>"$TMPDIR/err"; [ $? = 1 ] && grep -q "Log records are missing before" "$TMPDIR/err"'

# Records that are removed, or changed with their chain, by whoever can write the file.
stop_keychain
python3 - "$folder/keychain.db" <<'PYTHON'
import hashlib, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
rows = connection.execute("SELECT number, series, sealed FROM log ORDER BY number").fetchall()
chain = bytes(32)
for number, series, sealed in rows:
    sealed = bytes(len(sealed)) if number == 1 else sealed
    chain = hashlib.sha256(chain + number.to_bytes(8, 'big') + series.to_bytes(8, 'big') + hashlib.sha256(sealed).digest()).digest()
    connection.execute("UPDATE log SET sealed = ?, chain = ? WHERE number = ?", (sealed, chain, number))
connection.commit()
PYTHON
chown -R vauban-test-keychain:vauban-test-keychain "$folder"
start_keychain
check 'U112 a record is replaced, and the chain made again: reported' eval 'approved log --all-owners >/dev/null 2>"$TMPDIR/err"; [ $? = 1 ] && grep -q "is not the one that the enclave knows" "$TMPDIR/err"'

# The machine is put back as a whole: bob's keychain, which has no fault until then. The end of his log is on a stick.
by_bob() { as vauban-test-bob setsid --wait "$bin/vauban" "$@" </dev/null; }
printf 'secret of bob' | bob set bank/bob 2>/dev/null; by_bob get bank/bob >/dev/null
all_rooms() { kill "$keychain_pid" "$enclave_pid"; wait "$keychain_pid" "$enclave_pid" 2>/dev/null; "$@"; start_enclave; start_keychain; eventually bob status >/dev/null 2>&1; }
check 'the earlier state is copied' all_rooms cp -a "$state" "$TMPDIR/before"
by_bob get bank/bob >/dev/null; by_bob log >/dev/null
check 'the end of the log is kept' eval 'by_bob log --head >"$TMPDIR/head" && [ -s "$TMPDIR/head" ]'
verify() { as vauban-test-bob setsid --wait "$bin/vauban" log --verify - <"${1:-$TMPDIR/head}" >"$TMPDIR/out" 2>"$TMPDIR/err"; }
says() { verify "$2"; [ $? = "$1" ] && grep -q "$3" "$TMPDIR/err" || { cat "$TMPDIR/err"; return 1; }; }
check 'U98 control: the log has it' says 0 "$TMPDIR/head" 'as it was signed'
check 'U98 and is whole' by_bob log
bobs=$state/keychain/$(id -u vauban-test-bob)
stop_keychain; cp -a "$bobs" "$TMPDIR/bobs"; start_keychain
by_bob get bank/bob >/dev/null; by_bob log >/dev/null
(exec setpriv --reuid vauban-test-bob --regid vauban-test-bob --clear-groups env HOME="$TMPDIR/bob" "$bin/vauban" log --follow </dev/null >"$TMPDIR/followed" 2>"$TMPDIR/err") & following=$!
follows() { [ -s "$TMPDIR/followed" ] || ! kill -0 "$following" 2>/dev/null; }
awaited 'the first line of vauban log --follow' follows
stop_keychain; cp -a "$bobs" "$TMPDIR/later.bobs"; rm -r "$bobs"; cp -a "$TMPDIR/bobs" "$bobs"; start_keychain
check 'U111 whoever follows the log is told of an earlier database' eval 'timeout "$hang_seconds" tail -n +1 -F "$TMPDIR/err" 2>/dev/null | grep -q -m 1 "are missing" || { cat "$TMPDIR/err" "$TMPDIR/followed"; false; }'
kill "$following" 2>/dev/null; wait "$following" 2>/dev/null
stop_keychain; rm -r "$bobs"; cp -a "$TMPDIR/later.bobs" "$bobs"
# The oldest record is removed, so that the log begins later.
python3 -c 'import sqlite3, sys; connection = sqlite3.connect(sys.argv[1]); connection.execute("DELETE FROM log WHERE number < 2"); connection.commit()' "$bobs/keychain.db"
chown -R vauban-test-keychain:vauban-test-keychain "$bobs"; start_keychain
check 'U114 the beginning of the log is cut off: reported' eval 'by_bob log >/dev/null 2>"$TMPDIR/err"; [ $? = 1 ] && grep -q "Log records are missing before 2" "$TMPDIR/err" || { cat "$TMPDIR/err"; false; }'
# tampered SQL: does this to bob's database, as it was.
tampered() {
    stop_keychain; rm -r "$bobs"; cp -a "$TMPDIR/later.bobs" "$bobs"
    python3 -c 'import sqlite3, sys; connection = sqlite3.connect(sys.argv[1]); connection.executescript(sys.argv[2]); connection.commit()' "$bobs/keychain.db" "$1"
    chown -R vauban-test-keychain:vauban-test-keychain "$bobs"; start_keychain
}
tampered 'UPDATE log_series SET key = zeroblob(length(key)) WHERE first = (SELECT min(first) FROM log_series)'
check 'U115 the key of the oldest records is destroyed: reported' says 1 "$TMPDIR/head" 'cannot be read'
tampered "INSERT INTO log SELECT 0, series, zeroblob($((33 << 20))), chain FROM log LIMIT 1; DELETE FROM log WHERE number = 1"
check 'U116 a record with a number that none has is as large as a log, and the oldest one is removed: reported' eval 'by_bob log >/dev/null 2>"$TMPDIR/err"; [ $? = 1 ] && grep -q "Log records are missing before 2" "$TMPDIR/err" && grep -q "numbers that Vauban never gives" "$TMPDIR/err" || { cat "$TMPDIR/err"; false; }'
stop_keychain; rm -r "$bobs"; cp -a "$TMPDIR/later.bobs" "$bobs"; start_keychain
put_back() { rm -rf "$state"; cp -a "$TMPDIR/before" "$state"; }
check 'U98 enclave and database are put back together' all_rooms put_back
check 'U98 the log does not show it: succeeds' eval 'by_bob log >"$TMPDIR/out" 2>"$TMPDIR/err" && ! grep -q missing "$TMPDIR/err"'
check 'U98 the kept end does' says 1 "$TMPDIR/head" 'log records are missing'
for number in 1 2 3 4 5 6; do printf "$number" | bob set "own/$number" 2>/dev/null; done
check 'U98 also when the log is longer again' says 1 "$TMPDIR/head" 'is not the one that was signed'
check 'a later end is kept' eval 'by_bob log --head >"$TMPDIR/later"'
check 'U99 control: it fits' says 0 "$TMPDIR/later" 'as it was signed'
sed 2s/.*/3/ "$TMPDIR/later" >"$TMPDIR/altered"
check 'U99 its number is altered: refused' says 64 "$TMPDIR/altered" 'The signature is not one of this keychain'
check "U99 alice's end in its place: refused" eval 'approved log --head >"$TMPDIR/alices" && says 64 "$TMPDIR/alices" "another user"'
{ head -3 "$TMPDIR/later"; echo; tail -1 "$TMPDIR/alices"; } >"$TMPDIR/mixed"
check "U99 it is signed by alice's enclave: refused" says 64 "$TMPDIR/mixed" 'The signature is not one of this keychain'
head -3 "$TMPDIR/later" >"$TMPDIR/unsigned"
check 'U99 it has no signature: refused' says 64 "$TMPDIR/unsigned" 'is not a signed log head'

# A program that signs and ends at once.
check 'her keychain is open' eval 'with_passcode alice unlock 2>/dev/null'
check 'U130 control: a key of the program signs' eval 'equals "$(by alice /usr/local/games/bin/mail key make tag)" 0 && by alice /usr/local/games/bin/mail key sign tag 00 | grep -q "^0 "'
signs() { by alice /usr/local/games/bin/mail key sign tag 00 | grep -q '^0 '; }
check 'U130 and the program ends at once' eval 'signs && signs'
# signatures: how many the log has, by which program. It also says what was altered above, and ends with 1.
signatures() { approved log --all-owners --action signed --json >"$TMPDIR/signed.json" 2>/dev/null; python3 -c 'import json, sys; lines = [json.loads(line) for line in open(sys.argv[1])]; print(sum(line["count"] for line in lines), *sorted({line["program"] for line in lines}), *sorted({line["owner"] for line in lines}))' "$TMPDIR/signed.json"; }
are_signatures() { [ "$(signatures)" = "$1" ]; }
await_signatures() { eventually are_signatures "$1" || { signatures; false; }; }
check 'U130 each signature is in the log, with the program and the owner of the key' await_signatures '3 /usr/local/games/bin/mail program:/usr/local/games/bin/mail'

# What started a program: the log has it from the kernel.
mail=/usr/local/games/bin/mail
for name in plain renamed orphaned; do check "an item: $name" equals "$(by alice $mail add $name x)" 0; done
# started NAME: what started the program that read this item last, the nearest; nothing if nothing is recorded.
started() { approved log --all-owners --action read --json >"$TMPDIR/reads.json" 2>/dev/null; python3 -c 'import json, sys; lines = [json.loads(line) for line in open(sys.argv[1])]; print([line.get("parents", ["nothing"])[0] for line in lines if line["item"] == "callers/" + sys.argv[2]][-1])' "$TMPDIR/reads.json" "$1"; }
shell=$(readlink -f /bin/sh) bash=$(readlink -f /bin/bash)
check 'a program that a shell starts reads' equals "$(by alice /bin/sh -c '"$0" get plain; :' $mail)" '0 x'
check 'the log names the shell' equals "$(started plain)" "$shell"
check 'and on its line' eval 'approved log --all-owners 2>/dev/null | grep "callers/plain" | grep -q "started by ${shell##*/}"'
check 'U131 a shell that calls itself sshd starts one' equals "$(by alice /bin/bash -c 'exec -a /usr/sbin/sshd /bin/bash -c "echo sshd >/proc/self/comm; \"\$0\" get renamed; :" "$0"' $mail)" '0 x'
check 'U131 the log names its file' equals "$(started renamed)" "$bash"
# The program waits until what started it has ended. Its parent is then whatever adopts orphans: the first process, or for example systemd.
orphan='while read -r _ _ _ parent _ </proc/self/stat; [ "$parent" = "$1" ]; do :; done; exec "$0" get orphaned'
check 'U132 a program reads when what started it has ended' equals "$(by alice /bin/sh -c '/bin/sh -c "$1" "$0" $$ &' $mail "$orphan")" '0 x'
check 'U132 the log does not name what started it: succeeds' eval 'named=$(started orphaned); [ -n "$named" ] && [ "$named" != "$shell" ] || { echo "    it names: $named"; false; }'
finish
