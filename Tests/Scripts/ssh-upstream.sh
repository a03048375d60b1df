#!/usr/bin/env bash
# Sockets that offer only some keys, and another agent behind this one: OpenSSH's, with its own keys, keys of a security key (OpenSSH's own dummy
# of one), destinations and constraints; and one that replies nothing, or nonsense.
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/ssh.sh
set_passcode
for name in work deploy; do vauban ssh new $name >"$TMPDIR/$name.pub" || fail "no key $name"; done
ssh-keygen -q -t ed25519 -N '' -C imported -f "$TMPDIR/imported" && vauban ssh import "$TMPDIR/imported" >/dev/null || fail 'no key was imported'
for name in theirs other; do ssh-keygen -q -t ed25519 -N '' -C $name -f "$TMPDIR/$name"; done

# A socket for one project offers the keys that it names, by name or fingerprint, and signs with no other.
start_agent "$TMPDIR/project" --key deploy --key "$(ssh-keygen -lf "$TMPDIR/imported.pub" | cut -d' ' -f2)"
for name in deploy imported; do offers "$TMPDIR/project" "$TMPDIR/$name.pub" && signs "$TMPDIR/project" "$TMPDIR/$name.pub" || fail "$name is not offered"; done
[ "$(SSH_AUTH_SOCK=$TMPDIR/project ssh-add -l | wc -l)" = 2 ] || fail 'another key is offered'
signs "$TMPDIR/project" "$TMPDIR/work.pub" && fail 'a key that is not offered signs'
SSH_AUTH_SOCK=$TMPDIR/project ssh-add -q -d "$TMPDIR/work.pub" 2>/dev/null && fail 'a key that is not offered is removed'
expect_status 64 vauban ssh-agent --foreground --socket "$TMPDIR/s" --key ''
expect_status 64 vauban ssh-agent --foreground --socket "$TMPDIR/s" --upstream "$TMPDIR/s"
# A key or a socket that does not exist is an error at the start.
expect_status 44 vauban ssh-agent --foreground --socket "$TMPDIR/s" --key deplo; expect_text 'No SSH key deplo. Did you mean deploy?' "$TMPDIR/err"
expect_status 44 vauban ssh-agent --foreground --socket "$TMPDIR/s" --upstream "$TMPDIR/nothing"
expect_text "No socket $TMPDIR/nothing for --upstream" "$TMPDIR/err"
[ ! -e "$TMPDIR/s" ] || fail 'an agent that did not start left a socket'
expect_status 64 "$VAUBAN_BUILD/vauban-ssh-agent" --socket
expect_status 64 "$VAUBAN_BUILD/vauban-ssh-agent" --socket "$TMPDIR/s" --key

# OpenSSH's agent behind this one.
their=$TMPDIR/theirs.socket
dummy=/usr/lib/openssh/regress/misc/sk-dummy/sk-dummy.so
ssh-agent -D -a "$their" -P "$dummy" >/dev/null 2>"$TMPDIR/theirs.log" &
their_pid=$!
pids="$pids $their_pid"
until SSH_AUTH_SOCK=$their ssh-add -l >/dev/null 2>&1 || [ $? = 1 ]; do kill -0 $their_pid 2>/dev/null || fail 'ssh-agent does not start'; done
for name in theirs other; do SSH_AUTH_SOCK=$their ssh-add -q "$TMPDIR/$name" || fail 'ssh-agent accepts no key'; mv "$TMPDIR/$name" "$TMPDIR/$name.away"; done
start_agent "$agent" --upstream "$their"
for name in work deploy theirs other; do offers "$agent" "$TMPDIR/$name.pub" && signs "$agent" "$TMPDIR/$name.pub" || fail "$name is not offered"; done
start_agent "$TMPDIR/both" --upstream "$their" --key theirs --key work
for name in theirs work; do offers "$TMPDIR/both" "$TMPDIR/$name.pub" && signs "$TMPDIR/both" "$TMPDIR/$name.pub" || fail "$name is not offered"; done
signs "$TMPDIR/both" "$TMPDIR/other.pub" && fail 'another key of the other agent signs'
SSH_AUTH_SOCK=$TMPDIR/both ssh-add -q -d "$TMPDIR/other.pub" 2>/dev/null && fail 'another key of the other agent is removed'
# -D at the socket of some keys removes those alone.
start_agent "$TMPDIR/cleared" --upstream "$their" --key theirs
SSH_AUTH_SOCK=$TMPDIR/cleared ssh-add -q -D || fail 'a socket for one key is not emptied'
offers "$their" "$TMPDIR/theirs.pub" && fail 'the key of this socket is still in the other agent'
offers "$their" "$TMPDIR/other.pub" || fail 'a key that the socket does not name was removed from the other agent'
SSH_AUTH_SOCK=$their ssh-add -q "$TMPDIR/theirs.away" || fail 'ssh-agent does not take the key again'
# A key of a security key goes to the agent that can hold it, and signs there.
with_dummy=
if [ -e "$dummy" ]; then
    with_dummy=', a security key among them'
    for type in ecdsa-sk ed25519-sk; do
        SSH_SK_PROVIDER=$dummy ssh-keygen -q -t $type -w "$dummy" -N '' -f "$TMPDIR/$type" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'the dummy makes no key'; }
        SSH_AUTH_SOCK=$TMPDIR/both ssh-add -q -S "$dummy" "$TMPDIR/$type" 2>/dev/null && fail "$type is accepted by a socket that would not offer it"
        SSH_AUTH_SOCK=$agent ssh-add -q -S "$dummy" "$TMPDIR/$type" 2>"$TMPDIR/err" || { cat "$TMPDIR/err" "$TMPDIR/theirs.log"; fail "$type is not accepted"; }
        offers "$their" "$TMPDIR/$type.pub" || fail "$type is not in the other agent"
        mv "$TMPDIR/$type" "$TMPDIR/$type.away"
        offers "$agent" "$TMPDIR/$type.pub" || fail "$type is not offered"
        printf 'a message' | SSH_AUTH_SOCK=$agent ssh-keygen -q -Y sign -f "$TMPDIR/$type.pub" -n file >"$TMPDIR/sig" 2>"$TMPDIR/err" ||
            { cat "$TMPDIR/err"; fail "$type does not sign"; }
        printf 'a message' | ssh-keygen -q -Y check-novalidate -n file -s "$TMPDIR/sig" >/dev/null || fail "the signature of $type is not right"
        SSH_AUTH_SOCK=$agent ssh-add -q -d "$TMPDIR/$type.pub" || fail "$type is not removed"
        offers "$their" "$TMPDIR/$type.pub" && fail "$type is still in the other agent"
    done
    SSH_AUTH_SOCK=$TMPDIR/project ssh-add -q -S "$dummy" "$TMPDIR/ecdsa-sk.away" 2>/dev/null && fail 'a key of a security key is accepted without another agent'
fi
# When locked it shows nothing of the other agent either. -D empties both.
play env SSH_AUTH_SOCK="$agent" ssh-add -x >"$TMPDIR/out" <<STEPS
expect password
secret the lock
expect Again
secret the lock
STEPS
offers "$agent" "$TMPDIR/theirs.pub" && fail 'a locked agent shows the keys of the other'
signs "$agent" "$TMPDIR/theirs.pub" && fail 'a locked agent passes signatures on'
offers "$their" "$TMPDIR/theirs.pub" || fail 'the lock reached the other agent'
play env SSH_AUTH_SOCK="$agent" ssh-add -X >"$TMPDIR/out" <<STEPS
expect password
secret the lock
STEPS
signs "$agent" "$TMPDIR/theirs.pub" || fail 'the agent does not continue after it was unlocked'
# The keychain's lock does not affect the other agent.
vauban lock 2>/dev/null
signs "$agent" "$TMPDIR/theirs.pub" || fail 'a locked keychain stops the other agent'
signs "$agent" "$TMPDIR/work.pub" && fail 'a locked keychain signs'
unlock
SSH_AUTH_SOCK=$agent ssh-add -q -D || fail 'the agent was not emptied'
SSH_AUTH_SOCK=$agent ssh-add -l >/dev/null 2>&1 && fail 'a key remains in the agent'
SSH_AUTH_SOCK=$their ssh-add -l >/dev/null 2>&1 && fail 'a key remains in the other agent'

# Without the other agent, with one that hangs up, that sends nonsense, or that is silent: stored keys work, and a client that hangs up while the
# other is silent withdraws its request.
start_agent "$TMPDIR/alone" --upstream "$their"
expect_status 44 vauban ssh-agent --foreground --socket "$TMPDIR/s" --upstream "$their" --key neither; expect_text 'No SSH key neither' "$TMPDIR/err"
ended "$their_pid"
offers "$TMPDIR/alone" "$TMPDIR/work.pub" && signs "$TMPDIR/alone" "$TMPDIR/work.pub" || fail 'without the other agent the stored keys do not work'
signs "$TMPDIR/alone" "$TMPDIR/theirs.pub" && fail 'a key of the missing agent signed'
cat >"$TMPDIR/odd.py" <<'PY'
"""An agent that answers as it is told by its name, and writes down when a client of its hangs up."""
import os, socket, struct, sys, threading
path, kind, log = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(64)
def serve(client):
    waits = False
    while True:
        head = client.recv(4, socket.MSG_WAITALL)
        if len(head) < 4: break
        message = client.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL)
        if kind == "closing": break
        if kind == "huge": client.sendall(b"\xff\xff\xff\xff")
        if kind == "cut": client.sendall(struct.pack(">I", 9) + b"\x0c\xff\xff\xff\xff\0\0\0\1")
        if kind == "silent" and message[0] != 13: client.sendall(struct.pack(">I", 5) + b"\x0c\0\0\0\0")
        if kind == "silent" and message[0] == 13:
            waits = True
            open(log, "a").write("asked\n")
    open(log, "a").write("hung up while it waited\n" if waits else "hung up\n")
while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
PY
for kind in closing huge cut silent; do
    : >"$TMPDIR/$kind.log"
    python3 "$TMPDIR/odd.py" "$TMPDIR/$kind" $kind "$TMPDIR/$kind.log" & pids="$pids $!"
    until [ -S "$TMPDIR/$kind" ]; do kill -0 $! || fail "$kind does not start"; done
    start_agent "$TMPDIR/over-$kind" --upstream "$TMPDIR/$kind"
    offers "$TMPDIR/over-$kind" "$TMPDIR/work.pub" && signs "$TMPDIR/over-$kind" "$TMPDIR/work.pub" || fail "the kept keys do not serve over an agent that is $kind"
    [ "$kind" = silent ] || { signs "$TMPDIR/over-$kind" "$TMPDIR/theirs.pub" && fail "something signed over an agent that is $kind"; }
done
SSH_AUTH_SOCK=$TMPDIR/over-silent ssh-add -T "$TMPDIR/theirs.pub" >/dev/null 2>&1 & asker=$!
until grep -q asked "$TMPDIR/silent.log"; do kill -0 $asker || fail 'the signature is not waited for'; done
signs "$TMPDIR/over-silent" "$TMPDIR/work.pub" || fail 'a request that waits holds up another'
grep -q 'while it waited' "$TMPDIR/silent.log" && fail 'the request was withdrawn before its client hung up'
kill $asker; wait $asker 2>/dev/null
# Other requests hang up as well; this is the only one that waits.
withdrawn() { kill -0 $agent_pid || fail 'the agent has ended'; grep -q 'while it waited' "$TMPDIR/silent.log"; }
awaited 'the request is withdrawn' withdrawn

# Beyond the requests of one process that are served at once, a message waits for its turn. Other processes are served meanwhile, and a client
# that hangs up before its turn withdraws its request.
cat >"$TMPDIR/crowd.py" <<'PY'
"""More requests of one process than are served at once: crowd.py SOCKET LOG SILENT-KEY KEY. A request with SILENT-KEY is not answered."""
import base64, os, select, socket, struct, subprocess, sys
path, log, silent, own = sys.argv[1:]
def string(value): return struct.pack(">I", len(value)) + value
def asked(): return open(log).read().count("asked\n")
def client(name):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    blob = base64.b64decode(open(name).read().split()[1])
    connection.sendall(string(b"\x0d" + string(blob) + string(b"data") + bytes(4)))
    return connection
before = asked()
held = [client(silent) for _ in range(8)]
while asked() < before + 8: pass
gone, waiting = client(silent), [client(own) for _ in range(23)]
subprocess.run(["ssh-add", "-T", own], check=True, env={**os.environ, "SSH_AUTH_SOCK": path})
assert not select.select(waiting, [], [], 0)[0], "a request beyond those that are served at once was answered, or its client hung up on"
gone.close()
held.pop().close()
for connection in waiting:
    assert connection.recv(5, socket.MSG_WAITALL)[4:] == b"\x0e", "a request that waited for its turn was not answered"
assert asked() == before + 8, "a request was served whose client had hung up"
PY
timeout "$hang_seconds" python3 "$TMPDIR/crowd.py" "$TMPDIR/over-silent" "$TMPDIR/silent.log" "$TMPDIR/theirs.pub" "$TMPDIR/work.pub" ||
    fail 'requests beyond those that are served at once do not wait for their turn'

# An agent that accepts nothing, with a full queue: a client that waits for it and hangs up blocks no other.
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$TMPDIR/stuck" || fail 'there is no socket'
start_agent "$TMPDIR/over-stuck" --upstream "$TMPDIR/stuck"
rm "$TMPDIR/stuck"
cat >"$TMPDIR/stuck.py" <<'PY'
"""A socket whose queue is full: stuck.py PATH. Says so on standard output."""
import signal, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(0)
waiting = []
while True:
    client = socket.socket(socket.AF_UNIX)
    client.setblocking(False)
    try: client.connect(sys.argv[1])
    except BlockingIOError: break
    waiting.append(client)
print("full", flush=True)
signal.pause()
PY
python3 "$TMPDIR/stuck.py" "$TMPDIR/stuck" >"$TMPDIR/stuck.log" & pids="$pids $!"
until grep -q full "$TMPDIR/stuck.log"; do kill -0 $! || fail 'the stuck agent does not start'; done
threads() { ls "/proc/$agent_pid/task" | wc -l; }
idle=$(threads)
SSH_AUTH_SOCK=$TMPDIR/over-stuck ssh-add -l >/dev/null 2>&1 & asker=$!
# A thread of an earlier request may end only now.
until now=$(threads); [ "$now" -ge "$idle" ] || idle=$now; [ "$now" -gt "$idle" ]; do kill -0 $asker || fail 'the list is not waited for'; done
signs "$TMPDIR/over-stuck" "$TMPDIR/work.pub" || fail 'an agent that accepts nothing holds up another client'
kill $asker; wait $asker 2>/dev/null
signs "$TMPDIR/over-stuck" "$TMPDIR/work.pub" || fail 'a client that hung up holds up the others'
until [ "$(threads)" -le "$idle" ]; do kill -0 $agent_pid || fail 'the agent has ended'; done
expect_status 53 "$VAUBAN_BUILD/vauban-ssh-agent" --socket "$TMPDIR/stuck"; expect_text 'already listening there' "$TMPDIR/err"
echo "another agent's keys are offered beside the keychain's$with_dummy"
