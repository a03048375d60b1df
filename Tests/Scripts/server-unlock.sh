#!/usr/bin/env bash
# A server's keychain, unlocked by the command of the shipped unit, with its credential as systemd provides it: a file in memory in a folder of
# the service. Rooms as system users, in a separate mount namespace.
set -u
. Tests/Scripts/lib/system-rooms.sh
mkdir "$TMPDIR/credentials" && mount -t tmpfs -o mode=755 tmpfs "$TMPDIR/credentials"
# As a service is started: without a user's environment, and without a home.
alice() { as vauban-test-alice env -i HOME=/nonexistent "$bin/vauban" "$@"; }
tries() { alice status 2>/dev/null | grep -q "set; $1 attempt[s]* left"; }
is_locked() { alice get mail/me >/dev/null 2>&1 </dev/null; [ $? = 36 ]; }

# The command of the unit, with this test's programs in place of the installed ones.
unit=$TMPDIR/vauban-unlock@app.service
lock=$TMPDIR/vauban-lock@app.service
for name in unlock lock; do sed "s#@PROGRAMS@#$bin#" "Install/systemd/vauban-$name@.service.in" >"$TMPDIR/vauban-$name@app.service"; done
# line NAME UNIT: the value of this setting.
line() { sed -n "s#^$1=-\{0,1\}##p" "$2"; }
start=$(line ExecStart "$unit") stop=$(line ExecStop "$lock")
check 'the unit runs one command, as the user of its instance, and no shell' \
    eval 'equals "$(grep -c ^ExecStart= "$unit")" 1 && equals "${start%% *}" "$bin/vauban" && grep -qx "User=%i" "$unit"'
check 'it ends with its command, and so does the decrypted credential' \
    eval 'grep -qx Type=oneshot "$unit" && ! grep -qE "^(RemainAfterExit|ExecStop|ExecStartPost|Restart)" "$unit"'
check 'the unit that stays active has no credential, and only locks when it is stopped' \
    eval 'grep -qx RemainAfterExit=yes "$lock" && ! grep -qE "^(LoadCredential|SetCredential|ImportCredential|ExecStart)" "$lock" &&
        equals "$stop" "$bin/vauban lock --no-input" && grep -qx "User=%i" "$lock"'
check 'each of the two starts the other, and both stop with the enclave' \
    eval 'grep -qx "Wants=vauban-lock@%i.service" "$unit" && grep -qx "Wants=vauban-unlock@%i.service" "$lock" &&
        grep -qx PartOf=vauban-enclaved.service "$unit" && grep -qx PartOf=vauban-enclaved.service "$lock" && grep -qE "^After=.*vauban-lock@%i.service" "$unit"'
check 'the credential has the name that the command uses' \
    eval 'grep -qx "LoadCredentialEncrypted=passcode:/etc/vauban/credentials/%i" "$unit" && [[ $start == *"--passcode-credential passcode" ]]'
if command -v systemd-analyze >/dev/null; then
    check 'systemd accepts every line of both' eval 'systemd-analyze verify --man=no "$unit" "$lock" >"$TMPDIR/said" 2>&1; ! grep -E "vauban-(un)?lock" "$TMPDIR/said"'
fi
# run COMMAND: with only systemd's environment, no terminal, no standard input.
run() { as vauban-test-alice env -i CREDENTIALS_DIRECTORY="$TMPDIR/credentials/unit" USER=vauban-test-alice HOME=/nonexistent $1 >"$TMPDIR/said" 2>&1 </dev/null; }
ends() { want=$1; run "$start"; equals $? "$want"; }
# credential [OWNER MODE] <CONTENT
credential() {
    rm -rf "$TMPDIR/credentials/unit"; mkdir -m 500 "$TMPDIR/credentials/unit"; chown vauban-test-alice "$TMPDIR/credentials/unit"
    cat >"$TMPDIR/credentials/unit/passcode"
    chown "${1:-vauban-test-alice}" "$TMPDIR/credentials/unit/passcode"; chmod "${2:-400}" "$TMPDIR/credentials/unit/passcode"
}

start_rooms
passcode='of a machine, long'
printf '%s' "$passcode" | credential
check 'without a passcode it reports that' eval 'run "$start"; [ $? != 0 ] && grep -q "nothing to unlock" "$TMPDIR/said"'
alice passcode set --passcode-fd 0 <<<"$passcode" 2>/dev/null
printf 'of the server' | alice set mail/me 2>/dev/null
printf 'asks' | alice set bank/me --require presence 2>/dev/null
# A prompt would wait for longer.
refused_presence() { as vauban-test-alice timeout "$hang_seconds" env -i HOME=/nonexistent "$bin/vauban" get bank/me >/dev/null 2>"$TMPDIR/said" </dev/null; equals $? 36; }

# After a start of the machine.
kill "$enclave_pid"; wait "$enclave_pid" 2>/dev/null; start_enclave
eventually shown alice 'not unlocked since'
check 'after a start the keychain is locked' is_locked
check 'the unit unlocks it' eval 'ends 0 && equals "$(alice get mail/me)" "of the server"'
check 'an item that requires a user is refused at once' refused_presence
check 'to a program that the unit'"'"'s credential is handed to as well' \
    eval 'as vauban-test-alice env -i CREDENTIALS_DIRECTORY="$TMPDIR/credentials/unit" HOME=/nonexistent "$bin/vauban" get bank/me --no-input >/dev/null \
        2>"$TMPDIR/said" </dev/null; equals $? 36'
check 'only unlock accepts a credential, so no other verb answers a prompt with it' eval 'alice get bank/me --passcode-credential passcode >/dev/null 2>&1; [ $? = 64 ]'
check 'and no prompt is answered while the unit runs again' eval 'ends 0 && refused_presence'
check 'stopping the unit that stays active locks' eval 'run "$stop" && is_locked'

printf '%s\n' "$passcode" | credential
check 'one newline at the end does not belong to the passcode' eval 'ends 0 && ! is_locked'
alice lock 2>/dev/null
# If the file system has access lists, the file stays root's and systemd gives the user access; the mode then looks like this.
printf '%s' "$passcode" | credential root:vauban-test-alice 440
check 'it may be a file of root'"'"'s that the user may read' eval 'ends 0 && ! is_locked'
alice lock 2>/dev/null

bad() { what=$1; check "$what: refused, and no attempt is used" eval 'ends 64 && tries 5 && is_locked'; }
printf '' | credential; bad 'an empty credential'
printf '\n' | credential; bad 'an empty line'
printf '%s\nand more\n' "$passcode" | credential; bad 'two lines'
head -c 3000 /dev/zero | tr '\0' a | credential; check 'one that is too long: refused, and no attempt is used' eval '! ends 0 && tries 5 && is_locked'
printf '%s' "$passcode" | credential vauban-test-alice 444; bad 'one that everybody can read'
printf '%s' "$passcode" | credential vauban-test-bob 440; bad 'one of another user'
rm "$TMPDIR/credentials/unit/passcode"; bad 'none'
ln -s "$TMPDIR/elsewhere" "$TMPDIR/credentials/unit/passcode"; bad 'a link'
rm "$TMPDIR/credentials/unit/passcode"; mkfifo -m 400 "$TMPDIR/credentials/unit/passcode"; chown vauban-test-alice "$TMPDIR/credentials/unit/passcode"; bad 'a pipe'
check 'without a folder of credentials: refused' eval 'as vauban-test-alice env -i $start >"$TMPDIR/said" 2>&1 </dev/null; [ $? = 64 ] && tries 5'
check 'a name that leads elsewhere: refused' eval 'run "$bin/vauban unlock --no-input --passcode-credential ../unit/passcode"; [ $? = 64 ] && tries 5'
printf 'not it' | credential
check 'a wrong passcode ends the unit with 51 and costs one attempt' eval 'ends 51 && tries 4 && is_locked'
printf '%s' "$passcode" | credential
check 'the right one resets the attempts' eval 'ends 0 && tries 5'
check 'no passcode was printed' eval '! grep -qF "$passcode" "$TMPDIR/said"'

finish
