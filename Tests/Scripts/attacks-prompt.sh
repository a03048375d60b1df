#!/usr/bin/env bash
# Attacks of programs that act as the user: the command line started by other programs, false prompt agents, terminals, guesses. Each check is an
# attack of Manual/attacks.md.
set -u
. Tests/Scripts/lib/attacks.sh
install -o vauban-test-bob -m 755 "$TMPDIR/impostor" "$TMPDIR/bob/impostor"
cp "$VAUBAN_BUILD/vauban-watcher" "$bin/" || exit 77
echo "watcher vauban-test-watcher" >>/etc/vauban/rooms
begin_attacks
printf 'by hand' | alice set notes/me 2>/dev/null && printf 'asks first' | alice set bank/me --require presence 2>/dev/null || exit 1
# Any program that starts the command line, without a terminal.
program() { as vauban-test-alice python3 -c 'import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL).returncode)' "$bin/vauban" "$@"; }

check 'A54 another program starts vauban for what the user keeps by hand: succeeds' equals "$(program get notes/me)" 'by hand'
check 'A54 where the item asks for the user: refused, nobody is there' refused 36 program get bank/me
mail=program:/usr/local/games/bin/mail
known=program:/usr/local/games/bin/known
equals "$(by alice /usr/local/games/bin/mail add zqone 'of mail too' "" "${known#program:}")" 0 || exit 1
check 'A55 for what another program keeps: not found' eval 'refused 44 program get callers/zqone && ! grep -q "of mail" "$TMPDIR/out"'
check 'A55 by its owner: asked, and nobody is there' refused 36 program get callers/zqone --owner "$mail"
check 'A56 to list what the user keeps by hand: succeeds, without values' \
    eval 'program list >"$TMPDIR/list" 2>/dev/null && grep -q notes "$TMPDIR/list" && ! grep -q "by hand" "$TMPDIR/list"'
check 'A56 to list what all programs keep: asked, and nobody is there' refused 36 program list --all-owners
check 'A57 an item planted in another'"'"'s group: refused' \
    eval 'cp "$bin/keychain-caller" "$own/planter" && chmod 755 "$own/planter" &&
        equals "$(by alice "$own/planter" add a planted program:/usr/local/games/bin/mail)" -34018 && equals "$(by alice "$own/planter" add me planted cli)" -34018'
# An offer of a script to mail, which has no item of that name: a program that another one runs has no name.
loader=$(ls /lib64/ld-linux-*.so.2 /lib/ld-linux-*.so.1 2>/dev/null | head -n 1)
script() { as vauban-test-alice "$loader" /usr/local/games/bin/mail "$@"; }
check 'A81 an item planted for another program: not found by it' \
    eval 'equals "$(script add master planted "" /usr/local/games/bin/mail)" 0 && equals "$(by alice /usr/local/games/bin/mail get master)" -25300 &&
        ! by alice /usr/local/games/bin/mail list "" | grep -q master'
check 'A81 by its owner: asked, and nobody is there' equals "$(by alice /usr/local/games/bin/mail get master - unsigned)" -25308
# The same guesses at existing and missing items; mail stores `zqone` and offers it to known.
guesses() {
    for verb in get fail list show; do script $verb "$1"; script $verb "$1" - "$mail"; done
    for verb in update delete; do script $verb "$1" x; script $verb "$1" x "$mail"; done
    script get "$1" - cli; script add "$1" x "$mail"; script add "$1" x; script delete "$1"
    for words in "get callers/$1" "get callers/$1 --owner $mail" "show callers/$1" "show callers/$1 --owner $mail" "find $1" "list" \
        "delete callers/$1" "delete callers/$1 --owner $mail" "allow $own/attacker callers/$1" "allow $own/attacker callers/$1 --owner $mail" \
        "disallow $own/attacker callers/$1" "disallow $own/attacker callers/$1 --owner $mail" "disallow $known callers/$1" \
        "run --env X=callers/$1 -- true"; do
        program $words 2>&1 | sed "s/$1/GUESS/g"; echo "ended ${PIPESTATUS[0]}"
    done
}
guesses zqone >"$TMPDIR/there"; guesses zqtwo >"$TMPDIR/absent"
check 'A82 guesses at what another program keeps: the same answers for what is there and what is not' \
    eval 'cmp "$TMPDIR/there" "$TMPDIR/absent" && [ "$(grep -c . "$TMPDIR/there")" -gt 40 ] && grep -q -e "-25308" "$TMPDIR/there" && ! grep -q "of mail" "$TMPDIR/there"'
check 'A82 and what was guessed at is still there' equals "$(by alice /usr/local/games/bin/mail get zqone)" '0 of mail too'
# Items with sixteen programs each, then with one, until no more fit; the user sees one line for all of them.
programs=$(find /usr/bin -maxdepth 1 -type f -perm -111 | sort | head -n 16)
offer_all() {
    for index in $(seq 60); do equals "$(script add "many$index" x "" $programs)" 0 || return 1; done
    for index in $(seq 80); do script add "one$index" x "" "${programs%%$'\n'*}"; done >"$TMPDIR/offers"
}
check 'A83 trusted applications without end: refused' \
    eval 'offer_all && equals "$(tail -n 1 "$TMPDIR/offers")" -25291 && alice allow >"$TMPDIR/allowed" 2>/dev/null &&
        grep -q "as many as it may" "$TMPDIR/allowed" && [ "$(grep -c . "$TMPDIR/allowed")" -lt 10 ]'
check 'A57 control: in its own group' equals "$(by alice "$own/planter" add a planted && by alice "$own/planter" get a)" "$(printf '0\n0 planted')"
check 'A58 an item planted in cli, through vauban: succeeds' \
    eval 'as vauban-test-alice sh -c "printf planted | \"\$0\" set planted/me" "$bin/vauban" 2>/dev/null && equals "$(alice get planted/me)" planted'
check 'A59 an item of cli deleted through vauban: succeeds' eval 'program delete planted/me 2>/dev/null; refused 44 alice get planted/me'
printf one | alice set past/me 2>/dev/null && printf two | alice set past/me --replace 2>/dev/null && printf gone | alice set gone/me 2>/dev/null &&
    alice delete gone/me 2>/dev/null || exit 1
check 'A140 earlier values of what another program keeps, or what it deleted, through vauban: asked, and nobody is there' \
    eval 'refused 36 program history callers/a --owner program:/usr/local/games/bin/mail --show 1 &&
        refused 36 program undo callers/a --owner program:/usr/local/games/bin/mail && refused 36 program list --deleted --all-owners'
check 'A141 another program adds and deletes in a loop: refused, what the user deleted can still be restored' \
    eval 'for round in $(seq 30); do equals "$(by alice "$own/planter" add flood x)$(by alice "$own/planter" delete flood)" 00 || break; done &&
        alice undelete gone/me 2>/dev/null && equals "$(alice get gone/me)" gone'
check 'A142 an earlier value of what the user keeps by hand read through vauban: succeeds' equals "$(program get past/me --version 1)" one
check 'A142 and destroyed: succeeds' eval 'program history past/me --clear 2>/dev/null; refused 44 alice get past/me --version 1'
# An item that the user permits a program to read is renamed by another; mail has its own item under neither name.
printf planted | alice set callers/shared 2>/dev/null || exit 1
printf 'expect to change which programs may read which secrets\nexpect asscode\nsecret alice passcode\nexpect Allowed\n' >"$TMPDIR/allow-shared"
play alice "$bin/vauban" allow /usr/local/games/bin/mail callers/shared --owner cli <"$TMPDIR/allow-shared" >"$TMPDIR/played" 2>&1 || { cat "$TMPDIR/played"; exit 1; }
check 'A143 control: the program reads what the user permitted, by its name' equals "$(by alice /usr/local/games/bin/mail get shared)" '0 planted'
check 'A143 the permitted item is renamed to what the program looks for: not found, the permission ended' \
    eval 'program rename callers/shared callers/master 2>/dev/null && equals "$(by alice /usr/local/games/bin/mail get master)" -25300 &&
        equals "$(alice get callers/master)" planted'
check 'A60 a program let in, builds or terminals accepted, through vauban: refused' \
    eval 'refused 36 program allow "$own/attacker" callers/a --owner program:/usr/local/games/bin/mail && refused 36 program allow build "$own" &&
        refused 36 program allow terminal-prompts on'
check 'A61 everything erased, through vauban, where the passcode would be asked for: refused' \
    eval 'refused 36 program erase --yes-erase-everything && equals "$(alice get notes/me)" "by hand"'
check 'A61 as if it was forgotten: refused, until ten have failed' eval 'refused 51 program erase --yes-erase-everything --forgotten && equals "$(alice get notes/me)" "by hand"'
check 'A62 the keychain locked, by any program: succeeds' eval 'program lock 2>/dev/null && refused 36 program get notes/me && with_passcode alice unlock 2>/dev/null'

# False prompt agents.
agent() { who=$1; shift; rm -f "$TMPDIR/agent"; behind "$who" "$TMPDIR/$who/impostor" agent "$@" >"$TMPDIR/agent" & agent=$!; until_said "$wait_for" "$TMPDIR/agent"; }
away() { kill "$agent" 2>/dev/null; wait "$agent" 2>/dev/null; true; }
wait_for=registered
check 'A63 another user registers as a place to be asked: asked nothing' \
    eval 'agent bob 1 cancel && refused 36 program get bank/me && away && equals "$(cat "$TMPDIR/agent")" registered'
check 'A64 a hostile program of the same user: succeeds in seeing the question and cancelling it' \
    eval 'agent alice 1 cancel && refused 128 program get bank/me && away && says "get bank/me" "$TMPDIR/agent"'
# Its own name would be shown on the terminal of the caller that waits for the answer.
wait_for=refused
named() { agent alice 1 cancel "$1" && away && says "$2" "$TMPDIR/agent"; }
for name in $'here\e[2J' $'here\u202eemos' $'here\nVauban: Passcode:' $'here\u200b' $'here\u0085'; do
    check "A64 its name writes to terminals, turns them round or ends lines: not registered ($(printf %q "$name"))" named "$name" 'refused 10'
done
check 'A64 its name is no text: not registered' named $'here\xff' 'refused 1: '
wait_for=registered
check 'A65 it answers yes: there is no such answer, and it is let go' \
    eval 'agent alice 1 yes && refused 36 program get bank/me && until_said closed "$TMPDIR/agent" && says "asked: " "$TMPDIR/agent" && says "refused 1: " "$TMPDIR/agent"'; away
check 'A65 it answers with a passcode of its own making: refused, and no try is used up' \
    eval 'agent alice 1 guess && refused 64 program get bank/me && away && alice status 2>/dev/null | grep -q "5 attempts left" && says "asked: " "$TMPDIR/agent"'
# It keeps its prompts open while another process of the same user asks.
flood() { : >"$TMPDIR/$2"; behind alice "$own/impostor" flood "$1" >>"$TMPDIR/$2" & flooding="$flooding $!"; until_said waiting "$TMPDIR/$2"; }
flooded() {
    flooding=
    agent alice 1 hold && flood 40 many && equals "$(sort "$TMPDIR/many" | uniq -c | tr -s ' \n' ' ')" ' 32 asked 8 refused 22 1 waiting ' &&
        flood 1 one && says asked "$TMPDIR/one"
    told=$?
    # shellcheck disable=SC2086
    kill $flooding; wait $flooding 2>/dev/null; away
    return $told
}
check 'A190 one process asks for prompts without end: refused beyond 32, while another process still gets one' flooded
wait_for=refused
check 'A66 a program asks on a terminal of its own, as vauban does: refused' eval 'agent alice 2 cancel && away && equals "$(head -n 1 "$TMPDIR/agent")" "refused 17"'
with_passcode alice allow terminal-prompts on 2>/dev/null || exit 1
check 'A66 a program of another user, who allowed nothing: refused all the same' eval 'agent bob 2 cancel && away && equals "$(head -n 1 "$TMPDIR/agent")" "refused 17"'
wait_for=registered
check 'A74 where the user allows terminals, a program registers its own: asked nothing about other programs' \
    eval 'agent alice 2 cancel && refused 36 program get bank/me &&
        equals "$(by alice setsid --wait /usr/local/games/bin/mail evaluate a </dev/null)" -1004; told=$?; away; [ $told = 0 ] && ! grep -q asked "$TMPDIR/agent"'
wait_for=refused
with_passcode alice allow terminal-prompts off 2>/dev/null || exit 1
check 'A66 after they took it back: refused again' eval 'agent alice 2 cancel && away && equals "$(head -n 1 "$TMPDIR/agent")" "refused 17"'

# Changes of credentials, or of when the keychain locks, which only the programs of the command line may request, as the desktop application does.
unchanged() { alice settings --json 2>/dev/null | grep -q '"graceSeconds" *: *0' && alice status --json 2>/dev/null | grep -q '"recoveryKeyIsSet" *: *true'; }
with_passcode alice passcode recovery-key >/dev/null 2>&1 || exit 1
wait_for=registered
for wish in settings recovery fingers passcode recovery-key; do
    check "A75 a program asks for a change ($wish): refused, and nobody is asked" \
        eval 'agent alice 1 cancel && equals "$(impostor change $wish)" "refused 17" && away && unchanged && ! grep -q asked "$TMPDIR/agent"'
done
# The same as the desktop application, which any program can start: with other bytes, since a copy would count as it too.
install -m 755 "$TMPDIR/impostor" "$bin/vauban-desktop" && printf x >>"$bin/vauban-desktop" || exit 1
window() { by alice "$bin/vauban-desktop" change "$1"; }
for wish in settings recovery passcode recovery-key; do
    check "A75 through the desktop application ($wish), where nobody can be asked: refused" eval 'equals "$(window $wish)" "refused 23" && unchanged'
done
check 'A75 for the end of fingers that there are not: refused, and nobody is asked' equals "$(window fingers)" 'refused 34'
check 'A75 the user refuses: nothing changes' \
    eval 'agent alice 1 cancel && equals "$(window settings | tail -n 1)" "refused 26" && away && unchanged && says vauban-desktop "$TMPDIR/agent"'
check 'A75 a place to be asked of its own, with a passcode of its own making: refused, and no try is used up' \
    eval 'agent alice 1 guess && equals "$(window recovery | tail -n 1)" "refused 10" && away && unchanged && alice status 2>/dev/null | grep -q "5 attempts left"'
for wish in passcode recovery-key; do
    check "A75 a place to be asked of its own, with a passcode and a new secret of its own making ($wish): refused, and no try is used up" \
        eval 'agent alice 1 replace && equals "$(window $wish | tail -n 1)" "refused 10" && away && unchanged && alice status 2>/dev/null | grep -q "5 attempts left"'
    check "A75 it says that the user has seen what was never made ($wish): refused" \
        eval 'agent alice 1 seen && equals "$(window $wish | tail -n 1)" "refused 25" && away && unchanged'
done
cat >"$TMPDIR/steps" <<PLAY
expect vauban-desktop
expect to change your passcode to a new one that you type here
expect Current passcode
secret alice passcode
expect New passcode
secret 12345
expect Too weak: five digits
secret alice has another
expect Repeat
secret alice has an other
expect The entries differ
secret alice has another
expect Repeat
secret alice has another
expect done
PLAY
check 'A75 control: the user types the present passcode and a new one, which the program does not get' \
    eval 'play alice "$bin/vauban" approve -- "$bin/vauban-desktop" change passcode <"$TMPDIR/steps" >"$TMPDIR/shown" || { cat "$TMPDIR/shown"; false; } && as vauban-test-alice "$bin/vauban" passcode change --passcode-fd 3 --new-passcode-fd 3 3<<<"alice has another
alice passcode" 2>/dev/null'
cat >"$TMPDIR/steps" <<PLAY
expect to make a recovery key, which is shown here once
expect asscode
secret alice passcode
expect Your recovery key, shown only once
expect Press Return when you have written it down
key enter
expect done
PLAY
check 'A75 control: the user is shown a new recovery key, which the program does not get' \
    eval 'play alice "$bin/vauban" approve -- "$bin/vauban-desktop" change recovery-key <"$TMPDIR/steps" >"$TMPDIR/shown" || { cat "$TMPDIR/shown"; false; } && unchanged'
cat >"$TMPDIR/steps" <<PLAY
expect vauban-desktop
expect to keep your keychain open for 1 hour after sleep (now: locks at once)
expect asscode
secret alice passcode
expect done
PLAY
check 'A75 control: the user reads what is changed, and for whom, and agrees' \
    eval 'play alice "$bin/vauban" approve -- "$bin/vauban-desktop" change settings <"$TMPDIR/steps" >"$TMPDIR/shown" ||
        { cat "$TMPDIR/shown"; false; } && alice settings --json 2>/dev/null | grep -q "\"graceSeconds\" *: *3600"'
with_passcode alice settings --grace 0 >/dev/null 2>&1 && rm "$bin/vauban-desktop" || exit 1

# Terminals.
if command -v script >/dev/null; then
    cat >"$TMPDIR/steps" <<PLAY
expect asscode
secret alice passcode
expect asks first
PLAY
    check 'A67 whoever owns the terminal reads the passcode: succeeds' \
        eval 'play alice script -q --log-in "$own/typed" -c "$bin/vauban get bank/me" <"$TMPDIR/steps" >"$TMPDIR/shown" || cat "$TMPDIR/shown"
            grep -qa "alice passcode" "$own/typed"'
else
    not_tried A67 'there is no script (bsdutils) here'
fi
# on_terminal COMMAND: runs it on a terminal, whose name is in the file `terminal` from then on.
on_terminal() { play alice sh -c "tty >$own/terminal; $1" <"$TMPDIR/steps" >"$TMPDIR/shown" || { status=$?; cat "$TMPDIR/shown"; return $status; }; }
# It must be reading before anything is typed.
cat >"$TMPDIR/steps" <<PLAY
expect asscode
run touch $own/heard; $own/impostor overhear \$(cat $own/terminal) >$own/heard 2>&1 & until grep -q listening $own/heard && [ "\$(cut -d ' ' -f 3 /proc/\$!/stat)" = S ]; do kill -0 \$! || exit 1; done
secret alice passcode
run until grep -q ^heard $own/heard; do :; done
secret alice passcode
expect asks first
PLAY
check 'A68 another program of the user opens the terminal and reads along: succeeds' \
    eval 'on_terminal "exec $bin/vauban get bank/me" && grep -q "^heard alice passcode" "$own/heard"'
# It types once the prompt is shown.
cat >"$TMPDIR/steps" <<PLAY
expect asscode
run touch $own/go
expect Attempt 2 of 3
expect asscode
key ctrl-c
PLAY
if [ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1)" = 1 ]; then
    check 'A69 a program types into the terminal that it was started from: succeeds, and what it types counts as a try' \
        eval '! on_terminal "(until [ -e $own/go ]; do :; done; $own/impostor type wrong\\\\n /dev/tty) & exec $bin/vauban get bank/me" >/dev/null
            grep -q "4 attempts are left before you have to wait. Attempt 2 of 3" "$TMPDIR/shown" && ! grep -q "asks first" "$TMPDIR/shown" '
else
    check 'A69 a program types the answer into the terminal that it was started from: refused by the kernel' \
        eval 'on_terminal "$own/impostor type o /dev/tty" </dev/null; grep -q "not typed 5" "$TMPDIR/shown"'
fi
: >"$TMPDIR/steps"
# EPERM by the rule for terminals; EIO if this kernel permits no process to insert input.
typing=1; [ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1)" = 1 ] || typing=5
check 'A70 a command under vauban approve types into the terminal above it: refused' \
    eval 'on_terminal "exec $bin/vauban approve -- $own/impostor type x \$(cat $own/terminal)"; says "not typed $typing" "$TMPDIR/shown"'
if [ $typing = 1 ]; then
    check 'A70 control: without it the command types there' \
        eval 'on_terminal "exec $own/impostor type x \$(cat $own/terminal)"; says typed "$TMPDIR/shown" && ! grep -q "not typed" "$TMPDIR/shown"'
fi
by alice mkdir -p "$own/first" && printf '#!/bin/sh\nprintf "Passcode: "\nread -r passcode\necho "$passcode" >%s/collected\n' "$own" \
    >"$own/first/vauban" && chmod 755 "$own/first/vauban"
check 'A71 a false vauban earlier on the path: collects what is typed, succeeds' \
    eval 'as vauban-test-alice PATH="$own/first:$PATH" sh -c "printf \"alice passcode\n\" | vauban unlock" >/dev/null && grep -q "alice passcode" "$own/collected"'

# Guesses, by a program without a time limit.
printf 'a guess\n' >"$TMPDIR/guess"
by bob "$bin/vauban" lock 2>/dev/null
guess() { as vauban-test-bob "$bin/vauban" unlock --passcode-fd 3 3<"$1" 2>"$TMPDIR/guessed"; }
guesses() { for _ in $(seq "$1"); do guess "$TMPDIR/guess"; equals $? 51 || return 1; done; }
check 'A72 control: after the fourth the right one opens' eval 'guesses 4 && guess "$TMPDIR/bob.passcode" && by bob "$bin/vauban" lock 2>/dev/null'
check 'A72 passcodes guessed through vauban: counted, and after the fifth not even the right one is taken for a minute' \
    eval 'guesses 5; guess "$TMPDIR/bob.passcode"; equals $? 51 && grep -qi "minute\|seconds" "$TMPDIR/guessed"'

# The watcher uses one bus, regardless of its environment.
behind alice "$own/impostor" serve "$own/bus" >"$TMPDIR/bus" & false_bus=$!
chmod 711 "$own"; until_said serving "$TMPDIR/bus"
room - vauban-test-watcher env DBUS_SYSTEM_BUS_ADDRESS="unix:path=$own/bus" DBUS_SESSION_BUS_ADDRESS="unix:path=$own/bus" "$bin/vauban-watcher" $enclave_arguments
check 'A73 a false bus in the watcher'"'"'s environment: it does not come' \
    eval 'until_said "vauban-watcher: .*\(bus\|login manager\)" "$TMPDIR/rooms.log"; kill "$false_bus"; wait "$false_bus" 2>/dev/null; equals "$(cat "$TMPDIR/bus")" serving'
: >"$TMPDIR/bus"
behind alice "$own/impostor" serve "$own/bus" >"$TMPDIR/bus" & false_bus=$!
until_said serving "$TMPDIR/bus"
check 'A73 control: that bus can be reached by the watcher'"'"'s user' \
    eval 'as vauban-test-watcher python3 -c "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])" "$own/bus"; wait "$false_bus"
        says "it went without a word" "$TMPDIR/bus"'
finish
