#!/usr/bin/env bash
# Prompts on a program's own terminal in the installed service, by its own users: only after the user permitted them, in the foreground, and with
# the terminal restored afterwards; Vauban's own command line needs no permission. Attacks on this are in attacks-prompt.sh (A63 to A66, A74).
# proves: C-106 C-109
set -u
. Tests/Scripts/lib/system-rooms.sh
own=$TMPDIR/alice
install -o vauban-test-alice -g vauban-test-alice -m 755 "$bin/keychain-caller" "$own/program"
program=$own/program
start_rooms
check 'both set a passcode' eval 'with_passcode alice passcode set 2>/dev/null && with_passcode bob passcode set 2>/dev/null'
check 'her program adds an item that requires her' equals "$(as vauban-test-alice "$program" guard a 'of the program')" 0
check 'she adds one with the command line' eval 'printf "by hand" | alice set bank/me --require presence 2>/dev/null'

# at_terminal COMMANDS <<STEPS: a shell on a new terminal of hers, which reports the terminal's state at the end.
modes='[ "$(stty -g)" = "$before" ] && echo modes as before || echo other modes'
at_terminal() { play alice sh -c "before=\$(stty -g); $1; $modes" >"$TMPDIR/shown" 2>&1 || { cat "$TMPDIR/shown"; return 1; }; }
# shows TEXT...: everything that was on it, line by line.
shows() { equals "$(cat "$TMPDIR/shown")" "$(printf '%s\n' "$@")"; }
# A program that prints its process number, for what happens to it during its prompt.
asking="sh -c 'echo \$\$ >$own/pid; exec \$0 \$@' $program"
refused_everywhere() { at_terminal "$program evaluate a; $program get a" </dev/null && shows -1004 -25308 'modes as before'; }

check 'without her permission a program is refused at once, and nothing appears on its terminal' refused_everywhere
check 'the permission of another user does not count' eval 'with_passcode bob allow terminal-prompts on 2>/dev/null && refused_everywhere'
check 'vauban prompts on its own terminal without it' at_terminal "$bin/vauban get bank/me; echo; $bin/vauban get bank/me; echo \"ended \$?\"" <<STEPS
expect Program:  vauban ($bin/vauban · process
expect asscode (
secret not her passcode
expect That was not your passcode. 4 attempts are left
expect asscode (
secret alice passcode
expect by hand
expect Program:  vauban ($bin/vauban · process
expect asscode (
key ctrl-c
expect ended 128
expect modes as before
STEPS
check 'ended by a signal during its prompt, it restores the terminal' at_terminal "sh -c 'echo \$\$ >$own/pid; exec $bin/vauban get bank/me'; echo \"ended \$?\"" <<STEPS
expect asscode (
run kill -TERM \$(cat $own/pid)
expect ended 143
expect modes as before
STEPS

check 'her permission needs her passcode' at_terminal "$bin/vauban allow terminal-prompts on; echo \"ended \$?\"" <<STEPS
expect asscode
secret not her passcode
expect ended 51
expect modes as before
STEPS
check 'and does not hold before that' refused_everywhere
check 'she gives it' at_terminal "$bin/vauban allow terminal-prompts on" <<STEPS
expect asscode
secret alice passcode
expect Allowed. A program that controls its terminal can read the passcode that you type there.
expect modes as before
STEPS
check 'the status warns of it' eval 'alice status 2>/dev/null | grep -q "weak: other programs may show prompts on"'

check 'a program prompts on its own terminal, with its name and a warning that it can read the input; wrong, then right' at_terminal "$program get a" <<STEPS
expect Vauban asks for your approval
expect Program:  program ($program · process
expect This program can read what you type here; you allowed that with: vauban allow terminal-prompts
expect Passcode (
secret not her passcode
expect That was not your passcode. 4 attempts are left before you have to wait. Attempt 2 of 3
expect Passcode (
secret alice passcode
expect 0 of the program
expect modes as before
STEPS
check 'no passcode was shown' eval '! grep -q "her passcode\|alice passcode" "$TMPDIR/shown"'
check 'the prompt shows the request; Ctrl-C refuses' at_terminal "$program ask 'open the vault'; $program get a" <<STEPS
expect Program:  program ($program · process
expect Action:   to make sure that it is you
expect Message:  “open the vault”
expect Passcode (
key ctrl-c
expect -2
expect Passcode (
key ctrl-c
expect -128
expect modes as before
STEPS
check 'three wrong passcodes end it' at_terminal "$program evaluate a" <<STEPS
expect Passcode (
secret one
expect Passcode (
secret two
expect Passcode (
secret three
expect -1
expect modes as before
STEPS
check 'a lock ends the prompt' at_terminal "$program evaluate a" <<STEPS
expect Passcode (
run $bin/vauban lock 2>$own/locked
expect -4
expect modes as before
STEPS
check 'she unlocks' eval 'with_passcode alice unlock 2>/dev/null'
check 'a program that exits during its prompt restores the terminal' at_terminal "$asking leave a; echo \"ended \$?\"" <<STEPS
expect Passcode (
run kill -TERM \$(cat $own/pid)
expect ended 3
expect modes as before
STEPS

# A killed program cannot restore it: the terminal stays without echo, until its shell or the user restores it.
check 'killed during its prompt, it leaves a terminal without echo, and the service can prompt again' \
    at_terminal "$asking evaluate a; stty -a | grep -ow -e -echo; stty \$before; $program evaluate a" <<STEPS
expect Passcode (
run kill -KILL \$(cat $own/pid)
expect -echo
expect Passcode (
secret alice passcode
expect 0
expect modes as before
STEPS
check 'a shell with job control restores it' eval 'play alice bash --norc --noprofile -i >"$TMPDIR/shown" 2>&1 || { cat "$TMPDIR/shown"; false; }' <<STEPS
send before=\$(stty -g)
send $asking evaluate a
expect Passcode (
run kill -KILL \$(cat $own/pid)
expect Killed
send [ "\$(stty -g)" = "\$before" ] && echo modes as be''fore
expect modes as before
send exit
STEPS

cat >"$own/background" <<BACKGROUND
set -m
for verb in evaluate get; do "$program" \$verb a & wait \$!; done
BACKGROUND
check 'in the background of the terminal it is refused at once' eval 'at_terminal "bash $own/background" </dev/null && shows -1004 -25308 "modes as before"'
check 'and on a terminal that is not its own' eval 'at_terminal "setsid --wait $program get a" </dev/null && shows -25308 "modes as before"'


# Whether a new build is the same program: a refusal would be stored, and must be her own.
cp "$program" "$program.first" && printf x >>"$program"
check 'consent is not prompted for there; the terminal names the place' \
    eval 'at_terminal "$program get a" </dev/null &&
        shows "vauban: this prompt cannot appear in this terminal; run vauban approve in another terminal, then try again" -25308 "modes as before"'
check 'and is answered in vauban approve' eval 'play alice "$bin/vauban" approve >"$TMPDIR/shown"; [ $? = 130 ] || { cat "$TMPDIR/shown"; false; }' <<STEPS
expect Prompts appear here
run setsid $program add b 'of the new build' >$own/got 2>&1 </dev/null & echo \$! >$own/pid
expect Program:  program ($program · process
expect asscode
secret alice passcode
expect Accepted
run tail -s 0.02 --pid=\$(cat $own/pid) -f /dev/null; grep -qx 0 $own/got
key ctrl-c
STEPS
check 'the new build prompts on its own terminal for an item of the first one' at_terminal "$program get a" <<STEPS
expect Passcode (
secret alice passcode
expect 0 of the program
expect modes as before
STEPS

check 'she withdraws the permission' at_terminal "$bin/vauban allow terminal-prompts off" <<STEPS
expect asscode
secret alice passcode
expect No longer allowed
expect modes as before
STEPS
check 'and the state is as before her permission' refused_everywhere
finish
