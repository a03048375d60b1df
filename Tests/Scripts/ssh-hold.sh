#!/usr/bin/env bash
# An answer that holds: one prompt covers many commits, and no login, other purpose, program, terminal or forwarded agent, and nothing after a
# lock; with the real git and ssh-keygen.
set -u
. Tests/Scripts/lib/session.sh
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/ssh.sh
set_passcode
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
unset GIT_DIR GIT_WORK_TREE GIT_CONFIG_GLOBAL

# The time is stored with the key, and only for one whose answer can hold.
expect_status 64 vauban ssh new work --hold 5m; expect_text '--require presence' "$TMPDIR/err"
expect_status 64 vauban ssh new work --require presence --hold 16m; expect_text '15 minutes' "$TMPDIR/err"
expect_status 64 vauban ssh new work --require presence --hold soon
expect_status 0 vauban ssh new work --require presence --hold 5m; cp "$TMPDIR/out" "$TMPDIR/work.pub"
vauban ssh new free >"$TMPDIR/free.pub" || fail 'no key'
[ "$(vauban ssh hold work)" = '5 minutes' ] || fail 'the stored time differs'
vauban ssh list | grep -qP '^work\t.*\tprompts\tan answer holds 5 minutes$' || fail 'the list does not say how long an answer holds'
expect_status 64 vauban ssh hold free 5m; expect_text 'requires no approval' "$TMPDIR/err"
ssh-keygen -q -t ed25519 -N '' -C imported -f "$TMPDIR/imported" && vauban ssh import "$TMPDIR/imported" --require presence >/dev/null || fail 'no key was imported'
expect_status 64 vauban ssh hold imported 5m; expect_text 'created here' "$TMPDIR/err"
expect_status 44 vauban ssh hold wrok 5m; expect_text 'Did you mean work' "$TMPDIR/err"
[ "$(vauban ssh hold free)" = off ] || fail 'an answer holds for a key that needs none'
expect_status 0 vauban ssh rotate work; vauban ssh list | grep -qP '^work-new\t.*\tan answer holds 5 minutes$' || fail 'the new key has another time'
expect_status 0 vauban ssh rotate work --finish; vauban ssh list work --public >"$TMPDIR/work.pub"
[ "$(vauban ssh hold work)" = '5 minutes' ] || fail 'the time did not come along'
vauban list | grep -q ssh-hold/work-new && fail 'the setting of a renamed key stays'
expect_status 0 vauban ssh hold work off; expect_text 'Each signature with work prompts you again.' "$TMPDIR/err"; [ "$(vauban ssh hold work)" = off ] || fail 'the held answer was not switched off'
expect_status 0 vauban ssh hold work 300s; [ "$(vauban ssh hold work)" = '5 minutes' ] || fail 'the held answer was not switched on again'
# Longer than this script may run.
expect_status 0 vauban ssh hold work 15m; expect_text 'An answer for work now holds for 15 minutes' "$TMPDIR/err"

start_agent "$agent"
export SSH_AUTH_SOCK=$agent
git config --global user.email anna@example.org; git config --global user.name Anna
vauban ssh sign-commits work --global 2>/dev/null || fail 'git was not set up'
mkdir "$TMPDIR/repository"
git -C "$TMPDIR/repository" init -q . || fail 'git init failed'
cat >"$TMPDIR/commit" <<SCRIPT
#!/bin/sh
exec git -C "$TMPDIR/repository" commit -q --allow-empty -m "\$1"
SCRIPT
# A program of the user with its own identity: an interpreter with one more byte does not count as an interpreter.
cp "$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" "$TMPDIR/tool" && printf x >>"$TMPDIR/tool"
cat >"$TMPDIR/ask" <<SCRIPT
#!/bin/sh
PYTHONHOME=$(python3 -c 'import sys; print(sys.prefix)') exec "$TMPDIR/tool" "$PWD/Tests/Scripts/lib/ssh-hostile.py" "$agent" "$TMPDIR/work.pub" "\$@"
SCRIPT
printf '#!/bin/sh\n"$@" >%s 2>&1 & echo $! >%s\n' "$TMPDIR/said" "$TMPDIR/pid" >"$TMPDIR/beside"
printf '#!/bin/sh\ntail -s 0.02 --pid="$(cat %s)" -f /dev/null\n' "$TMPDIR/pid" >"$TMPDIR/wait"
chmod 755 "$TMPDIR"/{commit,ask,beside,wait}
commits() { git -C "$TMPDIR/repository" rev-list --count HEAD 2>/dev/null || echo 0; }

# answered WHAT WORDS...: one prompt with this text; the user types the passcode, and then there is no prompt agent.
answered() {
    local what=$1; shift
    play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/shown" 2>&1 <<STEPS
expect Prompts appear here
run $TMPDIR/beside $*
expect $what
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
key ctrl-c
STEPS
    [ $? != 99 ] || { cat "$TMPDIR/shown" "$TMPDIR/said"; fail "not answered: $*"; }
    [ "$(grep -c 'asks for your approval' "$TMPDIR/shown")" = 1 ] || { cat "$TMPDIR/shown"; fail 'there was not one prompt'; }
}
commit() { "$TMPDIR/commit" "$1" 2>"$TMPDIR/err"; }
# Without a prompt agent, a request that needs one is refused at once.
commit early && fail 'the agent signed without an answer'
answered 'your passcode then lets ssh-keygen sign for “git” with it for 15 minutes' "$TMPDIR/commit" first
[ "$(commits)" = 1 ] || { cat "$TMPDIR/said"; fail 'the first commit was not made'; }
for number in $(seq 2 21); do commit "$number" || { cat "$TMPDIR/err" "$agent.log"; fail "commit $number needed another answer"; }; done
[ "$(commits)" = 21 ] || fail 'not every commit was made'
git -C "$TMPDIR/repository" log --format=%G? | grep -vq G && fail 'a commit is not signed rightly'
# sign NAMESPACE: as git does; another program at the beginning.
sign() { echo text | "${@:2}" ssh-keygen -Y sign -n "$1" -f "$TMPDIR/work.pub" >/dev/null 2>"$TMPDIR/err"; }
sign git || { cat "$TMPDIR/err"; fail 'ssh-keygen itself needed another answer'; }
sign file && fail 'the answer held for another purpose'
sign git setsid --wait && fail 'the answer held in another session'
cp "$(command -v ssh-keygen)" "$TMPDIR/other"
echo text | "$TMPDIR/other" -Y sign -n git -f "$TMPDIR/work.pub" >/dev/null 2>&1 && fail 'the answer held for another program'
[ "$("$TMPDIR/ask" message git)" = refused ] || fail 'the answer held for a program of the user'
[ "$(python3 Tests/Scripts/lib/ssh-hostile.py "$agent" "$TMPDIR/work.pub" message git)" = refused ] || fail 'the answer held for an interpreter'
ssh-add -T "$TMPDIR/work.pub" 2>/dev/null && fail 'the answer held for something that does not say what it is'

# Of the same program: a login, a forwarded agent and a session without an answer need an answer each.
answered 'your passcode then lets tool sign for “git” with it for 15 minutes' "$TMPDIR/ask" message git
[ "$(cat "$TMPDIR/said")" = signed ] || { cat "$TMPDIR/said"; fail 'the program got no signature'; }
[ "$("$TMPDIR/ask" message git)" = signed ] || fail 'the answer did not hold for the program'
for request in login sign forwarded message-forwarded message-forged; do
    [ "$("$TMPDIR/ask" $request git)" = refused ] || fail "the answer held for: $request"
done
[ "$("$TMPDIR/ask" message git)" = signed ] || fail 'the answer did not hold any more'
# An interpreter has no identity: its answer is for one signature, and the prompt offers nothing more.
answered 'sign a git commit or tag, with the key work, for python3' python3 Tests/Scripts/lib/ssh-hostile.py "$agent" "$TMPDIR/work.pub" message git
[ "$(cat "$TMPDIR/said")" = signed ] && ! grep -q 'then lets' "$TMPDIR/shown" || { cat "$TMPDIR/shown"; fail 'the answer of an interpreter holds'; }
[ "$(python3 Tests/Scripts/lib/ssh-hostile.py "$agent" "$TMPDIR/work.pub" message git)" = refused ] || fail 'the answer held for an interpreter'

# It ends when it is switched off, with the agent's lock, and with that of the keychain.
sign git || fail 'the answer of ssh-keygen did not hold any more'
vauban ssh hold work off; sign git && fail 'the answer still holds after it was switched off'
vauban ssh hold work 15m; sign git || fail 'the answer does not hold after it was switched on again within its time'
printf '%s\n' '#!/bin/sh' 'echo words' >"$TMPDIR/askpass"; chmod 755 "$TMPDIR/askpass"
locking() { SSH_ASKPASS=$TMPDIR/askpass SSH_ASKPASS_REQUIRE=force DISPLAY=none ssh-add "$1" >/dev/null 2>&1 </dev/null; }
locking -x && locking -X || fail 'the agent was not locked and unlocked'
sign git && fail "the answer held beyond the agent's lock"
answered 'then lets ssh-keygen sign' "$TMPDIR/commit" again
commit more || fail 'the answer did not hold'
vauban lock 2>/dev/null; sign git && fail 'the keychain is locked'
unlock; sign git && fail 'the answer held beyond a lock'
answered 'then lets ssh-keygen sign' "$TMPDIR/commit" unlocked
ended "$agent_pid"; start_agent "$agent"; sign git && fail 'the answer held for another agent'
vauban ssh delete work --yes; vauban list | grep -q ssh-hold/work && fail 'the setting of a deleted key stays'
echo 'one answer holds for its scope, and for nothing else'
