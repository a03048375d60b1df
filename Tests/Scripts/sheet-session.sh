#!/usr/bin/env bash
# The sheet shows prompts while the user is at its session and its screen is not locked, as the login manager reports it, and in no other: over
# a real bus, with a simulated login manager.
set -u
. Tests/Scripts/lib/sheet.sh
. Tests/Scripts/lib/own-bus.sh
trap 'vauban stop >/dev/null 2>&1; stop_logind; stop_bus' EXIT
start_bus
start_logind "$(id -u)"
set_passcode
printf 'the secret' | vauban set bank/anna --require presence || fail 'set failed'
asker get "$VAUBAN_BUILD/vauban" get bank/anna
# Sets the state of the session; the sheet has been notified when its own message arrives.
cat >"$TMPDIR/session" <<SESSION
#!/bin/bash
echo "session \$*" >/proc/$$/fd/$logind_in
SESSION
# screen 1, screen 0: a screen locker reports that it locked or unlocked the screen.
cat >"$TMPDIR/screen" <<SCREEN
#!/bin/bash
echo "hint \$1" >/proc/$$/fd/$logind_in
SCREEN
chmod +x "$TMPDIR/session" "$TMPDIR/screen"
here='says Prompts appear here'
away='says Prompts cannot appear here now: this session is not the active one'

# return_to_session: before a sheet starts. The reply to `held` shows that the login manager has handled the earlier commands.
return_to_session() { tell_logind 'session active'; tell_logind 'hint 0'; tell_logind held; expect_logind 'held 0'; }

# The session is not in use, or its screen is locked: a caller is refused at once, a present prompt is withdrawn, and new ones are not shown.
at_desktop <<STEPS
start DBUS_SYSTEM_BUS_ADDRESS=$bus_address
run $TMPDIR/get
sees Vauban passcode
type half a pass
run $TMPDIR/session online
$away
gone
run $TMPDIR/get-ended 36
run $TMPDIR/get
run $TMPDIR/get-ended 36
run $TMPDIR/session active
$here
run $TMPDIR/get
sees Vauban passcode
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
run $TMPDIR/session active remote
$away
run $TMPDIR/get
run $TMPDIR/get-ended 36
run $TMPDIR/session active
$here
run $TMPDIR/session closing
$away
run $TMPDIR/session active
$here
run $TMPDIR/get
sees Vauban passcode
run $TMPDIR/screen 1
$away
gone
run $TMPDIR/get-ended 36
run $TMPDIR/get
run $TMPDIR/get-ended 36
run $TMPDIR/screen 0
$here
run $TMPDIR/get
sees Vauban passcode
key Escape
gone
run $TMPDIR/get-ended 128
run $TMPDIR/session none
$away
run $TMPDIR/get
run $TMPDIR/get-ended 36
STEPS
echo 'ok: no prompt appears in a session that is in the background, remote, locked, ending or over'

# A session of the same user at another place takes the prompt over, as a terminal does here.
for leave in 'session online' 'screen 1'; do
    return_to_session
    start_prompt_agent
    at_desktop <<STEPS
start DBUS_SYSTEM_BUS_ADDRESS=$bus_address
run until [ -e $TMPDIR/prompt_agent ]; do kill -0 $prompt_agent || exit 1; done
run $TMPDIR/get
sees Vauban passcode
run $TMPDIR/$leave
gone
run $TMPDIR/get-ended 0
STEPS
    await_prompt_agent
done
echo 'ok: the prompt appears where the user is'

# Without a login manager there are no sessions, and one that appears is queried.
return_to_session
at_desktop <<STEPS
start DBUS_SYSTEM_BUS_ADDRESS=$bus_address
run $TMPDIR/session online
$away
run kill -KILL $logind_pid
$here
run $TMPDIR/get
sees Vauban passcode
key Escape
gone
run $TMPDIR/get-ended 128
STEPS
echo 'ok: without a login manager the sheet shows prompts'
