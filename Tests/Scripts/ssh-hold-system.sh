#!/usr/bin/env bash
# An answer that holds, in the installed service: the enclave, as its own user, compares the program and the session of the user's process.
set -u
for program in ssh-add ssh-keygen; do command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }; done
more_programs=vauban-ssh-agent
. Tests/Scripts/lib/system-rooms.sh
own=$TMPDIR/alice
start_rooms
check 'she sets a passcode' with_passcode alice passcode set 2>/dev/null
alice ssh new work --require presence --hold 5m >"$TMPDIR/work.pub" || { echo 'there is no key'; exit 1; }
chmod 644 "$TMPDIR/work.pub"
# In a session that this shell leads.
cat >"$own/steps" <<STEPS
export SSH_AUTH_SOCK=$own/agent
"$bin/vauban" ssh-agent --foreground --socket "$own/agent" >/dev/null 2>"$own/agent.log" & agent_pid=\$!
trap 'kill \$agent_pid' EXIT
until ssh-add -l >/dev/null 2>&1; do kill -0 \$agent_pid 2>/dev/null || { cat "$own/agent.log"; exit 1; }; done
echo "early \$("$own/sign" git)"
printf '#!/bin/sh\n%s git >%s 2>&1 &\necho \$! >%s\n' "$own/sign" "$own/asked" "$own/pid" >"$own/asker"
printf '#!/bin/sh\ntail -s 0.02 --pid="\$(cat %s)" -f /dev/null\n' "$own/pid" >"$own/wait"
chmod 755 "$own/asker" "$own/wait"
"$bin/pty-play" --seconds "$hang_seconds" -- "$bin/vauban" approve >"$own/shown" 2>&1 <<ANSWER
expect Prompts appear here
run $own/asker
expect your passcode then lets ssh-keygen sign for “git” with it for 5 minutes
expect Passcode
secret alice passcode
expect Accepted
run $own/wait
key ctrl-c
ANSWER
echo "answered \$(cat "$own/asked")"
echo "again \$("$own/sign" git)"
echo "another purpose \$("$own/sign" file)"
echo "another session \$(setsid --wait "$own/sign" git)"
"$bin/vauban" lock 2>/dev/null
printf 'alice passcode\n' | "$bin/vauban" unlock --passcode-fd 0 2>/dev/null
echo "after a lock \$("$own/sign" git)"
STEPS
cat >"$own/sign" <<SIGN
#!/bin/sh
echo text | ssh-keygen -Y sign -n "\$1" -f "$TMPDIR/work.pub" >/dev/null 2>&1 && echo signed || echo refused
SIGN
chmod 755 "$own/sign"
as vauban-test-alice setsid --wait bash "$own/steps" >"$TMPDIR/out" 2>&1
check 'one answer holds for its purpose and session until a lock' equals "$(cat "$TMPDIR/out")" 'early refused
answered signed
again signed
another purpose refused
another session refused
after a lock refused'
[ "$failures" = 0 ] || cat "$own/shown" "$own/agent.log"
finish
