#!/usr/bin/env bash
# Attacks on the SSH agent. Each check is an attack of Manual/attacks.md.
set -u
. Tests/Scripts/lib/session.sh
. Tests/Scripts/lib/deadline.sh
[ "${VAUBAN_TEST_USERS:-0}" = 1 ] || { echo 'it needs root, to be several users'; exit 77; }
for program in setpriv ssh-add ssh-keygen python3; do command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }; done
unset VAUBAN_HOME XDG_RUNTIME_DIR XDG_DATA_HOME SSH_AUTH_SOCK
bin=$TMPDIR/bin own=$TMPDIR/alice passcode='correct horse battery'
mkdir "$bin" && cp "$VAUBAN_BUILD"/{rooms-testing,authd,vauban-witness,vauban-watcher,vauban-reader,vauban,vauban-ssh-agent,hardening-probe,pty-play} "$bin/" || exit 77
cp Tests/Scripts/lib/ssh-hostile.py "$bin/"
chmod 755 "$TMPDIR" "$bin" "$bin"/*
for user in alice bob; do install -d -m 700 -o vauban-test-$user -g vauban-test-$user "$TMPDIR/$user"; done
agent=$own/agent
# In a separate shell, which executes the command: a process that is started in the background then has the known number.
become() {
    who=$1; shift; exec setpriv --reuid "vauban-test-$who" --regid "vauban-test-$who" --clear-groups env HOME="$TMPDIR/$who" \
        VAUBAN_HOME="$own/keychain" SSH_AUTH_SOCK="$agent" TERM=xterm "$@"
}
by() ( become "$@"; )
alice() { by alice "$bin/vauban" "$@"; }
. Tests/Scripts/lib/attack-report.sh
finish() { [ -z "${agent_pid:-}" ] || kill "$agent_pid" 2>/dev/null; alice stop >/dev/null 2>&1; }
trap finish EXIT
by alice mkdir -m 700 "$own/keychain"
by alice sh -c 'printf "version 1\nlauncher %s\n" "$0" >"$1/service"' "$bin/rooms-testing" "$own/keychain"
printf '%s\n' "$passcode" | alice passcode set --passcode-fd 0 2>/dev/null || { echo 'no passcode'; exit 1; }
for key in free asking; do
    alice ssh new $key $([ $key = free ] || echo --require presence) >"$TMPDIR/$key.pub" || exit 1
    chmod 644 "$TMPDIR/$key.pub"
done
# The process itself, not a shell around it: its memory is attacked.
become alice "$bin/vauban" ssh-agent --foreground --socket "$agent" >/dev/null 2>"$TMPDIR/agent.log" & agent_pid=$!
until by alice ssh-add -l >/dev/null 2>&1; do kill -0 $agent_pid 2>/dev/null || { cat "$TMPDIR/agent.log"; exit 1; }; done
hostile() { by "$1" python3 "$bin/ssh-hostile.py" "$agent" "$TMPDIR/$2.pub" "$3" 2>&1; }

check 'U40 a program of the user signs with a key that needs no prompt: succeeds' equals "$(hostile alice free sign)" signed
check 'U41 the same with a key that prompts, where nobody answers: refused' equals "$(hostile alice asking sign)" refused
check 'U41 the log says why' says 'nothing can show the prompt' "$TMPDIR/agent.log"
printf '#!/bin/sh\npython3 %s %s %s sign >%s 2>&1 &\necho $! >%s\n' "$bin/ssh-hostile.py" "$agent" "$TMPDIR/asking.pub" "$own/asked" "$own/pid" >"$own/asker"
printf '#!/bin/sh\ntail -s 0.02 --pid="$(cat %s)" -f /dev/null\n' "$own/pid" >"$own/wait"
chmod 755 "$own/asker" "$own/wait"
answered() {
    by alice "$bin/pty-play" --seconds "$hang_seconds" -- "$bin/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $own/asker
expect sign something that does not say what it is, with the key asking, for python3 (process
expect Passcode
secret $passcode
expect Accepted
run $own/wait
key ctrl-c
STEPS
    equals "$(cat "$own/asked")" signed || { cat "$TMPDIR/out"; return 1; }
}
check 'U41 control: with the answer of the user, who is told what for' answered
check 'U42 another user at the agent'"'"'s socket: refused' equals "$(hostile bob free sign)" 'no connection'
check 'U42 also where the folder is open' eval 'chmod 755 "$own" && chmod 666 "$agent" && equals "$(hostile bob free sign)" refused; chmod 600 "$agent"; chmod 700 "$own"'
check 'U42 control: the user' equals "$(hostile alice free sign)" signed

ssh-keygen -q -t ed25519 -N '' -f "$own/memory" && chown vauban-test-alice "$own/memory" && by alice ssh-add -q "$own/memory" || exit 1
secret='^(ptrace|memory file|process_vm_readv|pidfd_getfd|environ|maps|auxv|fd/2): '
memory() { "${@:2}" "$bin/hardening-probe" attack $agent_pid >"$TMPDIR/probe" 2>&1; [ "$(grep -cE "${secret}$1" "$TMPDIR/probe")" = 8 ] || { cat "$TMPDIR/probe"; return 1; }; }
check 'U43 the memory of the agent, by a program of the same user: refused' memory 'refused (1|13)$' by alice
check 'U43 control: root reads all of it' memory done env
check 'U44 a forwarded agent, a key that needs no prompt, another server: succeeds' equals "$(hostile alice free forwarded)" signed
check 'U44 a key that prompts: refused where nobody answers' equals "$(hostile alice asking forwarded)" refused
# named REQUEST TEXTS...: the prompt for this request has these texts in this order, and the user refuses it.
named() {
    printf '#!/bin/sh\npython3 %s %s %s %s >%s 2>&1 &\necho $! >%s\n' "$bin/ssh-hostile.py" "$agent" "$TMPDIR/asking.pub" "$1" "$own/asked" "$own/pid" >"$own/asker"
    by alice "$bin/pty-play" --seconds "$hang_seconds" -- "$bin/vauban" approve >"$TMPDIR/out" < <(
        printf '%s\n' 'expect Prompts appear here' "run $own/asker"
        printf 'expect %s\n' "${@:2}" Passcode
        printf '%s\n' 'key ctrl-c' 'expect Cancelled' "run $own/wait" 'key ctrl-c')
    equals "$(cat "$own/asked")" refused || { cat "$TMPDIR/out" "$TMPDIR/agent.log"; return 1; }
}
machine="”, to a server that is not proven, through the agent forwarded to the server $(ssh-keygen -lf "$TMPDIR/free.pub" | cut -d' ' -f2), with the key asking, for python3 (process"
check 'U133 a machine to which the agent is forwarded asks for a login with a long user name: the prompt still names it, the key and the program' \
    named forwarded-long 'log in as “anna' '…' "$machine"
check 'U133 control: a short user name is shown whole' named forwarded "log in as “root$machine"
# U46: the answer to one program's prompt holds, and other programs try to use it. A copy of an interpreter with one more byte has its own
# identity.
cp "$(by alice python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" "$bin/tool" && printf x >>"$bin/tool" &&
    cp "$bin/tool" "$bin/thief" && printf y >>"$bin/thief" && chmod 755 "$bin/tool" "$bin/thief"
prefix=$(by alice python3 -c 'import sys; print(sys.prefix)')
ask() { in_session env "$@"; }
ask_elsewhere() { in_session 'setsid --wait env' "$@"; }
in_session() { by alice $1 PYTHONHOME="$prefix" "$bin/$2" "$bin/ssh-hostile.py" "$agent" "$TMPDIR/asking.pub" "${@:3}" 2>&1; }
alice ssh hold asking 5m || exit 1
printf '#!/bin/sh\nPYTHONHOME=%s %s %s %s %s message git >%s 2>&1 &\necho $! >%s\n' "$prefix" "$bin/tool" "$bin/ssh-hostile.py" "$agent" \
    "$TMPDIR/asking.pub" "$own/asked" "$own/pid" >"$own/asker"
answered_and_held() {
    by alice "$bin/pty-play" --seconds "$hang_seconds" -- "$bin/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $own/asker
expect your passcode then lets tool sign for “git” with it for 5 minutes
expect Passcode
secret $passcode
expect Accepted
run $own/wait
key ctrl-c
STEPS
    equals "$(cat "$own/asked")" signed && equals "$(ask tool message git)" signed || { cat "$TMPDIR/out" "$TMPDIR/agent.log"; return 1; }
}
check 'U46 control: the program that was named in the prompt signs again without one' answered_and_held
check 'U46 another program of the user: refused where nobody answers' equals "$(ask thief message git)" refused
check 'U46 the program itself in another session: refused' equals "$(ask_elsewhere tool message git)" refused
for request in login message-forwarded message-forged sign; do
    check "U46 the program itself, the request $request: refused" equals "$(ask tool $request git)" refused
done
check 'U46 for another purpose: refused' equals "$(ask tool message file)" refused
check 'U47 a program in the same session starts the one that was named: succeeds' \
    equals "$(by alice python3 -c 'import os, subprocess, sys; print(subprocess.run(sys.argv[2:], env={**os.environ, "PYTHONHOME": sys.argv[1]}, capture_output=True, text=True).stdout, end="")' "$prefix" "$bin/tool" "$bin/ssh-hostile.py" "$agent" "$TMPDIR/asking.pub" message git)" signed
check 'U46 control: the answer still holds' equals "$(ask tool message git)" signed
check 'U45 a session that no server signed: refused' equals "$(hostile alice free forged)" refused
check 'U45 control: one that a server signed' equals "$(hostile alice free bound)" signed
# The last test, since it fills the agent. The key without a prompt represents what others want to have shown.
fills() { by alice python3 "$bin/ssh-hostile.py" "$agent" "$TMPDIR/free.pub" "$1" "$own/memory" 2>&1; }
check 'U155 a program, or a machine to which the agent is forwarded, locks the agent with an empty passphrase: refused' equals "$(fills empty-lock)" refused
check 'U155 it adds keys with comments that make the list of keys too long for every client: refused' equals "$(fills comments)" refused
check 'U155 it takes all connections: refused' equals "$(fills connections)" refused
check 'U155 control: one more client is served' equals "$(hostile alice free sign)" signed
check 'U156 it guesses the passphrase of ssh-add -x: each guess takes longer, and the right one unlocks' equals "$(fills guesses)" slow
end_attacks
echo 'the agent signs for permitted programs alone'
