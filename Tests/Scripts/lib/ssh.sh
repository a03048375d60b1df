# For tests of SSH keys, to be sourced after command-line.sh: the agent at $agent, OpenSSH's programs, and no agent of the user.
for program in ssh ssh-add ssh-agent ssh-keygen git python3; do
    command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }
done
[ -x "$VAUBAN_BUILD/vauban-ssh-agent" ] || { echo 'vauban-ssh-agent is not built'; exit 77; }
unset SSH_AUTH_SOCK SSH_ASKPASS SSH_CONNECTION DISPLAY XDG_CONFIG_HOME
chmod 700 "$TMPDIR"; mkdir -m 700 "$TMPDIR/.ssh"; : >"$TMPDIR/.ssh/known_hosts"
agent=$TMPDIR/agent.socket
pids=
# start_agent SOCKET OPTIONS...: starts an agent, and returns when it answers; its process number is $agent_pid.
start_agent() {
    local socket=$1; shift
    "$VAUBAN_BUILD/vauban" ssh-agent --foreground --socket "$socket" "$@" >/dev/null 2>"$socket.log" &
    agent_pid=$!
    pids="$pids $agent_pid"
    until SSH_AUTH_SOCK=$socket ssh-add -l >/dev/null 2>&1 || [ $? = 1 ]; do kill -0 $agent_pid 2>/dev/null || { cat "$socket.log"; fail 'the agent does not start'; }; done
}
ended() { kill "$1" 2>/dev/null; wait "$1" 2>/dev/null; }
finish() { for pid in $pids; do ended "$pid"; done; vauban stop >/dev/null 2>&1; }
trap finish EXIT
# offers SOCKET PUBLIC-KEY: whether the agent there lists it.
offers() { SSH_AUTH_SOCK=$1 ssh-add -L 2>/dev/null | cut -d' ' -f2 | grep -qxF "$(cut -d' ' -f2 "$2")"; }
# signs SOCKET PUBLIC-KEY: whether the agent there makes a valid signature with it.
signs() { SSH_AUTH_SOCK=$1 ssh-add -T "$2" 2>/dev/null; }
