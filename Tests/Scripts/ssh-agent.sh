#!/usr/bin/env bash
# The SSH agent with the real ssh, sshd, ssh-add, ssh-keygen and git: keys of the enclave and imported ones, certificates, locks, lifetimes,
# destinations, a forwarded agent, and the text of prompts.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/free-ports.sh
for program in ssh sshd ssh-add ssh-keygen git python3; do
    PATH=$PATH:/usr/sbin command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }
done
PATH=$PATH:/usr/sbin
[ -x "$VAUBAN_BUILD/vauban-ssh-agent" ] || { echo 'vauban-ssh-agent is not built'; exit 77; }
unset SSH_AUTH_SOCK SSH_ASKPASS SSH_CONNECTION DISPLAY
chmod 700 "$TMPDIR"; mkdir -m 700 "$TMPDIR/.ssh"; : >"$TMPDIR/.ssh/known_hosts"
set_passcode
agent=$TMPDIR/agent.socket
# OpenSSH's programs look up the home folder in the list of users, not in HOME; so each gets its files as options.
ended() { kill "$1" 2>/dev/null; wait "$1" 2>/dev/null; }
start_agent() {
    "$VAUBAN_BUILD/vauban" ssh-agent --foreground --socket "$agent" >/dev/null 2>"$TMPDIR/agent.log" &
    agent_pid=$!
    export SSH_AUTH_SOCK=$agent
    until ssh-add -l >/dev/null 2>&1 || [ $? = 1 ]; do kill -0 $agent_pid 2>/dev/null || { cat "$TMPDIR/agent.log"; fail 'the agent does not start'; }; done
}
finish() { ended "${sshd_pid:-}"; ended "${agent_pid:-}"; vauban stop >/dev/null 2>&1; }
trap finish EXIT

# Keys that are made here, and how they are listed.
vauban ssh new work >"$TMPDIR/work.pub" || fail 'no key was made'
expect_status 45 vauban ssh new work
expect_status 64 vauban ssh new "$(printf 'two\nlines')"
vauban ssh new asking --require presence >"$TMPDIR/asking.pub" || fail 'no key that prompts was made'
ssh-keygen -l -f "$TMPDIR/work.pub" >"$TMPDIR/out" || fail 'ssh-keygen does not read the public half'
vauban ssh list >"$TMPDIR/list"; expect_text 'made here' "$TMPDIR/list"; expect_text prompts "$TMPDIR/list"
start_agent
ssh-add -L >"$TMPDIR/out" || { cat "$TMPDIR/agent.log"; fail 'the agent lists nothing'; }
for key in work asking; do grep -qxF "$(cat "$TMPDIR/$key.pub")" "$TMPDIR/out" || { cat "$TMPDIR/out"; fail "$key is not offered"; }; done
ssh-add -l | grep -q 'work (ECDSA)' || fail 'ssh-add -l does not name the key'
ssh-add -T "$TMPDIR/work.pub" || fail 'the signature of a key that was made here is not right'

# Forty clients, more than the threads that wait for a client's next message, each with several requests, one of which arrives in parts.
python3 - "$agent" <<'PYTHON' || fail 'a later request of a client among many is not answered'
import socket, sys
LIST = b"\0\0\0\1\x0b"
clients = [socket.socket(socket.AF_UNIX) for _ in range(40)]
def answered(client):
    length = int.from_bytes(client.recv(4, socket.MSG_WAITALL), "big")
    return client.recv(length, socket.MSG_WAITALL)[0] == 12
for client in clients: client.settimeout(60); client.connect(sys.argv[1])
for _ in range(3):
    for client in clients:
        client.sendall(LIST)
        assert answered(client)
for client in clients: client.sendall(LIST[:2])
for client in reversed(clients):
    client.sendall(LIST[2:])
    assert answered(client)
PYTHON

# A message is signed, and verified by ssh-keygen; git signs and verifies a commit.
printf 'work %s\n' "$(cut -d' ' -f1,2 "$TMPDIR/work.pub")" >"$TMPDIR/signers"
printf 'a message' >"$TMPDIR/message"
ssh-keygen -q -Y sign -f "$TMPDIR/work.pub" -n file "$TMPDIR/message" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'ssh-keygen does not sign'; }
ssh-keygen -q -Y verify -f "$TMPDIR/signers" -I work -n file -s "$TMPDIR/message.sig" <"$TMPDIR/message" || fail 'the signature does not verify'
ssh-keygen -q -Y verify -f "$TMPDIR/signers" -I work -n git -s "$TMPDIR/message.sig" <"$TMPDIR/message" 2>/dev/null && fail 'a signature counts for another purpose'
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=work
git init -q "$TMPDIR/repository" && cd "$TMPDIR/repository" || fail 'git init failed'
git config gpg.format ssh && git config user.signingKey "$TMPDIR/work.pub" && git config gpg.ssh.allowedSignersFile "$TMPDIR/signers"
git commit -q -S --allow-empty -m signed 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'git does not sign'; }
git verify-commit HEAD 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'git does not take its own signature'; }
cd "$OLDPWD" || exit 1

# Keys that are imported: of each type, with and without a passphrase, with a certificate beside it.
ssh-keygen -q -t ed25519 -N '' -C anna@home -f "$TMPDIR/plain"
ssh-keygen -q -t rsa -b 2048 -N '' -f "$TMPDIR/rsa"
for bits in 256 384 521; do ssh-keygen -q -t ecdsa -b $bits -N '' -f "$TMPDIR/ecdsa$bits"; done
ssh-keygen -q -t ed25519 -N 'a passphrase of a file' -f "$TMPDIR/sealed"
ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/authority"
ssh-keygen -q -s "$TMPDIR/authority" -I anna -n "$(id -un)" "$TMPDIR/plain.pub"
for name in plain rsa ecdsa256 ecdsa384 ecdsa521; do
    vauban ssh import "$TMPDIR/$name" >"$TMPDIR/out" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail "$name is not imported"; }
    [ -f "$TMPDIR/$name" ] || fail 'the file was removed'
    cut -d' ' -f1,2 "$TMPDIR/$name.pub" | grep -qxF "$(cut -d' ' -f1,2 "$TMPDIR/out")" || fail "$name is another key than its file"
done
expect_status 45 vauban ssh import "$TMPDIR/plain" --name other
play "$VAUBAN_BUILD/vauban" ssh import "$TMPDIR/sealed" >"$TMPDIR/out" <<STEPS
expect Enter passphrase
secret a passphrase of a file
expect ssh-ed25519
STEPS
[ $? = 0 ] || { cat "$TMPDIR/out"; fail 'a key behind a passphrase is not imported'; }
not_kept 'a passphrase of a file'
expect_status 64 vauban ssh import "$TMPDIR/message"; expect_text 'could not read a private key in' "$TMPDIR/err"
expect_status 64 vauban ssh import "$TMPDIR/none"; expect_text "There is no file $TMPDIR/none" "$TMPDIR/err"
expect_status 64 vauban ssh import "$TMPDIR"; expect_text 'is a folder' "$TMPDIR/err"
expect_status 45 vauban ssh import "$TMPDIR/rsa"; expect_text '--name NAME' "$TMPDIR/err"
ssh-keygen -q -t rsa -b 1024 -N '' -f "$TMPDIR/short" || fail 'no short key'
expect_status 64 vauban ssh import "$TMPDIR/short"; expect_text 'Unsupported key; use Ed25519' "$TMPDIR/err"
# With --no-input, ssh-add does not ask for a passphrase.
play "$VAUBAN_BUILD/vauban" ssh import "$TMPDIR/sealed" --name again --no-input >"$TMPDIR/out" <<STEPS
expect leave out --no-input
STEPS
[ $? = 64 ] || { cat "$TMPDIR/out"; fail 'a key behind a passphrase is imported without prompts'; }
grep -q 'Enter passphrase' "$TMPDIR/out" && fail 'a passphrase is asked for in spite of --no-input'
# In another place, so that only the agent can have signed.
mkdir "$TMPDIR/elsewhere"
signs() {
    rm -f "$TMPDIR/message.sig"; ssh-keygen -q -Y sign -f "$1" -n file "$TMPDIR/message" 2>/dev/null </dev/null &&
        ssh-keygen -q -Y check-novalidate -n file -s "$TMPDIR/message.sig" <"$TMPDIR/message" >/dev/null
}
for name in plain rsa ecdsa256 ecdsa384 ecdsa521 sealed; do mv "$TMPDIR/$name" "$TMPDIR/elsewhere/"; signs "$TMPDIR/$name.pub" || fail "$name does not sign"; done
ssh-add -L | grep -q ssh-ed25519-cert-v01 || fail 'the certificate is not offered'

# A real server: logging in with a made and with an imported key, by a certificate, and through a forwarded agent.
ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/host"
user=$(id -un)
cat "$TMPDIR/work.pub" "$TMPDIR/rsa.pub" "$TMPDIR/asking.pub" >"$TMPDIR/authorized"
printf 'cert-authority %s\n' "$(cat "$TMPDIR/authority.pub")" >>"$TMPDIR/authorized"
free_ports; port=$PORT
cat >"$TMPDIR/sshd_config" <<SSHD
ListenAddress 127.0.0.1
Port $port
HostKey $TMPDIR/host
AuthorizedKeysFile $TMPDIR/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
AllowAgentForwarding yes
PermitRootLogin yes
PidFile none
SSHD
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
"$(command -v sshd)" -D -e -f "$TMPDIR/sshd_config" 2>"$TMPDIR/sshd.log" &
sshd_pid=$!
until python3 -c "import socket; socket.create_connection(('127.0.0.1', $port))" 2>/dev/null; do
    kill -0 $sshd_pid 2>/dev/null || { cat "$TMPDIR/sshd.log"; fail 'sshd does not start'; }
done
printf '[git.example.org]:%s %s\n' "$port" "$(cut -d' ' -f1,2 "$TMPDIR/host.pub")" >"$TMPDIR/.ssh/known_hosts"
connect() { ssh -F none -o HostKeyAlias="[git.example.org]:$port" -o UserKnownHostsFile="$TMPDIR/.ssh/known_hosts" -o BatchMode=yes -o IdentitiesOnly=yes -p "$port" "$@"; }
login() { connect -i "$1" "$user@127.0.0.1" "${@:2}" 2>"$TMPDIR/err"; }
for name in work rsa; do
    [ "$(login "$TMPDIR/$name.pub" echo in)" = in ] || { cat "$TMPDIR/err" "$TMPDIR/sshd.log" "$TMPDIR/agent.log"; fail "no login with $name"; }
done
[ "$(login "$TMPDIR/ecdsa384.pub" echo in)" = in ] && fail 'a key that the server does not know logs in'
cp "$TMPDIR/plain-cert.pub" "$TMPDIR/certificate.pub"
[ "$(login "$TMPDIR/certificate.pub" echo in)" = in ] || { cat "$TMPDIR/err" "$TMPDIR/sshd.log"; fail 'no login by the certificate'; }
# With the certificate in a file, ssh has the agent sign with the key itself.
[ "$(connect -i "$TMPDIR/plain.pub" -o CertificateFile="$TMPDIR/certificate.pub" "$user@127.0.0.1" echo in 2>"$TMPDIR/err")" = in ] ||
    { cat "$TMPDIR/err" "$TMPDIR/agent.log"; fail 'no login by a certificate beside the key'; }
inner="ssh -F none -o HostKeyAlias=[git.example.org]:$port -o UserKnownHostsFile=$TMPDIR/.ssh/known_hosts -o BatchMode=yes -o IdentitiesOnly=yes -i $TMPDIR/work.pub -p $port $user@127.0.0.1 echo twice"
[ "$(connect -A -i "$TMPDIR/work.pub" "$user@127.0.0.1" "$inner" 2>"$TMPDIR/err")" = twice ] || { cat "$TMPDIR/err"; fail 'no login through the forwarded agent'; }

# A key that requires the user: the prompt names server, user, key and program; one that waits blocks no other request; a caller that hangs up
# withdraws it.
cat >"$TMPDIR/asker" <<ASKER
#!/bin/sh
export SSH_AUTH_SOCK=$agent
setsid ssh -F none -o HostKeyAlias="[git.example.org]:$port" -o UserKnownHostsFile=$TMPDIR/.ssh/known_hosts -o BatchMode=yes -o IdentitiesOnly=yes -i $TMPDIR/asking.pub -p $port $user@127.0.0.1 echo asked </dev/null >$TMPDIR/asked 2>$TMPDIR/asked.err &
echo \$! >$TMPDIR/asker.pid
ASKER
cat >"$TMPDIR/forwarder" <<ASKER
#!/bin/sh
export SSH_AUTH_SOCK=$agent
setsid ssh -A -F none -o HostKeyAlias="[git.example.org]:$port" -o UserKnownHostsFile=$TMPDIR/.ssh/known_hosts -o BatchMode=yes -o IdentitiesOnly=yes -i $TMPDIR/work.pub -p $port $user@127.0.0.1 '${inner//work.pub/asking.pub}' </dev/null >$TMPDIR/asked 2>$TMPDIR/asked.err &
echo \$! >$TMPDIR/asker.pid
ASKER
printf '#!/bin/sh\ntail -s 0.02 --pid="$(cat %s)" -f /dev/null\n' "$TMPDIR/asker.pid" >"$TMPDIR/wait"
printf '#!/bin/sh\nSSH_AUTH_SOCK=%s ssh-add -T %s\n' "$agent" "$TMPDIR/work.pub" >"$TMPDIR/another"
chmod +x "$TMPDIR"/{asker,forwarder,wait,another}
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/asker
expect log in to [git.example.org]:$port as “$user”
expect with the key asking
expect for ssh (process
expect Passcode
run $TMPDIR/another
secret $passcode
expect Accepted
run $TMPDIR/wait
run grep -qx asked $TMPDIR/asked
run $TMPDIR/asker
expect Passcode
run kill \$(cat $TMPDIR/asker.pid)
expect withdrawn
run $TMPDIR/forwarder
expect through the agent forwarded to [git.example.org]:$port
expect Passcode
key ctrl-c
expect Cancelled
run $TMPDIR/wait
run ! grep -q twice $TMPDIR/asked
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/agent.log"; fail 'the prompt has another text'; }
# prompted ASKER TEXT: a prompt with this text, which the user cancels.
prompted() {
    play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $1
expect $2
expect Passcode
key ctrl-c
expect Cancelled
run $TMPDIR/wait
key ctrl-c
STEPS
    [ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/agent.log" "$TMPDIR/asked.err"; fail "the prompt does not say: $2"; }
}
# A hashed name, as Debian's ssh writes it, is shown once the user recorded the server; the file is the same, not one that replaces it.
cp "$TMPDIR/.ssh/known_hosts" "$TMPDIR/hashed" && ssh-keygen -q -H -f "$TMPDIR/hashed" 2>/dev/null && cat "$TMPDIR/hashed" >"$TMPDIR/.ssh/known_hosts"
grep -q git.example.org "$TMPDIR/.ssh/known_hosts" && fail 'the name is not hashed'
prompted "$TMPDIR/asker" "log in to the server $(ssh-keygen -lf "$TMPDIR/host.pub" | cut -d' ' -f2) as “$user”"
vauban ssh where work --add "git.example.org:$port, as deploy" || fail 'no place was recorded'
prompted "$TMPDIR/asker" "log in to [git.example.org]:$port as “$user”"
vauban ssh where work --remove "git.example.org:$port, as deploy" || fail 'no place was removed'
# The file of names for all users. Other tests see the system's own.
. Tests/Scripts/lib/own-mounts.sh
if [ "$(id -u)" = 0 ] && "$has_own_mounts"; then
    printf 'global.example.org %s\n' "$(cut -d' ' -f1,2 "$TMPDIR/host.pub")" >"$TMPDIR/global"
    # shellcheck disable=SC2086
    unshare $own_mounts sh -c 'mount -t tmpfs none /etc/ssh && cp "$1" /etc/ssh/ssh_known_hosts && exec "$2" --socket "$3"' sh "$TMPDIR/global" \
        "$VAUBAN_BUILD/vauban-ssh-agent" "$TMPDIR/global.socket" 2>"$TMPDIR/global.log" &
    global_pid=$!
    until SSH_AUTH_SOCK=$TMPDIR/global.socket ssh-add -l >/dev/null 2>&1; do
        kill -0 $global_pid || { cat "$TMPDIR/global.log"; fail 'the agent with a global file does not start'; }
    done
    sed "s#$agent#$TMPDIR/global.socket#" "$TMPDIR/asker" >"$TMPDIR/global-asker" && chmod +x "$TMPDIR/global-asker"
    prompted "$TMPDIR/global-asker" 'log in to global.example.org as'
    ended $global_pid
fi

# Keys that ssh-add adds live in memory: -d, -t, -D, and destinations.
other=$TMPDIR/elsewhere/plain
ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/elsewhere/memory"; memory=$TMPDIR/elsewhere/memory
ssh-add -q "$memory" && ssh-add -T "$memory.pub" || fail 'a key that was added does not sign'
ssh-add -q -d "$memory" && ssh-add -T "$memory.pub" 2>/dev/null && fail 'a key that was removed signs'
ssh-add -q -t 1000 "$memory" && ssh-add -T "$memory.pub" || fail 'a key with a lifetime does not sign'
ssh-add -q -d "$memory"
ssh-add -q -t 1 "$memory" || fail 'no key with a short lifetime'
until ! ssh-add -T "$memory.pub" 2>/dev/null; do :; done
grep -qs . "$TMPDIR/agent.log" && grep -q PRIVATE "$TMPDIR/agent.log" && fail 'a key is in the log'
cat "$memory.pub" >>"$TMPDIR/authorized"
ssh-add -q -H "$TMPDIR/.ssh/known_hosts" -h "$user@[git.example.org]:$port" "$memory" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'no key that is bound to a destination'; }
[ "$(login "$memory.pub" echo in)" = in ] || { cat "$TMPDIR/err" "$TMPDIR/agent.log"; fail 'a bound key does not log in at its destination'; }
ssh-add -T "$memory.pub" 2>/dev/null && fail 'a bound key signs anything'
ssh-keygen -q -Y sign -f "$memory.pub" -n file "$TMPDIR/message" 2>/dev/null </dev/null && fail 'a bound key signs a message'
[ "$(connect -A -i "$TMPDIR/work.pub" "$user@127.0.0.1" "ssh-add -L" 2>/dev/null | grep -c "$(cut -d' ' -f2 "$memory.pub")")" = 0 ] ||
    fail 'a bound key is shown through a forwarded agent'
[ "$(connect -A -i "$TMPDIR/work.pub" "$user@127.0.0.1" "${inner//$TMPDIR\/work.pub/$memory.pub}" 2>/dev/null)" = twice ] && fail 'a bound key logs in beyond its destination'
ssh-add -q -d "$memory"; ssh-add -q -h elsewhere.example.org -H /dev/null "$memory" 2>/dev/null && fail 'a destination without a key is accepted'

# Locked by a passphrase it shows and signs nothing; another passphrase does not open it.
locking() { play ssh-add "$1" >"$TMPDIR/out" <<STEPS
expect password
secret $2
$3
STEPS
}
locking -x 'the lock' "expect Again
secret the lock" || { cat "$TMPDIR/out"; fail 'the agent is not locked'; }
ssh-add -l >"$TMPDIR/out" 2>&1 && fail 'a locked agent shows keys'
ssh-add -T "$TMPDIR/work.pub" 2>/dev/null && fail 'a locked agent signs'
locking -X 'another' '' && fail 'another passphrase unlocks'
locking -X 'the lock' '' || { cat "$TMPDIR/out"; fail 'its passphrase does not unlock'; }
ssh-add -T "$TMPDIR/work.pub" || fail 'the agent does not sign after it was unlocked'

# A prompt for each use: shown if there is a prompt agent, otherwise the key does not sign.
ssh-add -q -c "$memory" || fail 'no key that prompts each time'
ssh-add -T "$memory.pub" 2>/dev/null && fail 'a key that prompts signs where nothing can show the prompt'
printf '#!/bin/sh\nSSH_AUTH_SOCK=%s setsid ssh-add -T %s </dev/null >%s 2>&1 &\necho $! >%s\n' "$agent" "$memory.pub" "$TMPDIR/asked" "$TMPDIR/asker.pid" >"$TMPDIR/asker"
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/asker
expect does not say what it is
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out"; fail 'there is no prompt for a key that prompts each time'; }
# A key that was removed while its prompt waited does not sign, whatever the answer; nor does one after the agent was locked.
removed_meanwhile() {
    : >"$TMPDIR/asked"
    play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/asker
expect Passcode
run $1
secret $passcode
expect Accepted
run $TMPDIR/wait
key ctrl-c
STEPS
    [ $? = 130 ] || { cat "$TMPDIR/out"; fail 'no prompt for a key that prompts each time'; }
    expect_text 'agent refused operation' "$TMPDIR/asked"
}
printf '#!/bin/sh\nSSH_AUTH_SOCK=%s ssh-add -q -d %s\n' "$agent" "$memory" >"$TMPDIR/remover"
printf '#!/bin/sh\nSSH_AUTH_SOCK=%s SSH_ASKPASS=%s SSH_ASKPASS_REQUIRE=force ssh-add -q -x\n' "$agent" "$TMPDIR/askpass" >"$TMPDIR/locker"
printf '#!/bin/sh\necho the lock\n' >"$TMPDIR/askpass"
chmod +x "$TMPDIR"/{remover,locker,askpass}
removed_meanwhile "$TMPDIR/remover"
ssh-add -q -c "$memory" || fail 'the key is not accepted again'
removed_meanwhile "$TMPDIR/locker"
locking -X 'the lock' '' || { cat "$TMPDIR/out"; fail 'the agent is not unlocked'; }
ssh-add -q -d "$memory"
# A key whose time is over is erased, even without a request. If the kernel shows the agent's memory to root, the key is searched for there.
cat >"$TMPDIR/remains.py" <<'PY'
"""Says whether a process's memory has the private half of a key: remains.py PID KEY-FILE."""
import base64, sys
text = open(sys.argv[2]).read()
body = base64.b64decode("".join(line for line in text.splitlines() if "-----" not in line))
blob = base64.b64decode(open(sys.argv[2] + ".pub").read().split()[1])
point = blob[-32:]
# The seed and the point follow each other in the private part.
seed = body[body.rindex(point) - 32:body.rindex(point)]
found = False
try:
    maps = [line.split() for line in open(f"/proc/{sys.argv[1]}/maps")]
    with open(f"/proc/{sys.argv[1]}/mem", "rb", 0) as memory:
        for line in maps:
            if "r" not in line[1] or line[-1] in ("[vvar]", "[vsyscall]", "[vvar_vclock]"): continue
            start, end = (int(part, 16) for part in line[0].split("-"))
            if end - start > 1 << 30: continue
            try:
                memory.seek(start)
                found = found or seed in memory.read(end - start)
            except OSError: pass
except OSError: pass
print("present" if found else "absent")
PY
remains() { python3 "$TMPDIR/remains.py" $agent_pid "$memory"; }
[ "$(remains)" = absent ] || fail 'a removed key is in memory'
# If it does not, as with memfd_secret, the kernel reports when the agent's timer is due, and that it was handled.
timer() { for file in /proc/$agent_pid/fdinfo/*; do ! grep -q '^clockid: 7$' "$file" 2>/dev/null || grep -E '^(ticks|it_value):' "$file" | tr -d '\n'; done; }
if [ -r "/proc/$agent_pid/fdinfo" ]; then
    ssh-add -q -t 1000 "$memory" || fail 'no key with a lifetime'
    [[ $(timer) == 'ticks: 0it_value: ('[1-9]* ]] || { timer; fail 'no timer is due for the end of a key'; }
    ssh-add -q -t 2 "$memory" || fail 'no key with a short lifetime'
    until [ "$(timer)" = 'ticks: 0it_value: (0, 0)' ]; do kill -0 $agent_pid || fail 'the agent has ended'; done
    ssh-add -T "$memory.pub" 2>/dev/null && fail 'a key whose time is over signs'
    erased=', expired keys are erased'
fi
ssh-add -q -t 5 "$memory" || fail 'no key with a short lifetime'
if [ "$(remains)" = present ]; then
    until [ "$(remains)" = absent ]; do kill -0 $agent_pid || fail 'the agent has ended'; done
    erased=', expired keys are erased'
fi

# Hostile and malformed messages, silent clients and many requests at once affect no other client; constraints that cannot be met refuse a key.
ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/elsewhere/constrained"
python3 Tests/Scripts/lib/ssh-frames.py "$agent" "$TMPDIR/work.pub" "$TMPDIR/elsewhere/constrained" >"$TMPDIR/out" 2>&1 ||
    { cat "$TMPDIR/out" "$TMPDIR/agent.log"; fail 'a message has a wrong reply'; }
kill -0 $agent_pid || fail 'the agent has ended'

# -d and -D remove stored keys from this agent and delete nothing; a locked keychain lists its keys and signs nothing.
ssh-add -q -d "$TMPDIR/work.pub" || fail 'a stored key cannot be removed from the agent'
ssh-add -L | grep -qF "$(cut -d' ' -f2 "$TMPDIR/work.pub")" && fail 'a removed key is offered'
# A key and its certificate are removed one by one, as from OpenSSH's agent.
offered() { ssh-add -L | cut -d' ' -f2 | grep -qxF "$(cut -d' ' -f2 "$1")"; }
ssh-add -q -d - <"$TMPDIR/certificate.pub" || fail 'a certificate cannot be removed from the agent'
offered "$TMPDIR/certificate.pub" && fail 'a removed certificate is offered'
offered "$TMPDIR/plain.pub" && signs "$TMPDIR/plain.pub" || fail 'its key went with the certificate'
ssh-add -q -d - <"$TMPDIR/certificate.pub" 2>/dev/null && fail 'a certificate was removed twice'
ssh-add -q -k -d "$TMPDIR/plain.pub" || fail 'a key with a certificate cannot be removed from the agent'
offered "$TMPDIR/plain.pub" && fail 'a key is still offered beside its certificate'
ssh-add -q -D; ssh-add -l >/dev/null 2>&1 && fail 'something is left'
vauban ssh list | grep -q work || fail 'a key was deleted from the keychain'
ended $agent_pid
start_agent
ssh-add -T "$TMPDIR/work.pub" || fail 'the agent does not sign after it was started again'
vauban lock >/dev/null 2>&1
ssh-add -L | grep -qF "$(cut -d' ' -f2 "$TMPDIR/work.pub")" || fail 'a locked keychain shows no key'
ssh-add -T "$TMPDIR/work.pub" 2>/dev/null && fail 'a locked keychain signs'
unlock
ssh-add -T "$TMPDIR/work.pub" || fail 'the agent does not sign after the unlock'
expect_status 44 vauban ssh delete none --yes
for key in rsa plain asking; do expect_status 0 vauban ssh delete $key --yes; done
vauban ssh list | grep -E '^(rsa|plain|asking)' && fail 'a deleted key is listed'
ssh-add -L | grep -F -e "$(cut -d' ' -f2 "$TMPDIR/asking.pub")" -e ssh-ed25519-cert && fail 'a deleted key is offered'
signs "$TMPDIR/rsa.pub" && fail 'a deleted key signs'

# A second agent does not take the place of one that runs; a killed one leaves a socket that the next one takes over.
"$VAUBAN_BUILD/vauban" ssh-agent --foreground --socket "$agent" 2>"$TMPDIR/err" && fail 'two agents at one socket'
expect_text 'already listening there' "$TMPDIR/err"
# Neither does it take the place of a file, nor start without a socket.
expect_status 53 vauban ssh-agent --foreground --socket "$TMPDIR/message"; expect_text 'a file that is not a socket has this name' "$TMPDIR/err"
[ -s "$TMPDIR/message" ] || fail 'a file was removed for a socket'
expect_status 64 vauban ssh-agent --foreground; expect_text '--socket PATH' "$TMPDIR/err"
kill -9 $agent_pid; wait $agent_pid 2>/dev/null
start_agent
ssh-add -T "$TMPDIR/work.pub" || fail 'the agent does not take over the socket of a killed one'

# systemd accepts what enable writes; disable restores everything as it was.
mkdir -p "$TMPDIR/settings/kept" && export XDG_CONFIG_HOME=$TMPDIR/settings
before=$(find "$XDG_CONFIG_HOME" | sort)
expect_status 0 vauban ssh enable
expect_text 'start the agent yourself: vauban ssh-agent --foreground --socket PATH' "$TMPDIR/err"
grep -q XDG_RUNTIME_DIR "$TMPDIR/err" && fail 'a socket is named that nothing makes'
! command -v systemd-analyze >/dev/null ||
    XDG_RUNTIME_DIR=$TMPDIR systemd-analyze --user verify "$XDG_CONFIG_HOME"/systemd/user/vauban-ssh-agent.{socket,service} >"$TMPDIR/out" 2>&1 ||
        { cat "$TMPDIR/out"; fail 'systemd does not take the units'; }
expect_text 'SSH_AUTH_SOCK=${XDG_RUNTIME_DIR}/vauban-ssh-agent.socket' "$XDG_CONFIG_HOME/environment.d/60-vauban-ssh.conf"
# The agent that this names is Vauban's, and another one is named.
expect_status 0 vauban ssh enable; grep -q 'another agent' "$TMPDIR/err" && fail "Vauban's agent is called another one"
SSH_AUTH_SOCK=$TMPDIR/none expect_status 0 vauban ssh enable; expect_text "another agent: $TMPDIR/none" "$TMPDIR/err"
expect_status 0 vauban ssh disable
[ "$(find "$XDG_CONFIG_HOME" | sort)" = "$before" ] || { find "$XDG_CONFIG_HOME"; fail 'a file of the agent was not removed'; }
# Where a systemd runs for the user, this shell can use its socket.
mkdir -p "$TMPDIR/runtime/systemd"; : >"$TMPDIR/runtime/systemd/private"
XDG_RUNTIME_DIR=$TMPDIR/runtime expect_status 0 vauban ssh enable
expect_text 'export SSH_AUTH_SOCK="$XDG_RUNTIME_DIR/vauban-ssh-agent.socket"' "$TMPDIR/err"
expect_text 'For logins on a console or over SSH, add to ~/.profile: export SSH_AUTH_SOCK=' "$TMPDIR/err"
XDG_RUNTIME_DIR=$TMPDIR/runtime expect_status 0 vauban ssh disable
# The socket of an earlier version, which had fewer lines, is replaced and removed as well.
socket=$XDG_CONFIG_HOME/systemd/user/vauban-ssh-agent.socket
make_earlier() { sed -i -e '/^After=/d' -e '/^Before=/d' -e '/^ExecStartPost=/d' "$socket"; }
expect_status 0 vauban ssh enable; cp "$socket" "$TMPDIR/present.socket"; make_earlier
expect_status 0 vauban ssh enable; cmp "$socket" "$TMPDIR/present.socket" || fail 'the socket of an earlier version is not replaced'
make_earlier; expect_status 0 vauban ssh disable
[ "$(find "$XDG_CONFIG_HOME" | sort)" = "$before" ] || { find "$XDG_CONFIG_HOME"; fail 'a file of an earlier version was not removed'; }
# So is its unit, with either socket. In user mode, the keychain that the unit started outlasts it.
service=${socket%.socket}.service
for socket_too in true false; do
    expect_status 0 vauban ssh enable; expect_text KillMode=process "$service"; cp "$service" "$TMPDIR/present.service"
    sed -i '/^KillMode=/d' "$service"; ! $socket_too || make_earlier
    expect_status 0 vauban ssh enable
    cmp "$service" "$TMPDIR/present.service" && cmp "$socket" "$TMPDIR/present.socket" || fail 'a unit of an earlier version is not replaced'
    sed -i '/^KillMode=/d' "$service"; ! $socket_too || make_earlier
    expect_status 0 vauban ssh disable
    [ "$(find "$XDG_CONFIG_HOME" | sort)" = "$before" ] || { find "$XDG_CONFIG_HOME"; fail 'a unit of an earlier version was not removed'; }
done
# A session that does not name the agent, such as one on a console: the doctor says so, with a line that keeps a forwarded agent.
expect_status 0 vauban ssh enable
(unset SSH_AUTH_SOCK; vauban doctor) >"$TMPDIR/out"; expect_text 'SSH agent    enabled, but SSH_AUTH_SOCK is not set here; add to ~/.profile: export' "$TMPDIR/out"
line=$(sed -n 's/.*add to ~\/.profile: //p' "$TMPDIR/out")
[ "$(unset SSH_AUTH_SOCK; XDG_RUNTIME_DIR=/run/user/1 sh -c "$line; echo \$SSH_AUTH_SOCK")" = /run/user/1/vauban-ssh-agent.socket ] || fail 'the line does not name the agent'
[ "$(SSH_AUTH_SOCK=/forwarded XDG_RUNTIME_DIR=/run/user/1 sh -c "$line; echo \$SSH_AUTH_SOCK")" = /forwarded ] || fail 'the line replaces a forwarded agent'
expect_status 0 vauban ssh disable
(unset SSH_AUTH_SOCK; vauban doctor) >"$TMPDIR/out"; grep -q 'SSH agent' "$TMPDIR/out" && fail 'an agent is named that is not enabled'
# What sets SSH_AUTH_SOCK to another agent is masked or hidden if it is installed, and restored afterwards; what the user masked stays.
units=$XDG_CONFIG_HOME/systemd/user
if [ -e /etc/xdg/autostart/gnome-keyring-ssh.desktop ]; then
    expect_status 0 vauban ssh enable; expect_text 'gnome-keyring-ssh.desktop (hidden)' "$TMPDIR/err"
    expect_text Hidden=true "$XDG_CONFIG_HOME/autostart/gnome-keyring-ssh.desktop"
    expect_status 0 vauban ssh disable; expect_text 'start again: ' "$TMPDIR/err"
fi
if [ -e /usr/lib/systemd/user/gcr-ssh-agent.socket ]; then
    masks() { for unit in gcr-ssh-agent.service gcr-ssh-agent.socket; do [ "$(readlink "$units/$unit")" = /dev/null ] || fail "$unit is not masked"; done; }
    expect_status 0 vauban ssh enable; expect_text 'gcr-ssh-agent.service (masked), gcr-ssh-agent.socket (masked)' "$TMPDIR/err"; masks
    SSH_AUTH_SOCK=$TMPDIR/none vauban doctor >"$TMPDIR/out"; expect_text "nothing listens at $TMPDIR/none; to use Vauban's: log out and in" "$TMPDIR/out"
    rm "$units/gcr-ssh-agent.socket"; vauban doctor >"$TMPDIR/out"; expect_text 'at the next login gcr-ssh-agent.socket may come first; run vauban ssh enable again' "$TMPDIR/out"
    expect_status 0 vauban ssh enable; masks; vauban doctor >"$TMPDIR/out"; grep -q 'may come first' "$TMPDIR/out" && fail 'a masked unit may still start first'
    expect_status 0 vauban ssh disable; expect_text 'From the next login on these start again: gcr-ssh-agent.service, gcr-ssh-agent.socket' "$TMPDIR/err"
    mkdir -p "$units"; ln -s /dev/null "$units/gcr-ssh-agent.socket"
    expect_status 0 vauban ssh enable; masks; expect_status 0 vauban ssh disable
    [ "$(readlink "$units/gcr-ssh-agent.socket")" = /dev/null ] || fail 'a unit that the user masked is unmasked'
    rm "$units/gcr-ssh-agent.socket"; echo mine >"$units/gcr-ssh-agent.service"
    expect_status 45 vauban ssh enable; [ "$(cat "$units/gcr-ssh-agent.service")" = mine ] && [ ! -e "$units/vauban-ssh-agent.socket" ] ||
        fail "a unit of the user's is changed, or a file is written beside it"
    rm -r "$XDG_CONFIG_HOME/systemd"
fi
[ "$(find "$XDG_CONFIG_HOME" | sort)" = "$before" ] || { find "$XDG_CONFIG_HOME"; fail 'a file of the agent was not removed'; }
mkdir -p "$XDG_CONFIG_HOME/environment.d"; echo mine >"$XDG_CONFIG_HOME/environment.d/60-vauban-ssh.conf"
expect_status 45 vauban ssh enable
[ ! -e "$XDG_CONFIG_HOME/systemd" ] && [ "$(cat "$XDG_CONFIG_HOME/environment.d/60-vauban-ssh.conf")" = mine ] || fail 'a file of the user was changed'
rm -r "$XDG_CONFIG_HOME/environment.d"
# A file that is not text belongs to the user too.
mkdir "$XDG_CONFIG_HOME/environment.d"; printf '\377mine' >"$XDG_CONFIG_HOME/environment.d/60-vauban-ssh.conf"
cp "$XDG_CONFIG_HOME/environment.d/60-vauban-ssh.conf" "$TMPDIR/mine"
expect_status 45 vauban ssh enable
cmp "$XDG_CONFIG_HOME/environment.d/60-vauban-ssh.conf" "$TMPDIR/mine" || fail 'a file that is no text was replaced'
expect_status 64 vauban ssh disable
cmp "$XDG_CONFIG_HOME/environment.d/60-vauban-ssh.conf" "$TMPDIR/mine" || fail 'a file that is no text was removed'
# If the last file cannot be written, the first ones are reverted.
rm -r "$XDG_CONFIG_HOME/environment.d"; : >"$XDG_CONFIG_HOME/environment.d"
"$VAUBAN_BUILD/vauban" ssh enable 2>"$TMPDIR/err" && fail 'the agent is enabled without its file'
[ ! -e "$XDG_CONFIG_HOME/systemd" ] || { find "$XDG_CONFIG_HOME"; fail 'files stay after one could not be written'; }
rm "$XDG_CONFIG_HOME/environment.d"
# systemd reads the program's path literally.
mkdir "$TMPDIR/100%n" && cp "$VAUBAN_BUILD/vauban" "$TMPDIR/100%n/"
expect_status 0 "$TMPDIR/100%n/vauban" ssh enable
expect_text "\"$TMPDIR/100%%n/vauban\" ssh-agent" "$XDG_CONFIG_HOME/systemd/user/vauban-ssh-agent.service"
! command -v systemd-analyze >/dev/null ||
    XDG_RUNTIME_DIR=$TMPDIR systemd-analyze --user verify "$XDG_CONFIG_HOME"/systemd/user/vauban-ssh-agent.{socket,service} >"$TMPDIR/out" 2>&1 ||
        { cat "$TMPDIR/out"; fail 'systemd does not take a path with a percent sign'; }
expect_status 0 "$TMPDIR/100%n/vauban" ssh disable
[ "$(find "$XDG_CONFIG_HOME" | sort)" = "$before" ] || { find "$XDG_CONFIG_HOME"; fail 'a file of the agent was not removed'; }
echo "ssh, sshd, ssh-add, ssh-keygen and git accept the agent${erased:-}"
