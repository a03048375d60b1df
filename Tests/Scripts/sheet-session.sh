#!/usr/bin/env bash
# The sheet asks while the user sits before its session, as the login manager says it, and in no other: over a real bus, with a login
# manager that is played.
set -u
. Tests/Scripts/lib/sheet.sh
. Tests/Scripts/lib/own-bus.sh
trap 'vauban stop >/dev/null 2>&1; stop_logind; stop_bus' EXIT
start_bus
start_logind "$(id -u)"
set_passcode
printf 'the secret' | vauban set bank/anna --require presence || fail 'set failed'
asker get "$VAUBAN_BUILD/vauban" get bank/anna
# How the session stands from now on; the sheet has been told when its own word comes.
cat >"$TMPDIR/session" <<SESSION
#!/bin/bash
echo "session \$*" >/proc/$$/fd/$logind_in
SESSION
chmod +x "$TMPDIR/session"
here='says prompts appear here'
away='says prompts cannot appear here now: this session is not the active one'

# return_to_session: before a sheet starts. The answer to `held` says that the login manager has done what came before.
return_to_session() { tell_logind 'session active'; tell_logind held; expect_logind 'held 0'; }

# Nobody looks at it: whoever asks is told so at once, a question that was there is taken away, and what comes is not shown.
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
run $TMPDIR/session none
$away
run $TMPDIR/get
run $TMPDIR/get-ended 36
STEPS
echo 'ok: a session that is behind another, remote, ending or over is no place to ask'

# A session of the same user at another place takes the question over, as a terminal does here.
return_to_session
start_approver
at_desktop <<STEPS
start DBUS_SYSTEM_BUS_ADDRESS=$bus_address
run until [ -e $TMPDIR/approver ]; do :; done
run $TMPDIR/get
sees Vauban passcode
run $TMPDIR/session online
gone
run $TMPDIR/get-ended 0
STEPS
await_approver
echo 'ok: the question goes to where the user is'

# Without a login manager nobody knows of sessions, and one that comes is asked.
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
echo 'ok: where there is no login manager the sheet asks'
