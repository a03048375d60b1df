#!/usr/bin/env bash
# What programs do with the person's own hand and in the person's place, tried: the command line started by others, false places to be
# asked, terminals, guesses. Each check is an attack of Manual/attacks.md.
set -u
. Tests/Scripts/lib/attacks.sh
install -o vauban-test-bob -m 755 "$TMPDIR/impostor" "$TMPDIR/bob/impostor"
cp "$VAUBAN_BUILD/vauban-watcher" "$bin/" || exit 77
echo "watcher vauban-test-watcher" >>/etc/vauban/rooms
begin_attacks
printf 'by hand' | alice set notes/me 2>/dev/null && printf 'asks first' | alice set bank/me --require presence 2>/dev/null || exit 1
# Any program that starts the command line, without a terminal.
program() { as vauban-test-alice python3 -c 'import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL).returncode)' "$bin/vauban" "$@"; }

check 'A54 another program starts vauban for what the person keeps by hand: succeeds' equals "$(program get notes/me)" 'by hand'
check 'A54 where the item asks for the person: refused, nobody is there' refused 36 program get bank/me
check 'A55 for what another program keeps: asked, and nobody is there' refused 36 program get callers/a
check 'A56 to list what the person keeps by hand: succeeds, without values' eval 'program list >"$TMPDIR/list" 2>/dev/null && grep -q notes "$TMPDIR/list" && ! grep -q "by hand" "$TMPDIR/list"'
check 'A56 to list what all programs keep: asked, and nobody is there' refused 36 program list --all-owners
check 'A57 an item planted in another'"'"'s group: refused' eval 'cp "$bin/keychain-caller" "$own/planter" && chmod 755 "$own/planter" && equals "$(by alice "$own/planter" add a planted program:/usr/local/games/bin/mail)" -34018 && equals "$(by alice "$own/planter" add me planted cli)" -34018'
check 'A58 an item planted in cli, through vauban: succeeds' eval 'as vauban-test-alice sh -c "printf planted | \"\$0\" set planted/me" "$bin/vauban" 2>/dev/null && equals "$(alice get planted/me)" planted'
check 'A59 an item of cli deleted through vauban: succeeds' eval 'program delete planted/me 2>/dev/null; refused 44 alice get planted/me'
check 'A60 a program let in, builds or terminals accepted, through vauban: refused' eval 'refused 36 program allow "$own/attacker" callers/a --owner program:/usr/local/games/bin/mail && refused 36 program allow build "$own" && refused 36 program allow terminal-prompts on'
check 'A61 everything erased, through vauban: refused' eval '! program erase >"$TMPDIR/erase" 2>&1 && equals "$(alice get notes/me)" "by hand"'
check 'A62 the keychain locked, by any program: succeeds' eval 'program lock 2>/dev/null && refused 36 program get notes/me && with_passcode alice unlock 2>/dev/null'

# False places to be asked.
agent() { who=$1; shift; rm -f "$TMPDIR/agent"; behind "$who" "$TMPDIR/$who/impostor" agent "$@" >"$TMPDIR/agent" & agent=$!; until_said "$wait_for" "$TMPDIR/agent"; }
away() { kill "$agent" 2>/dev/null; wait "$agent" 2>/dev/null; true; }
wait_for=registered
check 'A63 another person registers as a place to be asked: asked nothing' eval 'agent bob 1 cancel && refused 36 program get bank/me && away && ! grep -q asked "$TMPDIR/agent"'
check 'A64 a hostile program of the same person: succeeds in seeing the question and cancelling it' eval 'agent alice 1 cancel && refused 128 program get bank/me && away && grep -q "asked: .*get bank/me" "$TMPDIR/agent"'
check 'A65 it answers yes: there is no such answer, and it is let go' eval 'agent alice 1 yes && refused 36 program get bank/me && until_said closed "$TMPDIR/agent"'; away
check 'A65 it answers with a passcode of its own making: refused, and no try is used up' eval 'agent alice 1 guess && refused 206 program get bank/me && away && alice status 2>/dev/null | grep -q "5 tries left"'
wait_for=refused
check 'A66 a program asks on a terminal of its own, as vauban does: refused' eval 'agent alice 2 cancel && away && equals "$(head -n 1 "$TMPDIR/agent")" "refused 17"'
with_passcode alice allow terminal-prompts on 2>/dev/null || exit 1
check 'A66 a program of another person, who allowed nothing: refused all the same' eval 'agent bob 2 cancel && away && equals "$(head -n 1 "$TMPDIR/agent")" "refused 17"'
wait_for=registered
check 'A74 where the person allows terminals, a program registers its own: asked nothing about other programs' eval 'agent alice 2 cancel && refused 36 program get bank/me && equals "$(by alice setsid --wait /usr/local/games/bin/mail evaluate a </dev/null)" -1004; told=$?; away; [ $told = 0 ] && ! grep -q asked "$TMPDIR/agent"'
wait_for=refused
with_passcode alice allow terminal-prompts off 2>/dev/null || exit 1
check 'A66 after they took it back: refused again' eval 'agent alice 2 cancel && away && equals "$(head -n 1 "$TMPDIR/agent")" "refused 17"'

# Terminals.
if command -v script >/dev/null; then
    cat >"$TMPDIR/steps" <<PLAY
expect asscode
secret alice passcode
expect asks first
PLAY
    check 'A67 whoever owns the terminal reads the passcode: succeeds' eval 'play alice script -q --log-in "$own/typed" -c "$bin/vauban get bank/me" <"$TMPDIR/steps" >"$TMPDIR/shown" || cat "$TMPDIR/shown"; grep -qa "alice passcode" "$own/typed"'
fi
# on_terminal COMMAND: runs it on a terminal whose name is then in the file `terminal`.
on_terminal() { play alice sh -c "tty >$own/terminal; $1" <"$TMPDIR/steps" >"$TMPDIR/shown" || { status=$?; cat "$TMPDIR/shown"; return $status; }; }
# It has to be in its read before anything is typed.
cat >"$TMPDIR/steps" <<PLAY
expect asscode
run touch $own/heard; $own/impostor overhear \$(cat $own/terminal) >$own/heard 2>&1 & until grep -q listening $own/heard && [ "\$(cut -d ' ' -f 3 /proc/\$!/stat)" = S ]; do :; done
secret alice passcode
run until grep -q ^heard $own/heard; do :; done
secret alice passcode
expect asks first
PLAY
check 'A68 another program of the person opens the terminal and reads along: succeeds' eval 'on_terminal "exec $bin/vauban get bank/me" && grep -q "^heard alice passcode" "$own/heard"'
# What it types comes when the question is there.
cat >"$TMPDIR/steps" <<PLAY
expect asscode
run touch $own/go
expect Attempt 2 of 3
expect asscode
key ctrl-c
PLAY
if [ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1)" = 1 ]; then
    check 'A69 a program types into the terminal that it was started from: succeeds, and what it types counts as a try' eval '! on_terminal "(until [ -e $own/go ]; do :; done; $own/impostor type wrong\\\\n /dev/tty) & exec $bin/vauban get bank/me" >/dev/null; grep -q "4 tries left. Attempt 2 of 3" "$TMPDIR/shown" && ! grep -q "asks first" "$TMPDIR/shown" '
else
    check 'A69 a program types the answer into the terminal that it was started from: refused by the kernel' eval 'on_terminal "$own/impostor type o /dev/tty" </dev/null; grep -q "not typed 5" "$TMPDIR/shown"'
fi
: >"$TMPDIR/steps"
# EPERM by the terminal's rule; EIO where this kernel lets nobody type.
typing=1; [ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1)" = 1 ] || typing=5
check 'A70 a command under vauban approve types into the terminal above it: refused' eval 'on_terminal "exec $bin/vauban approve -- $own/impostor type x \$(cat $own/terminal)"; grep -Eq "not typed $typing|not opened [0-9]+" "$TMPDIR/shown"'
by alice mkdir -p "$own/first" && printf '#!/bin/sh\nprintf "Passcode: "\nread -r passcode\necho "$passcode" >%s/collected\n' "$own" >"$own/first/vauban" && chmod 755 "$own/first/vauban"
check 'A71 a false vauban earlier on the path: collects what is typed, succeeds' eval 'as vauban-test-alice PATH="$own/first:$PATH" sh -c "printf \"alice passcode\n\" | vauban unlock" >/dev/null && grep -q "alice passcode" "$own/collected"'

# Guesses, by a program that has all the time.
printf 'a guess\n' >"$TMPDIR/guess"
by bob "$bin/vauban" lock 2>/dev/null
guess() { as vauban-test-bob "$bin/vauban" unlock --passcode-fd 3 3<"$1" 2>"$TMPDIR/guessed"; }
check 'A72 passcodes guessed through vauban: counted, and after the fifth not even the right one is taken for a minute' eval '(for _ in 1 2 3 4 5; do guess "$TMPDIR/guess"; equals $? 51 || exit 1; done) && ! guess "$TMPDIR/bob.passcode" && grep -qi "minute\|seconds" "$TMPDIR/guessed"'

# The watcher asks one bus, whatever its environment says.
behind alice "$own/impostor" serve "$own/bus" >"$TMPDIR/bus" & false_bus=$!
chmod 711 "$own"; until_said serving "$TMPDIR/bus"
room - vauban-test-watcher env DBUS_SYSTEM_BUS_ADDRESS="unix:path=$own/bus" DBUS_SESSION_BUS_ADDRESS="unix:path=$own/bus" "$bin/vauban-watcher" $door
check 'A73 a false bus in the watcher'"'"'s environment: it does not come' eval 'until_said "vauban-watcher: .*\(bus\|login manager\)" "$TMPDIR/rooms.log"; kill "$false_bus"; wait "$false_bus" 2>/dev/null; equals "$(cat "$TMPDIR/bus")" serving'
finish
