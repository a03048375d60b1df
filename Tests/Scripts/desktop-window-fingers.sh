#!/usr/bin/env bash
# The fingerprint settings of the desktop application, in the installed service with real fprintd and a virtual sensor: a finger is enrolled by
# its button and the passcode at a prompt, the page shows what the reader needs, and enrolled fingers are deleted there too.
# limit: 600
set -u
[ -x "$VAUBAN_BUILD/vauban-desktop" ] || { echo 'the desktop application is not built: there is no GTK 4 here'; exit 77; }
for tool in Xvfb xdotool import dbus-run-session; do command -v "$tool" >/dev/null || { echo "there is no $tool here"; exit 77; }; done
/usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null || { echo 'there is no gir1.2-atspi-2.0 here'; exit 77; }
. Tests/Scripts/lib/system-rooms.sh
getent passwd vauban-test-reader >/dev/null || { echo 'there is no user for the reader'; exit 77; }
. Tests/Scripts/lib/own-bus.sh
. Tests/Scripts/lib/own-fprintd.sh
trap 'stop_fingers; stop_bus' EXIT
cp "$VAUBAN_BUILD/vauban-desktop" Tests/Scripts/lib/desktop.py Tests/Scripts/lib/window.py "$bin/" && chmod 755 "$bin"/* || exit 1
shots=$PWD/.build/test-results/desktop
mkdir -p "$shots"
echo 'reader vauban-test-reader' >>/etc/vauban/rooms
install -d -m 700 -o vauban-test-reader -g vauban-test-reader "$state/reader"
start_bus
sed 's/vauban-reader/vauban-test-reader/' Install/polkit/vauban.rules >"$TMPDIR/our.rules"
start_polkit "$TMPDIR/our.rules"
start_fprintd
start_rooms
room - vauban-test-reader env DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent "$bin/rooms-testing" vauban-reader $enclave_arguments \
    --state "$state/reader" --bus "$bus_address" --bus-owner-uid 0
reader_pid=$!
with_passcode alice passcode set 2>/dev/null || { echo 'no passcode could be set'; exit 1; }
eventually shown alice 'reader available; no finger enrolled' || { cat "$TMPDIR/rooms.log"; echo 'the service has no reader'; exit 1; }
own=$TMPDIR/alice
# at_desktop <<STEPS: runs the steps as alice. approve TEXT: a terminal of hers answers the next prompt, which must contain the text.
at_desktop() {
    as vauban-test-alice XDG_RUNTIME_DIR="$own" TMPDIR="$own" "$bin/window.py" "$bin/vauban-desktop" "$own" >"$TMPDIR/desktop" \
        2>"$TMPDIR/desktop.err" && cp "$own"/*.png "$shots/" && return
    cat "$TMPDIR/desktop"; grep -v dbus "$TMPDIR/desktop.err"; cat "$own/approve.out" "$TMPDIR/touches" "$TMPDIR/rooms.log" 2>/dev/null; return 1
}
cat >"$own/approve" <<APPROVE
#!/bin/bash
rm -f "$own/prompt_agent"
printf 'expect Prompts appear here\nrun touch %s\nexpect %s\nexpect asscode\nsecret %s\nexpect Accepted\nkey ctrl-c\n' "$own/prompt_agent" "\$1" "\${2:-alice passcode}" >"$own/steps"
"$bin/pty-play" --seconds "$hang_seconds" -- "$bin/vauban" approve <"$own/steps" >"$own/approve.out" 2>&1 &
until [ -e "$own/prompt_agent" ]; do kill -0 \$! || { cat "$own/approve.out"; exit 1; }; done
APPROVE
chmod 755 "$own/approve"
touches() { finger touch "$@" >>"$TMPDIR/touches" 2>&1; }
templates() { find "$TMPDIR/fprint" -type f | wc -l; }
check 'there is no template' equals "$(templates)" 0

# The user touches the sensor once the page asks for it: each touch as soon as the reader waits for one; the first cannot be read.
mkfifo "$own/told" && chmod 666 "$own/told"
read -r -t "$hang_seconds" _ <>"$own/told" && touches 'RETRY 1' 'SCAN alice' 'SCAN alice' 'SCAN alice' 'SCAN alice' 'SCAN alice' &
touching=$!
check 'a finger is enrolled by its button' at_desktop <<STEPS
start
sees No items yet
key ctrl+comma
sees No finger is enrolled.
sees Items that require the present set of fingers can never be read again
hides Delete Fingers
run $own/approve 'to enroll a finger: all fingers that this computer'
press Enroll Finger to Approve
sees Waiting for your answer: the fingerprint reader
shot settings-finger-touch
run echo >$own/told
sees The finger is enrolled.
sees A finger approves requests, and does not unlock the keychain.
shot settings-finger
press Delete Fingers
sees Nothing can show a prompt here
sees A finger approves requests
STEPS
check 'the sensor was touched for the first finger' wait "$touching"
check 'there is a template, and the keychain records the enrollment' \
    eval '[ "$(templates)" -gt 0 ] && alice status 2>/dev/null | grep -q "finger" && ! alice status 2>/dev/null | grep -q "no finger enrolled"'

# Another finger, which also unlocks the keychain; then all are deleted.
touches 'SCAN thumb' 'SCAN thumb' 'SCAN thumb' 'SCAN thumb' 'SCAN thumb' &
touching=$!
check 'another finger is enrolled that also unlocks, and then all are deleted' at_desktop <<STEPS
start
sees No items yet
key ctrl+comma
sees A finger approves requests, and does not unlock the keychain.
run $own/approve 'and unlock your keychain'
press Enroll Finger to Approve and Unlock
sees The finger is enrolled, and unlocks the keychain.
sees A finger approves requests, and unlocks the keychain after the first unlock.
shot settings-finger-unlocks
run $own/approve 'to delete your fingers'
press Delete Fingers
sees Your fingerprints are deleted.
sees No finger is enrolled.
hides Delete Fingers
shot settings-fingers-deleted
STEPS
check 'the sensor was touched for the other finger' wait "$touching"
check 'the reader has no fingers any more' equals "$(templates)" 0
kill "$reader_pid" 2>/dev/null
echo 'a user enrolls and deletes fingers in the window'
finish
