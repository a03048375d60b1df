#!/usr/bin/env bash
# The rooms as separate system users and the callers as others, as the installed service runs them: real boundaries of the kernel, on real
# sockets, with the system's own list of rooms. It runs in a separate mount namespace, so nothing of the machine changes.
# proves: C-034 C-037 C-097
# proves-equivalent: C-047
set -u
. Tests/Scripts/lib/system-rooms.sh
start_rooms
check 'a client finds the installed service' grep -q '^Mode .*system' "$TMPDIR/status"

check 'alice sets a passcode' eval 'alice passcode set --passcode-fd 3 3<"$TMPDIR/alice.passcode" 2>/dev/null'
check 'bob sets another' eval 'bob passcode set --passcode-fd 3 3<"$TMPDIR/bob.passcode" 2>/dev/null'
check 'alice stores a secret' eval 'printf "of alice" | alice set mail/me 2>/dev/null'
check 'bob does not find it' refused 44 bob get mail/me
check 'bob stores his own under the same name' eval 'printf "of bob" | bob set mail/me 2>/dev/null'
check 'alice reads hers' equals "$(alice get mail/me)" 'of alice'
check 'bob reads his' equals "$(bob get mail/me)" 'of bob'
check 'root has a keychain of its own, and no one else'"'"'s' refused 44 env HOME=/nonexistent "$bin/vauban" get mail/me
check 'a lock by alice does not lock bob' eval 'alice lock 2>/dev/null && refused 36 alice get mail/me --no-input && equals "$(bob get mail/me)" "of bob"'
check 'bob'"'"'s passcode does not unlock alice' eval 'refused 51 alice unlock --passcode-fd 3 3<"$TMPDIR/bob.passcode"'
with_passcode alice unlock 2>/dev/null

# A silent enclave cannot say who connects. Both rooms say so, before their clients give up on them.
kill -STOP "$enclave_pid"
alice get mail/me >"$TMPDIR/silent.get" 2>&1 </dev/null & getting=$!
alice lock >"$TMPDIR/silent.lock" 2>&1 </dev/null & locking=$!
wait "$getting"; got=$?
wait "$locking"; locked=$?
kill -CONT "$enclave_pid"
named() { [ "$1" = 53 ] && grep -qF 'The enclave does not answer' "$2" || { cat "$2"; echo "    ended with $1"; return 1; }; }
check 'while the enclave is silent, the keychain names it to a new connection' named "$got" "$TMPDIR/silent.get"
check 'and so does the room that passes requests on' named "$locked" "$TMPDIR/silent.lock"
check 'afterwards alice is served' equals "$(alice get mail/me)" 'of alice'

# The kernel's boundaries around the folders.
check 'the rooms run, and the device secret exists' eval 'kill -0 "$enclave_pid" && kill -0 "$keychain_pid" && [ -s "$state/enclave/device-secret" ]'
check 'alice cannot enter the state of a room' refused 2 as vauban-test-alice ls "$state/enclave"
check 'the database'"'"'s user cannot read the device secret' refused 1 as vauban-test-keychain cat "$state/enclave/device-secret"
check 'alice cannot end a room' refused 1 as vauban-test-alice bash -c "kill -KILL $enclave_pid"
check 'alice cannot read a room'"'"'s memory' refused 1 as vauban-test-alice dd if=/proc/$keychain_pid/mem of=/dev/null bs=1 count=1
# The uid decides which process may connect to the enclave: no application may.
printf 'x' >"$TMPDIR/x"
check 'the caller has no file of the keychain open, and the room has' \
    eval '[ -n "$(find /proc/$keychain_pid/fd -lname "*keychain.db*")" ] && ! as vauban-test-alice cat "$state/keychain/$(id -u vauban-test-alice)/keychain.db" 2>/dev/null'

# The command line, while it waits for a passcode or a value: another program of the same user cannot read it.
mkfifo -m 666 "$TMPDIR/slow"
(exec setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups env HOME=/nonexistent "$bin/vauban" unlock --passcode-fd 3 3<>"$TMPDIR/slow" 2>/dev/null) & waiting=$!
# It protects itself as soon as its service is determined, a moment after its start.
hides() {
    while kill -0 "$waiting" 2>/dev/null; do [ "$(cat /proc/$waiting/comm)" = vauban ] || continue
        as vauban-test-alice "$bin/hardening-probe" attack "$waiting" >"$TMPDIR/attack"; grep -q '^ptrace: refused' "$TMPDIR/attack" &&
            grep -q '^memory file: refused' "$TMPDIR/attack" && return 0; done; return 1
}
check 'a passcode that alice types cannot be read by her other programs' hides
check 'and the command waits meanwhile' eval '[ "$(cat /proc/$waiting/comm)" = vauban ]'
kill "$waiting"

# The prompt: the name comes from the witness, and the item opens with the user's answer.
check 'alice stores an item that prompts' eval 'printf "asks first" | alice set bank/me --require presence 2>/dev/null'
check 'without a prompt agent it is refused at once' refused 36 alice get bank/me
cat >"$TMPDIR/play" <<PLAY
expect $bin/vauban
expect asscode
secret alice passcode
expect asks first
PLAY
check 'the prompt on her terminal shows the real name of the program, and she reads the item' eval 'play alice "$bin/vauban" get bank/me <"$TMPDIR/play"'

# So far the list of rooms did not name a watcher, as in an older installation. With one, sleep locks for every user.
if [ "$failures" = 0 ]; then
    command -v dbus-daemon >/dev/null && /usr/bin/python3 -c 'import dbus, gi' 2>/dev/null || { echo 'there is no dbus-daemon, python3-dbus or python3-gi here'; exit 77; }
    . Tests/Scripts/lib/own-bus.sh
    trap 'stop_logind; stop_bus' EXIT
    echo 'watcher vauban-test-watcher' >>/etc/vauban/rooms
    kill "$enclave_pid"; wait "$enclave_pid" 2>/dev/null
    start_enclave
    start_bus
    start_logind "$(id -u vauban-test-alice)"
    room - vauban-test-watcher "$bin/rooms-testing" vauban-watcher $enclave_arguments --bus "$bus_address" --bus-owner-uid 0
    expect_logind 'inhibit sleep Vauban delay'
    # The same program as alice, with the same arguments: the enclave ends her connection each time.
    room_log=$TMPDIR/false-room room - vauban-test-alice "$bin/rooms-testing" vauban-watcher $enclave_arguments --bus "$bus_address" --bus-owner-uid 0
    false_room=$!
    check 'alice cannot connect to the enclave as a room' \
        eval '[ "$(timeout "$hang_seconds" tail -n +1 -F "$TMPDIR/false-room" 2>/dev/null | grep -cE -m 3 "the connection to the enclave (is|was) lost")" = 3 ] &&
            ! grep -q "the connection to the enclave is open" "$TMPDIR/false-room"'
    check 'SECURITY.md says what an application can reach' \
        grep -qF 'in user mode another program of the user can connect to the enclave as a room, in system mode it cannot' SECURITY.md
    kill "$false_room"; wait "$false_room" 2>/dev/null
    eventually shown alice 'not unlocked since'
    check 'alice unlocks after the restart' eval 'alice unlock --passcode-fd 3 3<"$TMPDIR/alice.passcode" 2>/dev/null && equals "$(alice get mail/me)" "of alice"'
    check 'bob does too' eval 'bob unlock --passcode-fd 3 3<"$TMPDIR/bob.passcode" 2>/dev/null && equals "$(bob get mail/me)" "of bob"'
    tell_logind sleep
    expect_logind released
    # After four seconds the watcher lets the machine sleep, and the enclave locks as soon as it can; watcher.sh tests both.
    is_locked() { "$1" get mail/me --no-input >/dev/null 2>&1; [ $? = 36 ]; }
    check 'when the machine may sleep, the keychain of alice is locked' eventually is_locked alice
    check 'and so is that of bob' eventually is_locked bob
fi

finish
