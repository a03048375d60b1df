#!/usr/bin/env bash
# `vauban status` in each state, and the effects of setup, serve and stop.
set -u
. Tests/Scripts/lib/command-line.sh

status_has() { vauban status >"$TMPDIR/out" 2>&1 || fail 'status failed'; for text in "$@"; do expect_text "$text" "$TMPDIR/out"; done; }

# The statement of what user mode protects against.
status_has 'any program that you run can read your secrets; install the service against that' \
    'protects against disk theft (as strongly as your passcode), other users and sandboxed programs' \
    'anyone who has the disk' 'unlocked, since 20' 'the service started' "VAUBAN_HOME  $VAUBAN_HOME" \
    'for other programs nowhere' 'Next         vauban passcode set'
set_passcode
status_has 'set; 5 attempts left' 'the passcode was set' 'vauban approve'
vauban lock 2>/dev/null
status_has 'locked, since 20' 'you locked it' 'Next         vauban unlock'
vauban unlock --passcode-fd 0 <<<wrong 2>/dev/null
# The program that used the attempt, and its purpose.
status_has 'set; 4 attempts left' 'Attempts     wrong on 20' ', to unlock: ' '/vauban' 'Recovery key none' 'Locks        when the machine sleeps' 'Fingers      no reader'
vauban unlock --passcode-fd 0 <<<wrong 2>/dev/null
status_has 'set; 3 attempts left'
unlock
status_has 'unlocked, since 20' 'the passcode was entered' 'set; 5 attempts left'
grep -q 'wrong on' "$TMPDIR/out" && fail 'wrong attempts are shown after the right passcode'
expect_status 0 vauban stop
expect_status 0 vauban stop
expect_text 'not running' "$TMPDIR/err"
status_has 'not unlocked since it started' 'the service started'
play "$VAUBAN_BUILD/vauban" status >"$TMPDIR/out" </dev/null
expect_text 'for vauban on this terminal (pts/' "$TMPDIR/out"
play "$VAUBAN_BUILD/vauban" approve >/dev/null <<STEPS
expect Prompts appear here
run "$VAUBAN_BUILD/vauban" status >$TMPDIR/out
key ctrl-c
STEPS
expect_text 'for all programs at: vauban approve on pts/' "$TMPDIR/out"

# setup without VAUBAN_HOME creates the user's own keychain in their data folder, which only they can read.
vauban stop 2>/dev/null
if [ -e /etc/vauban/rooms ]; then echo 'open: setup: a service is installed here'; exit 0; fi
unset VAUBAN_HOME
expect_status 53 vauban status
expect_status 0 vauban setup
expect_text 'any program that you run can read your secrets; install the service against that' "$TMPDIR/err"
expect_text 'vauban passcode set' "$TMPDIR/err"
home=$HOME/.local/share/vauban
[ "$(stat -c %a "$home")" = 700 ] || fail 'other users can read the folder'
grep -q "^launcher .*/vauban-launcher$" "$home/service" || fail 'the launcher is not recorded'
expect_status 0 vauban setup
expect_text 'Already set up' "$TMPDIR/err"
expect_status 0 vauban stop
# On a terminal it offers to set a passcode, which the user can decline.
play "$VAUBAN_BUILD/vauban" setup >"$TMPDIR/out" <<'STEPS' || fail 'setup failed after the user declined a passcode'
expect New passcode
key ctrl-c
expect No passcode is set
STEPS
play "$VAUBAN_BUILD/vauban" setup >"$TMPDIR/out" <<STEPS || fail 'no passcode was set in setup'
expect New passcode
secret $passcode
expect Repeat:
secret $passcode
expect Press Return
key enter
expect The passcode is set
STEPS
expect_status 0 vauban stop

# serve stays in the foreground, and Ctrl-C ends it and its rooms.
play "$VAUBAN_BUILD/vauban" serve >"$TMPDIR/out" <<STEPS
expect the rooms are running
run printf x | "$VAUBAN_BUILD/vauban" status >$TMPDIR/status
key ctrl-c
STEPS
expect_text 'Mode         user' "$TMPDIR/status"
expect_status 0 vauban stop
expect_text 'not running' "$TMPDIR/err"
echo 'status shows the state, and setup what user mode protects against'
