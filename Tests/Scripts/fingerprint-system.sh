#!/usr/bin/env bash
# Fingerprints in the installed service: the reader as its own user, real polkit with the installed rule, and two users.
# proves: C-146 C-147 C-182
# proves-equivalent: C-048
set -u
. Tests/Scripts/lib/system-rooms.sh
getent passwd vauban-test-reader >/dev/null || { echo 'there is no user for the reader'; exit 77; }
. Tests/Scripts/lib/own-bus.sh
. Tests/Scripts/lib/own-fprintd.sh
trap 'stop_fingers; stop_bus' EXIT
echo 'reader vauban-test-reader' >>/etc/vauban/rooms
install -d -m 700 -o vauban-test-reader -g vauban-test-reader "$state/reader"
# must NAME COMMAND...: a check on which all later ones depend: they would wait for fingers in vain.
must() { local before=$failures; check "$@"; [ "$failures" = "$before" ] || { cat "$TMPDIR/touches" "$TMPDIR/fprintd.log" "$TMPDIR/polkit.log"; finish; }; }
touches() { finger touch "$@" >>"$TMPDIR/touches" 2>&1; }
# status USER TEXT: repeats until the user's status has the text.
status() {
    eventually shown "$1" "$2" && return
    cat "$TMPDIR/status" "$TMPDIR/rooms.log"; return 1
}
enroll() { # enroll USER FINGER
    touches "SCAN $2" "SCAN $2" "SCAN $2" "SCAN $2" "SCAN $2" & local touching=$!
    with_passcode "$1" finger enroll >"$TMPDIR/out" 2>&1 && wait "$touching" || { cat "$TMPDIR/out" "$TMPDIR/touches" "$TMPDIR/rooms.log"; false; }
}

start_bus
# The installed rule, for the test's user, and behind it one that permits everything to every user: what is refused is refused by ours.
sed 's/vauban-reader/vauban-test-reader/' Install/polkit/vauban.rules >"$TMPDIR/our.rules"
mkdir "$TMPDIR/rules"
echo 'polkit.addRule(function (action) { return action.id.indexOf("net.reactivated.fprint.") === 0 ? polkit.Result.YES : polkit.Result.NOT_HANDLED; });' \
    >"$TMPDIR/rules/70-everybody.rules"
start_polkit "$TMPDIR/our.rules"
start_fprintd
start_rooms
# A false bus and a false address in its environment are ignored; the one for tests takes its bus as an argument.
room - vauban-test-reader env DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent "$bin/rooms-testing" vauban-reader $enclave_arguments \
    --state "$state/reader" --bus "$bus_address" --bus-owner-uid 0
reader_pid=$!
check 'alice and bob set passcodes' eval 'with_passcode alice passcode set 2>/dev/null && with_passcode bob passcode set 2>/dev/null'
must 'the service has a reader' status alice 'reader available; no finger enrolled'

must 'alice enrolls a finger, as vauban does' enroll alice alice
must 'bob enrolls his own' enroll bob bob
check 'they are named after the passcode' equals "$(with_passcode alice finger list 2>/dev/null)" 'right index finger'
check 'and in JSON under the names of the reader' eval 'with_passcode alice finger list --json 2>/dev/null | grep -q "\"name\" : \"right-index-finger\""'
check 'and not without' refused 51 as vauban-test-alice "$bin/vauban" finger list --passcode-fd 3 3<"$TMPDIR/bob.passcode"
as_alice() { as vauban-test-alice /usr/bin/python3 "$TMPDIR/bus/own-fprintd.py" "$bus_address" "$sensor" "$@" >"$TMPDIR/direct" 2>&1; }
check 'alice may list fingers at fprintd herself, as her desktop does' eval 'echo | as_alice hold vauban-test-alice'
check 'but cannot enroll one there' eval '! as_alice enroll vauban-test-alice left-thumb "SCAN mallory" && grep -q PermissionDenied "$TMPDIR/direct"'
check 'nor delete one' eval '! as_alice delete vauban-test-alice && grep -q PermissionDenied "$TMPDIR/direct"'
check 'only root can enter the folder of templates' \
    eval 'for user in alice reader enclave keychain auth; do as vauban-test-$user ls "$TMPDIR/fprint" >/dev/null 2>&1 && exit 1; done; [ -n "$(find "$TMPDIR/fprint" -type f)" ]'
check 'only the reader can read its key' eval 'equals "$(stat -c "%U %a" "$state/reader/pairing")" "vauban-test-reader 600"'
check 'SECURITY.md says which programs could read templates' grep -qF 'root can read the templates that fprintd stores on disk' SECURITY.md
check 'neither library has a call for fingers' \
    eval '! grep -rhE "^ *(public|open) .*(enroll|[Ff]ingerprint|template)" Sources/Callers/VaubanSecurity Sources/Callers/VaubanLocalAuthentication'

# An item that only the present set of fingers opens, through Apple's names, with the prompt at the prompt agent.
caller() {
    printf 'expect Prompts appear here\nrun setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups env HOME=%s %s %s >%s 2>&1 &\n' "$TMPDIR/alice" \
        "$bin/keychain-caller" "${calls:-get present}" "$TMPDIR/got"
}
at_prompt_agent() { # at_prompt_agent FINGER...: touches while the prompt is there; `calls` are the words of the program that asks, `first_step` runs first
    : >"$TMPDIR/got"; chmod 666 "$TMPDIR/got"
    {
        caller
        echo 'expect Touch the fingerprint reader'
        [ -z "${first_step:-}" ] || echo "run $first_step"
        printf "run /usr/bin/python3 %s %s %s touch" "$TMPDIR/bus/own-fprintd.py" "$bus_address" "$sensor"
        printf " '%s'" "$@"
        # The prompt agent accepts the next key only when the prompt has left the screen.
        printf '\nexpect ccepted.\nrun timeout %s bash -c "until grep -q . %s; do :; done"\nkey ctrl-c\n' "$hang_seconds" "$TMPDIR/got"
    } >"$TMPDIR/steps"
    # The touches come from root: only the bus and the sensor's own socket matter to them.
    "$bin/pty-play" --seconds "$hang_seconds" -- setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups env HOME="$TMPDIR/alice" \
        "$bin/vauban" approve <"$TMPDIR/steps" >"$TMPDIR/shown" 2>&1
    [ $? = 130 ] || { cat "$TMPDIR/shown"; return 1; }
}
check 'alice adds an item for the present set' equals "$(as vauban-test-alice "$bin/keychain-caller" fingers present 'for these fingers')" 0
must 'her finger opens it' eval 'at_prompt_agent "SCAN alice" && equals "$(cat "$TMPDIR/got")" "0 for these fingers"'
must 'bob'"'"'s does not, three times' eval 'at_prompt_agent "SCAN bob" "SCAN bob" "SCAN bob" && equals "$(cat "$TMPDIR/got")" -25293'
# Bob, who may be anywhere, begins to enroll and touches nothing. Her prompt waits for its turn, of which the reader's log tells.
cat >"$TMPDIR/turn" <<TURN
#!/bin/sh
timeout $hang_seconds tail -n +1 -F "$TMPDIR/rooms.log" 2>/dev/null | grep -q -m 1 'user $(id -u vauban-test-alice) has the sensor now'
TURN
chmod 755 "$TMPDIR/turn"
(exec setpriv --reuid vauban-test-bob --regid vauban-test-bob --clear-groups env HOME="$TMPDIR/bob" "$bin/vauban" finger enroll --passcode-fd 3 3<"$TMPDIR/bob.passcode") \
    >"$TMPDIR/bob.enrolls" 2>&1 </dev/null & bob_enrolls=$!
must 'bob begins to enroll another finger' eventually grep -q 'Touch it 5 times' "$TMPDIR/bob.enrolls"
must 'her finger opens it all the same, when he has not touched the reader for a while' \
    eval 'first_step="$TMPDIR/turn" at_prompt_agent "SCAN alice" && equals "$(cat "$TMPDIR/got")" "0 for these fingers"'
check 'then it is his turn again' eventually eval '[ "$(grep -c "Touch it 5 times" "$TMPDIR/bob.enrolls")" = 2 ]'
kill "$bob_enrolls"; wait "$bob_enrolls" 2>/dev/null
must 'her finger still does' eval 'at_prompt_agent "SCAN alice" && equals "$(cat "$TMPDIR/got")" "0 for these fingers"'
# A right for the present set is kept the same way, and its key signs.
check 'alice saves a right for the present set' equals "$(as vauban-test-alice "$bin/keychain-caller" save-right 2fa)" 0
must 'her finger signs with it' eval 'calls="right 2fa" at_prompt_agent "SCAN alice" && grep -q "^unknown 0 ." "$TMPDIR/got"'
# The virtual sensor may compare a touch with either of two templates, so both are of the same finger.
must 'another finger of hers, enrolled with vauban, begins another set' \
    eval 'enroll alice alice; refused 0 as vauban-test-alice "$bin/keychain-caller" get present; equals "$(cat "$TMPDIR/out")" -25293'
must 'and her finger no longer signs' eval 'calls="right 2fa" at_prompt_agent "SCAN alice" && equals "$(cat "$TMPDIR/got")" -1'

# Only fprintd's own user is accepted: alice owns the name on a bus that permits her.
check 'what alice says under fprintd'"'"'s name is not believed' eval '
    { stop_fprintd; true; } && status bob "the reader is missing" && { (exec setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups /usr/bin/python3 -c "
import dbus, dbus.service, dbus.mainloop.glib, sys
from gi.repository import GLib
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(sys.argv[1])
name = dbus.service.BusName(\"net.reactivated.Fprint\", bus)
GLib.MainLoop().run()" "$bus_address") & false_fprintd=$!; } &&
    timeout "$hang_seconds" tail -n +1 -F "$TMPDIR/rooms.log" 2>/dev/null | grep -q -m 1 "who is not trusted" && status bob "the reader is missing" &&
    { kill "$false_fprintd"; wait "$false_fprintd" 2>/dev/null; true; } && { start_fprintd; true; } && status bob "enrolled; 5 more may fail"'
kill "$reader_pid" 2>/dev/null
finish
