#!/usr/bin/env bash
# vauban doctor in system mode: it checks the items of all of a user's programs, reports only numbers and does not prompt; a database is restored
# only by the user through the command line, after their passcode.
set -u
. Tests/Scripts/lib/system-rooms.sh
for name in mail chat; do cp "$bin/keychain-caller" /usr/local/games/bin/$name; done
chmod 755 /usr/local/games/bin/*
start_rooms
by() { who=$1; shift; as "vauban-test-$who" "$@"; }
database=$state/keychain/$(id -u vauban-test-alice)/keychain.db
check 'alice sets a passcode' eval 'with_passcode alice passcode set 2>/dev/null'
check 'her programs add items' eval 'equals "$(by alice /usr/local/games/bin/mail add secretname x)" 0 && equals "$(by alice /usr/local/games/bin/chat add othername y)" 0'
check 'she adds one with the command line' eval 'printf "by hand" | alice set notes/me 2>/dev/null'
check 'bob adds one' equals "$(by bob /usr/local/games/bin/mail add secretname z)" 0
check 'the doctor does not prompt and finds nothing' eval 'alice doctor >"$TMPDIR/report" 2>"$TMPDIR/err" </dev/null'
check 'it checks the items of all programs, and hers alone' grep -q 'Checked      3 items' "$TMPDIR/report"
check 'it names no program and no item' eval '! grep -Eq "mail|chat|secretname|othername|notes" "$TMPDIR/report" "$TMPDIR/err"'
check 'the copy is as private as the database' equals "$(stat -c %a:%U "$database.verified")" "600:vauban-test-keychain"
check 'an intact database is not replaced' refused 51 alice doctor --restore --yes-restore

kill "$keychain_pid"; wait "$keychain_pid" 2>/dev/null
rm -f "$database-wal" "$database-shm"; head -c 12000 /dev/zero >"$database"
start_keychain
reported() { alice get notes/me >/dev/null 2>"$TMPDIR/err"; grep -q 'doctor --restore' "$TMPDIR/err"; }
eventually reported
check 'a damaged database is reported, with the way out' grep -q 'vauban doctor --restore' "$TMPDIR/err"
check 'bob is not affected' equals "$(by bob /usr/local/games/bin/mail get secretname)" '0 z'
check 'it is not restored without a prompt agent' refused 36 as vauban-test-alice setsid --wait "$bin/vauban" doctor --restore --yes-restore
check 'and is not in place afterwards' refused 53 alice get notes/me
cat >"$TMPDIR/restore" <<PLAY
expect COME BACK
expect Type restore
send restore
expect to replace your damaged keychain with an earlier copy
expect asscode
secret alice passcode
expect is restored
PLAY
check 'after the confirmation and her passcode it is restored' eval 'play alice "$bin/vauban" doctor --restore <"$TMPDIR/restore" >"$TMPDIR/shown"'
check 'everything of that day exists' \
    eval 'equals "$(by alice /usr/local/games/bin/mail get secretname)" "0 x" &&
        equals "$(by alice /usr/local/games/bin/chat get othername)" "0 y" && equals "$(alice get notes/me)" "by hand"'
check 'and verifies' eval 'alice doctor >/dev/null 2>&1 </dev/null'
finish
