#!/usr/bin/env bash
# An application prompts on its own terminal only if there is no prompt agent, the user permitted it, and it is in the foreground; if the prompt
# is elsewhere, its terminal shows that.
# proves: C-106 C-109
set -u
. Tests/Scripts/lib/command-line.sh
caller=$(readlink -f "$VAUBAN_BUILD")/keychain-caller
[ -x "$caller" ] || { echo 'keychain-caller is not built'; exit 77; }
set_passcode
expect_status 0 "$caller" guard a 'the value'

# Not allowed: refused at once, in the foreground too, and nothing is written to the terminal.
play "$caller" get a >"$TMPDIR/out" <<STEPS
expect -25308
absent Vauban asks
STEPS
[ $? = 0 ] || { cat "$TMPDIR/out"; fail 'the prompt was not refused without permission'; }

play "$VAUBAN_BUILD/vauban" allow terminal-prompts on >"$TMPDIR/out" <<STEPS
expect asscode
secret $passcode
STEPS
[ $? = 0 ] || { cat "$TMPDIR/out"; fail 'terminal prompts could not be allowed'; }

# Permitted and in the foreground: it prompts, without echo, and the terminal is restored.
play sh -c '"$1" get a; "$1" evaluate a' sh "$caller" >"$TMPDIR/out" <<STEPS
expect Vauban asks for your approval
expect Program:  keychain-caller ($caller
expect Passcode (
secret not the passcode
expect That was not your passcode
secret $passcode
expect 0 the value
expect Message:  “evaluate”
expect Passcode (
key ctrl-c
expect -2
STEPS
[ $? = 0 ] || { cat "$TMPDIR/out"; fail 'there was no prompt in the foreground'; }
grep -q "$passcode" "$TMPDIR/out" && fail 'the passcode was shown'

# In the background of the same terminal: refused at once, by the keychain and by an evaluation.
cat >"$TMPDIR/background" <<BACKGROUND
set -m
"$caller" get a & wait \$!
"$caller" evaluate a & wait \$!
echo over
BACKGROUND
play bash "$TMPDIR/background" >"$TMPDIR/out" <<STEPS
expect -25308
expect -1004
expect over
absent Vauban asks
STEPS
[ $? = 0 ] || { cat "$TMPDIR/out"; fail 'a program in the background was not refused'; }

# Without a controlling terminal, but with another one on its standard input: a descriptor of a terminal does not permit prompts on it.
play sh -c 'setsid --wait "$1" get a; echo over' sh "$caller" >"$TMPDIR/out" <<STEPS
expect -25308
expect over
absent Vauban asks
STEPS
[ $? = 0 ] || { cat "$TMPDIR/out"; fail 'the prompt appeared on a terminal of another program'; }

# With a prompt agent elsewhere the prompt goes there, and the program's terminal names the place.
cat >"$TMPDIR/asker" <<ASKER
#!/bin/sh
exec "$VAUBAN_BUILD/pty-play" --seconds "$hang_seconds" -- "$caller" get a >"$TMPDIR/asked" <<'STEPS'
expect vauban: waiting for your answer: vauban approve on pts/
expect 0 the value
absent Vauban asks
STEPS
ASKER
chmod +x "$TMPDIR/asker"
cat >"$TMPDIR/start" <<START
#!/bin/sh
"$TMPDIR/asker" & echo \$! >"$TMPDIR/asker.pid"
START
chmod +x "$TMPDIR/start"
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/start
expect Program:  keychain-caller
expect Passcode
secret $passcode
expect Accepted
run tail -s 0.02 --pid=\$(cat $TMPDIR/asker.pid) -f /dev/null
run grep -q '0 the value' $TMPDIR/asked
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/asked"; fail 'the prompt did not go to the prompt agent'; }
expect_text 'vauban: waiting for your answer: vauban approve on pts/' "$TMPDIR/asked"
echo 'an application prompts on its own terminal if that is permitted, and not otherwise'
