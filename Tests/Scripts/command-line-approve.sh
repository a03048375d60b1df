#!/usr/bin/env bash
# vauban approve: a program without a terminal prompts there; `vauban approve -- CMD` runs a command on an inner terminal and keeps the
# outer one for prompts.
# proves: C-097 C-104
set -u
. Tests/Scripts/lib/command-line.sh
set_passcode
printf 'the secret' | vauban set bank/anna --require presence || fail 'set failed'

# A caller in a session without a terminal. It writes to files, so that the terminal shows only the output of vauban approve.
cat >"$TMPDIR/asker" <<ASKER
#!/bin/sh
setsid "$VAUBAN_BUILD/vauban" get bank/anna </dev/null >"$TMPDIR/asked" 2>"$TMPDIR/asked.err" &
echo \$! >"$TMPDIR/asker.pid"
ASKER
# Waits for the end of the caller.
cat >"$TMPDIR/wait" <<'WAIT'
#!/bin/sh
pid=$(cat "$TMPDIR/asker.pid")
tail -s 0.02 --pid="$pid" -f /dev/null
WAIT
# The caller reports where the prompt is shown, possibly after it is shown.
cat >"$TMPDIR/told" <<'TOLD'
#!/bin/sh
until grep -q 'Waiting for your answer: vauban approve on pts/' "$TMPDIR/asked.err"; do kill -0 "$(cat "$TMPDIR/asker.pid")" || exit 1; done
TOLD
chmod +x "$TMPDIR/asker" "$TMPDIR/wait" "$TMPDIR/told"
export TMPDIR

# On a terminal without a command.
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/asker
expect Program:  vauban (/
expect Message:  “get bank/anna”
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/asked)" = 'the secret' ]
run $TMPDIR/asker
expect Attempt 1 of 3
expect Passcode
key ctrl-c
expect Cancelled
run $TMPDIR/wait
run $TMPDIR/asker
expect Attempt 1 of 3
expect Passcode
run $TMPDIR/told
run kill \$(cat $TMPDIR/asker.pid)
expect withdrawn
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out"; fail 'Ctrl-C did not end vauban approve'; }
grep -q "$passcode" "$TMPDIR/out" && fail 'the passcode was shown'

# With a command: its exit code, its window size and its keys are passed on; prompts appear over its output and disappear again.
play "$VAUBAN_BUILD/vauban" approve -- sh -c 'exit 7' </dev/null >"$TMPDIR/out"
[ $? = 7 ] || { cat "$TMPDIR/out"; fail 'the exit code was not passed on'; }
play "$VAUBAN_BUILD/vauban" approve -- sh -c 'kill -TERM $$' </dev/null >"$TMPDIR/out"
[ $? = 143 ] || { cat "$TMPDIR/out"; fail 'the status after a signal was not passed on'; }
play "$VAUBAN_BUILD/vauban" approve -- "$TMPDIR/no-such-program" </dev/null >"$TMPDIR/out"
[ $? = 127 ] || { cat "$TMPDIR/out"; fail 'a missing command is not reported'; }
cat >"$TMPDIR/inner" <<INNER
#!/bin/sh
trap 'echo size \$(stty size)' WINCH
echo size \$(stty size)
read -r line; echo "heard \$line"
# A signal interrupts the shell's read before it has read anything.
until read -r line; do :; done; echo "heard \$line"
"$VAUBAN_BUILD/vauban" get bank/anna
echo "got \$?"
exit 3
INNER
chmod +x "$TMPDIR/inner"
play "$VAUBAN_BUILD/vauban" approve -- "$TMPDIR/inner" >"$TMPDIR/out" <<STEPS
expect size 24 100
send first line
expect heard first line
resize 40x120
expect size 40 120
send second line
expect heard second line
expect [?1049h
expect Vauban asks for your approval
expect Passcode
secret $passcode
expect [?1049l
expect the secret
expect got 0
STEPS
[ $? = 3 ] || { cat "$TMPDIR/out"; fail 'the command ended with another status'; }
grep -q "$passcode" "$TMPDIR/out" && fail 'the passcode reached the command'

# Job control and Ctrl-C belong to the command.
play "$VAUBAN_BUILD/vauban" approve -- sh -c 'trap "echo interrupted; exit 9" INT; echo ready; while :; do read -r line; done' >"$TMPDIR/out" <<'STEPS'
expect ready
key ctrl-c
expect interrupted
STEPS
[ $? = 9 ] || { cat "$TMPDIR/out"; fail 'Ctrl-C did not reach the command'; }

# Long output is passed on completely.
play "$VAUBAN_BUILD/vauban" approve -- seq 1 20000 </dev/null >"$TMPDIR/out" || fail 'seq failed'
seq 1 20000 | cmp - "$TMPDIR/out" || fail 'output was lost'

# The terminal is restored.
play sh -c "'$VAUBAN_BUILD/vauban' approve -- true; stty -a" </dev/null >"$TMPDIR/out"
grep -q -- ' -echo \| -icanon' "$TMPDIR/out" && fail 'the terminal was not restored'
expect_status 36 detached approve

# A service that the user stopped stays stopped: `vauban stop` finds nothing to stop. After it runs again, prompts appear here again.
cat >"$TMPDIR/stop" <<STOP
#!/bin/sh
"$VAUBAN_BUILD/vauban" stop 2>>"$TMPDIR/stopped"
STOP
cat >"$TMPDIR/open" <<OPEN
#!/bin/sh
echo '$passcode' | "$VAUBAN_BUILD/vauban" unlock --passcode-fd 0 2>/dev/null
OPEN
chmod +x "$TMPDIR/stop" "$TMPDIR/open"
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here (
run $TMPDIR/stop
expect Prompts cannot appear here now: Vauban is not running
run $TMPDIR/stop
run $TMPDIR/open
expect Prompts appear here again.
run $TMPDIR/asker
expect Message:  “get bank/anna”
secret $passcode
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/asked)" = 'the secret' ]
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out"; fail 'vauban approve did not register again'; }
printf 'Stopped.\nThe service was not running.\n' | cmp - "$TMPDIR/stopped" || fail 'vauban approve started a stopped service'
: >"$TMPDIR/stopped"
cat >"$TMPDIR/inner" <<INNER
#!/bin/sh
"$TMPDIR/stop"
read -r line
"$TMPDIR/stop"
"$TMPDIR/open"
read -r line
"$VAUBAN_BUILD/vauban" get bank/anna
INNER
play "$VAUBAN_BUILD/vauban" approve -- "$TMPDIR/inner" >"$TMPDIR/out" <<STEPS
expect vauban: Prompts cannot appear here now: Vauban is not running
send on
expect vauban: Prompts appear here again.
send on
expect Passcode
secret $passcode
expect the secret
STEPS
[ $? = 0 ] || { cat "$TMPDIR/out"; fail 'vauban approve with a command did not register again'; }
printf 'Stopped.\nThe service was not running.\n' | cmp - "$TMPDIR/stopped" || fail 'vauban approve with a command started a stopped service'
echo 'prompts appear in vauban approve, and each key reaches only the program that it is meant for'
