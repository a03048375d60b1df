#!/usr/bin/env bash
# The Secret Service with the installed service: the shipped rooms as their own system users, and for each of two users a session bus that
# starts vauban-secret-service as that user, by what `vauban enable` writes. The client is the real secret-tool.
set -u
for program in secret-tool dbus-daemon busctl; do command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }; done
enclave_program=enclaved
more_programs=vauban-secret-service
. Tests/Scripts/lib/system-rooms.sh
cp "$bin/keychain-caller" /usr/local/games/bin/mail && chmod 755 /usr/local/games/bin/mail
start_rooms

# session USER: a session bus of that user's, which reads the user's own activation files.
session() {
    folder=$TMPDIR/$1/session
    as "vauban-test-$1" mkdir -m 700 "$folder"
    cat >"$folder/config" <<CONFIG
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type> <listen>unix:path=$folder/bus</listen> <auth>EXTERNAL</auth> <standard_session_servicedirs/>
  <policy context="default"> <allow send_destination="*" eavesdrop="true"/> <allow eavesdrop="true"/> <allow own="*"/> </policy>
</busconfig>
CONFIG
    mkfifo "$folder/says" && chown "vauban-test-$1" "$folder/says" && exec 8<>"$folder/says"
    # The bus reads the home from the user database, in which these users have none.
    as "vauban-test-$1" XDG_DATA_HOME="$TMPDIR/$1/.local/share" dbus-daemon --config-file="$folder/config" --nofork --nopidfile --print-address=1 \
        >"$folder/says" 2>"$TMPDIR/$1.bus.log" &
    read -r -t "$hang_seconds" _ <&8 || { cat "$TMPDIR/$1.bus.log"; echo 'the bus does not start'; exit 1; }
}
# on_bus USER COMMAND...: as that user, on that user's bus.
on_bus() { whose=$1; shift; as "vauban-test-$whose" DBUS_SESSION_BUS_ADDRESS="unix:path=$TMPDIR/$whose/session/bus" timeout "$hang_seconds" "$@"; }
owner() {
    on_bus "$1" busctl --user --address="unix:path=$TMPDIR/$1/session/bus" call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus \
        GetConnectionUnixProcessID s org.freedesktop.secrets 2>/dev/null | cut -d' ' -f2
}
store() { printf '%s' "$3" | on_bus "$1" secret-tool store --label="$2" service "$2" username "$1"; }
lookup() { on_bus "$1" secret-tool lookup service "$2" username "$1"; }

for person in alice bob; do
    check "$person enables it" on_bus $person "$bin/vauban" enable secret-service --no-kwallet 2>"$TMPDIR/out"
    session $person
done
check 'alice stores a secret, by which the bus starts the service' store alice mail 'of alice'
service=$(owner alice)
check 'it runs as her' equals "$(stat -c %U "/proc/$service")" vauban-test-alice
check 'by its own name' equals "$(cat "/proc/$service/comm")" vauban-secret-s
check 'she finds the secret' equals "$(lookup alice mail)" 'of alice'
check 'so does her command line' equals "$(alice get mail/alice)" 'of alice'
check 'what she sets there is found' eval 'printf guests | alice set wifi/alice 2>/dev/null && equals "$(lookup alice wifi)" guests'
check 'it is nowhere in the clear' eval '! grep -rlaF -e "of alice" -e guests "$state" "$TMPDIR/alice"'
# With the installed service the items of another program are its own, over the bus too.
check 'her program adds an item' equals "$(as vauban-test-alice /usr/local/games/bin/mail add token 'of the program')" 0
check 'which no client finds over the bus' \
    equals "$(on_bus alice busctl --user --address="unix:path=$TMPDIR/alice/session/bus" get-property org.freedesktop.secrets /org/freedesktop/secrets/collection/login org.freedesktop.Secret.Collection Items | grep -o '/collection/login/' | wc -l)" 2
printf 'over the bus' | on_bus alice secret-tool store --label=Shared service callers username shared
check 'nor does the program find items that were stored there' equals "$(as vauban-test-alice /usr/local/games/bin/mail get shared)" -25300
check 'control: it finds its own' equals "$(as vauban-test-alice /usr/local/games/bin/mail get token)" '0 of the program'

# Each user has their own service and keychain.
check 'bob does not find it' refused 1 lookup bob mail
check 'bob stores one under the same name' store bob mail 'of bob'
check 'another process serves him' eval '[ "$(owner bob)" != "$service" ] && equals "$(stat -c %U "/proc/$(owner bob)")" vauban-test-bob'
check 'each finds their own' eval 'equals "$(lookup alice mail)" "of alice" && equals "$(lookup bob mail)" "of bob"'
check 'bob cannot reach her bus' refused 1 as vauban-test-bob DBUS_SESSION_BUS_ADDRESS="unix:path=$TMPDIR/alice/session/bus" secret-tool lookup service mail username alice
check 'her own programs cannot read its memory' \
    eval 'for file in mem environ maps; do ! as vauban-test-alice head -c 1 "/proc/$service/$file" >/dev/null 2>&1 || { echo "$file is open"; exit 1; }; done'
check 'it cannot gain privileges, and its system calls are filtered' eval 'grep -q "^NoNewPrivs:.1$" "/proc/$service/status" && grep -q "^Seccomp:.2$" "/proc/$service/status"'

# Locked: the item is found as locked, and the look-up waits for her passcode.
check 'she sets a passcode' with_passcode alice passcode set 2>/dev/null
check 'she locks her keychain' alice lock 2>/dev/null
cat >"$TMPDIR/alice/looks-up" <<CLIENT
#!/bin/sh
secret-tool lookup service mail username alice >"$TMPDIR/alice/found" 2>&1 </dev/null &
echo \$! >"$TMPDIR/alice/client.pid"
CLIENT
printf '#!/bin/sh\ntail -s 0.02 --pid="$(cat "%s")" -f /dev/null\n' "$TMPDIR/alice/client.pid" >"$TMPDIR/alice/wait"
chmod 755 "$TMPDIR/alice/looks-up" "$TMPDIR/alice/wait"
on_bus alice "$bin/pty-play" --seconds "$hang_seconds" -- "$bin/vauban" approve >"$TMPDIR/shown" 2>&1 <<STEPS
expect Prompts appear here
run $TMPDIR/alice/looks-up
expect unlock
expect Passcode
secret alice passcode
expect Accepted
run $TMPDIR/alice/wait
key ctrl-c
STEPS
check 'a look-up prompts her, and continues with her passcode' equals "$(cat "$TMPDIR/alice/found" 2>/dev/null)" 'of alice' || cat "$TMPDIR/shown"
check 'the prompt names the program' grep -q secret-tool "$TMPDIR/shown"
check 'bob is not affected' equals "$(lookup bob mail)" 'of bob'

# Rooms that end and are started again, as by systemd: no look-up fails.
for room in keychain enclave auth witness; do
    pid=${room}_pid; kill -KILL "${!pid}"; wait "${!pid}" 2>/dev/null
    case $room in keychain) start_keychain ;; enclave) start_enclave ;; auth) start_authentication ;; witness) start_witness ;; esac
    check "bob's look-up succeeds after $room was killed" equals "$(lookup bob mail)" 'of bob'
done
check 'the same process still serves him' eval '[ -d "/proc/$(owner bob)" ]'
check 'after that her keychain waits for the first unlock' refused 36 as vauban-test-alice timeout "$hang_seconds" "$bin/vauban" get mail/alice
with_passcode alice unlock 2>/dev/null
check 'which returns her items' equals "$(lookup alice mail)" 'of alice'
# Until the bus notices, it would pass requests to the killed service.
is_forgotten() { [ "$(owner alice)" != "$service" ]; }
kill -KILL "$service"; awaited 'the bus notices the end of the service' is_forgotten
check 'a killed service is started again by the bus' equals "$(lookup alice mail)" 'of alice'
check 'it is another process' eval '[ "$(owner alice)" != "$service" ]'

# Deleted over the bus, and restored.
check 'secret-tool deletes it' on_bus alice secret-tool clear service mail username alice
check 'no client finds it' eval 'refused 1 lookup alice mail && refused 44 alice get mail/alice'
check 'but she restores it' eval 'alice undelete mail/alice >/dev/null 2>&1 && equals "$(lookup alice mail)" "of alice"'
check 'she disables it, and none of its files remain' \
    eval 'on_bus alice "$bin/vauban" disable secret-service 2>/dev/null && equals "$(find "$TMPDIR/alice/.local" "$TMPDIR/alice/.config" -type f 2>/dev/null)" ""'
check 'her items stay' equals "$(alice get mail/alice)" 'of alice'
finish
