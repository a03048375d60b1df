#!/usr/bin/env bash
# The SSH agent as systemd starts it, at the first connection to a socket that stays open: without the keychain, with a locked one, and again
# after a file of known hosts, or the program, was replaced.
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/ssh.sh
set_passcode
vauban ssh new work >"$TMPDIR/work.pub" || fail 'no key was made'
ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/memory" || fail 'no key to add'
cat >"$TMPDIR/starter.py" <<'PYTHON'
"""Holds a socket, and starts a command whenever a client waits there, as systemd does: starter.py SOCKET STARTED COMMAND... STARTED gets a line with
each process number."""
import os, select, signal, socket, sys

child = 0


def end(*_):
    if child: os.kill(child, signal.SIGTERM)
    os._exit(0)


signal.signal(signal.SIGTERM, end)
listener = socket.socket(socket.AF_UNIX)
os.umask(0o077)
listener.bind(sys.argv[1])
listener.listen(64)
while True:
    select.select([listener], [], [])
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with open(sys.argv[2], "a") as started: print(os.getpid(), file=started)
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES="ssh-agent")
        os.execv(sys.argv[3], sys.argv[3:])
    os.waitpid(child, 0)
    child = 0
PYTHON
log=$TMPDIR/agent.log
python3 "$TMPDIR/starter.py" "$agent" "$TMPDIR/started" "$VAUBAN_BUILD/vauban" ssh-agent --foreground >/dev/null 2>"$log" & starter=$!
pids="$pids $starter"
listens() { [ -S "$agent" ] || ! kill -0 $starter 2>/dev/null; }
awaited 'the socket' listens
running() { tail -n 1 "$TMPDIR/started"; }
starts() { wc -l <"$TMPDIR/started"; }
has_none() { SSH_AUTH_SOCK=$agent ssh-add -l >"$TMPDIR/out" 2>&1; [ $? = 1 ] && grep -q 'no identities' "$TMPDIR/out" || { cat "$TMPDIR/out" "$log"; return 1; }; }

# systemd would give up on the socket if what it starts ended several times. So the agent starts although the keychain does not.
vauban stop >/dev/null 2>&1; cp "$VAUBAN_HOME/service" "$TMPDIR/service"
printf 'version 1\nlauncher %s\n' "$(type -P false)" >"$VAUBAN_HOME/service"
has_none && has_none || fail 'the agent does not start without the keychain'
expect_text 'The agent starts, and offers stored keys when they can be read' "$log"
[ "$(grep -c 'Stored keys cannot be listed: ' "$log")" = 1 ] || { cat "$log"; fail 'it is not said once why no stored key is listed'; }
cp "$TMPDIR/service" "$VAUBAN_HOME/service"; unlock
offers "$agent" "$TMPDIR/work.pub" && signs "$agent" "$TMPDIR/work.pub" || { cat "$log"; fail 'the agent does not find the keychain that started after it'; }
[ "$(starts)" = 1 ] || fail 'the agent was started again'

# An agent that starts while the keychain is locked says so once, and lists the keys after an unlock.
gone() { ! kill -0 "$1" 2>/dev/null; }
first=$(running); kill "$first"; awaited 'the end of the agent' gone "$first"
vauban lock 2>/dev/null
has_none && has_none || fail 'an agent that starts with a locked keychain lists a key'
[ "$(grep -c 'The keychain is locked, so stored keys cannot be listed. Run: vauban unlock' "$log")" = 1 ] || { cat "$log"; fail 'it is not said once that the keychain is locked'; }
unlock; offers "$agent" "$TMPDIR/work.pub" || fail 'the keys are not listed after an unlock'
vauban lock 2>/dev/null; offers "$agent" "$TMPDIR/work.pub" || fail 'a locked keychain shows no key that was listed'
unlock
[ "$(grep -c 'cannot be listed. Run' "$log")" = 1 ] || { cat "$log"; fail 'it is said again that the keychain is locked'; }

# A file of known hosts that is made or replaced, as ssh itself does: the agent ends at the next connection, the client of which is served by the
# next agent. It does not end while it has an added key.
renewed() { offers "$agent" "$TMPDIR/work.pub" || { cat "$log"; fail 'a client is not served'; }; [ "$(running)" != "$first" ]; }
reported() { offers "$agent" "$TMPDIR/work.pub"; grep -q 'A file of known hosts was made or replaced' "$log"; }
first=$(running)
SSH_AUTH_SOCK=$agent ssh-add -q "$TMPDIR/memory" 2>/dev/null || fail 'no key was added'
: >"$TMPDIR/.ssh/known_hosts2"
awaited 'the report of a new file' reported
expect_text 'systemctl --user restart vauban-ssh-agent' "$log"
[ "$(running)" = "$first" ] && signs "$agent" "$TMPDIR/memory.pub" || fail 'an added key was lost'
SSH_AUTH_SOCK=$agent ssh-add -q -d "$TMPDIR/memory" 2>/dev/null || fail 'the added key was not removed'
awaited 'an agent that reads the new file' renewed
if ! grep -q 'Landlock is not available' "$log"; then
    first=$(running)
    cp "$TMPDIR/.ssh/known_hosts" "$TMPDIR/.ssh/new" && mv "$TMPDIR/.ssh/new" "$TMPDIR/.ssh/known_hosts"
    awaited 'an agent that reads the file that was replaced' renewed
fi
first=$(running); offers "$agent" "$TMPDIR/work.pub" && [ "$(running)" = "$first" ] || fail 'the agent ends without a reason'

# An upgrade replaces the program of an agent that runs.
mkdir "$TMPDIR/bin"; cp "$VAUBAN_BUILD/vauban-ssh-agent" "$TMPDIR/bin/"
agent=$TMPDIR/upgraded.socket
python3 "$TMPDIR/starter.py" "$agent" "$TMPDIR/started" "$TMPDIR/bin/vauban-ssh-agent" >/dev/null 2>"$log" & starter=$!
pids="$pids $starter"
awaited 'the second socket' listens
offers "$agent" "$TMPDIR/work.pub" || { cat "$log"; fail 'the second agent does not start'; }
first=$(running)
cp "$TMPDIR/bin/vauban-ssh-agent" "$TMPDIR/bin/new" && mv "$TMPDIR/bin/new" "$TMPDIR/bin/vauban-ssh-agent"
awaited 'an agent of the new program' renewed
echo 'the agent starts without the keychain, and again for new files of known hosts and after an upgrade'
