# For tests of the installed service: the rooms as separate system users, the callers as others, with the system's own list of rooms, in a
# mount namespace, so that nothing of the machine changes. To be sourced first.
# more_programs and more_namespaces add programs to copy and options of unshare, keychain_words arguments of keychaind.
# With enclave_program=enclaved the rooms derive keys as the shipped program does; otherwise cheaply.
# Defines bin, state, alice, bob, as, room, check, equals, refused, passcode files, and the process numbers of the rooms.
. Tests/Scripts/lib/deadline.sh
[ "${VAUBAN_TEST_USERS:-0}" = 1 ] || { echo 'it needs root, to be several users'; exit 77; }
command -v setpriv >/dev/null && command -v unshare >/dev/null || { echo 'there is no setpriv or unshare here'; exit 77; }
if [ -z "${VAUBAN_INSIDE:-}" ]; then
    . Tests/Scripts/lib/own-mounts.sh
    # The build may be in a folder that only root can enter, so the programs are copied to where the users can run them.
    mkdir "$TMPDIR/bin" && for program in rooms-testing enclaved keychaind authd vauban-witness vauban ${more_programs:-} pty-play hardening-probe keychain-caller; do
        cp "$VAUBAN_BUILD/$program" "$TMPDIR/bin/" || { echo "$program is not built"; exit 77; }
    done
    chmod 755 "$TMPDIR" "$TMPDIR/bin"
    made=
    for folder in /etc/vauban /run/vauban /usr/local/games; do [ -e "$folder" ] || { mkdir "$folder" && made="$made $folder"; }; done
    trap 'for folder in $made; do rmdir "$folder"; done' EXIT
    VAUBAN_INSIDE=1 unshare $own_mounts ${more_namespaces:-} --pid --fork --kill-child --mount-proc "$0"
    exit
fi
unset VAUBAN_HOME XDG_RUNTIME_DIR XDG_DATA_HOME
bin=$TMPDIR/bin
# Programs that root installs are in /usr/local/games here, and programs of users in their own folders.
for folder in /etc/vauban /run/vauban /usr/local/games; do mount -t tmpfs -o mode=755 tmpfs "$folder" || { echo 'it cannot mount here'; exit 77; }; done
cat >/etc/vauban/rooms <<ROSTER
enclaved vauban-test-enclave
keychaind vauban-test-keychain
authd vauban-test-auth
witness vauban-test-witness
fetcher vauban-test-fetcher
ROSTER
chmod 644 /etc/vauban/rooms
mkdir -m 755 /usr/local/games/bin /etc/vauban/entitlements
state=$TMPDIR/state
mkdir "$state" && chmod 755 "$state"
install -d -m 700 -o vauban-test-enclave -g vauban-test-enclave "$state/enclave"
install -d -m 700 -o vauban-test-keychain -g vauban-test-keychain "$state/keychain"
for user in alice bob; do install -d -m 700 -o vauban-test-$user -g vauban-test-$user "$TMPDIR/$user"; done

as() { user=$1; shift; setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups env HOME="$TMPDIR/${user#vauban-test-}" "$@"; }
# room SOCKET USER COMMAND...: starts a room, and returns when its socket exists. Its output goes to $room_log, by default the log of all rooms.
room() {
    local socket=$1 user=$2
    shift 2
    # A room that ended leaves its socket, on which the first request would get no reply.
    [ "$socket" = - ] || rm -f "${socket#*=}"
    "$bin/rooms-testing" with-socket "$socket" -- setpriv --reuid "$user" --regid "$user" --clear-groups "$@" 2>>"${room_log:-$TMPDIR/rooms.log}" &
    [ "$socket" = - ] || until [ -S "${socket#*=}" ] || ! kill -0 $! 2>/dev/null; do :; done
}
alice() { as vauban-test-alice "$bin/vauban" "$@"; }
bob() { as vauban-test-bob "$bin/vauban" "$@"; }
enclave_uid=$(id -u vauban-test-enclave)
enclave_arguments="--enclave-folder /run/vauban --enclave-uid $enclave_uid"

start_enclave() { room enclave=/run/vauban/enclave vauban-test-enclave "$bin/"${enclave_program:-rooms-testing enclaved} --state "$state/enclave"; enclave_pid=$!; }
start_keychain() { room keychain=/run/vauban/keychain vauban-test-keychain "$bin/keychaind" --state "$state/keychain" $enclave_arguments ${keychain_words:-}; keychain_pid=$!; }
start_authentication() { room authentication=/run/vauban/authentication vauban-test-auth "$bin/authd" $enclave_arguments; auth_pid=$!; }
# The witness is the only room with a right over other processes.
start_witness() { room - vauban-test-witness --inh-caps +sys_ptrace --ambient-caps +sys_ptrace "$bin/vauban-witness" $enclave_arguments; witness_pid=$!; }
rooms_answer() { alice status >"$TMPDIR/status" 2>/dev/null; }
# shown WHO TEXT: the status of alice or bob has the text. prompts_appear: a terminal of alice's waits for prompts.
shown() { "$1" status >"$TMPDIR/status" 2>/dev/null && grep -qF -e "$2" "$TMPDIR/status"; }
prompts_appear() { shown alice 'for all programs at'; }
# agent_steps <STEPS: prints the steps of a prompt agent of alice's, which then reports that prompts appear there. agent_waits: it has, or ended.
agent_steps() { rm -f "$TMPDIR/alice/waits"; sed "0,/^expect Prompts appear here\$/s||&\nrun touch '$TMPDIR/alice/waits'|"; }
agent_waits() { [ -e "$TMPDIR/alice/waits" ] || ! kill -0 "$prompt_agent" 2>/dev/null; }
start_rooms() {
    start_enclave; start_keychain; start_authentication; start_witness
    # The sockets are bound a moment after the rooms are started; the first reply shows that they serve.
    eventually rooms_answer && return
    cat "$TMPDIR/rooms.log"; echo 'the rooms do not answer'; exit 1
}

failures=0
check() { what=$1; shift; if "$@"; then echo "ok: $what"; else echo "FAILED: $what"; failures=$((failures + 1)); fi; }
equals() { [ "$1" = "$2" ] || { echo "    got: $1"; echo "   want: $2"; return 1; }; }
# refused NUMBER COMMAND...: the command ends with this status.
refused() { want=$1; shift; "$@" >"$TMPDIR/out" 2>&1 </dev/null; got=$?; [ $got = "$want" ] || { cat "$TMPDIR/out"; echo "    ended with $got, not $want"; return 1; }; }
finish() { [ "$failures" = 0 ] || { tail -n 20 "$TMPDIR/rooms.log"; echo "$failures checks failed"; exit 1; }; exit 0; }

printf 'alice passcode\n' >"$TMPDIR/alice.passcode"; printf 'bob passcode\n' >"$TMPDIR/bob.passcode"
# Opened by root and read by the user's program, as a descriptor is passed.
with_passcode() { user=$1; shift; as "vauban-test-$user" "$bin/vauban" "$@" --passcode-fd 3 3<"$TMPDIR/$user.passcode"; }
# play USER COMMAND...: runs it on a terminal of that user, with the steps on standard input.
play() { user=$1; shift; as "vauban-test-$user" "$bin/pty-play" --seconds "$hang_seconds" -- "$@"; }
