#!/usr/bin/env bash
# Prompts of the Secret Service with a real prompt agent: secret-tool reads from a locked keychain, and the user enters the passcode,
# cancels, or unlocks elsewhere; a client that ends takes its prompt off the screen. Forty programs at once cost one prompt. What nothing can
# show ends with an error.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/secret-service.sh
vauban enable secret-service 2>/dev/null || fail 'the Secret Service was not enabled'
start_bus
set_passcode
printf 'behind a lock' | secret-tool store --label=Locked service locked username anna || fail 'nothing is stored'
vauban lock 2>/dev/null || fail 'the keychain cannot be locked'

# A client in the background, which writes its result and its exit status.
cat >"$TMPDIR/client" <<'CLIENT'
#!/bin/sh
"$@" >"$TMPDIR/found" 2>"$TMPDIR/found.err" </dev/null &
echo $! >"$TMPDIR/client.pid"
CLIENT
printf '#!/bin/sh\ntail -s 0.02 --pid="$(cat "$TMPDIR/client.pid")" -f /dev/null\n' >"$TMPDIR/wait"
printf '#!/bin/sh\nprintf "%%s\\n" "$1" | "$VAUBAN_BUILD/vauban" unlock --passcode-fd 0 2>/dev/null\n' >"$TMPDIR/unlock"
chmod +x "$TMPDIR/client" "$TMPDIR/wait" "$TMPDIR/unlock"
export TMPDIR VAUBAN_BUILD
lookup="$TMPDIR/client secret-tool lookup service locked username anna"

# The passcode unlocks for the client that waits; a cancelled prompt counts as dismissed; a killed client withdraws its prompt.
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $lookup
expect to unlock your keychain
expect for secret-tool (process
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = 'behind a lock' ]
run $VAUBAN_BUILD/vauban lock 2>/dev/null
run $TMPDIR/client /usr/bin/python3 $helper prompt-refused
expect Attempt 1 of 3
expect Passcode
key ctrl-c
expect Cancelled
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = refused ]
run $lookup
expect Attempt 1 of 3
expect Passcode
run kill -KILL \$(cat $TMPDIR/client.pid)
expect withdrawn
run $lookup
expect Attempt 1 of 3
expect Passcode
run $TMPDIR/unlock '$passcode'
expect withdrawn
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = 'behind a lock' ]
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/found" "$TMPDIR/found.err"; fail 'the prompts went otherwise'; }
grep -q "$passcode" "$TMPDIR/out" && fail 'the passcode was shown'

# So does an item that `vauban set` stored, if its service is named. Without it, an item cannot be told from a hidden one; a hidden one is not found.
printf 'by hand' | vauban set wifi/guests 2>/dev/null && printf hidden | vauban set ssh-key/guests 2>/dev/null || fail 'vauban set failed'
finds() { timeout "$hang_seconds" /usr/bin/python3 "$helper" finds-locked "$@" 2>&1 | tail -n 1; }
[ "$(secret-tool lookup service wifi)" = 'by hand' ] || fail 'what the command line set is not found'
expect_status 1 secret-tool lookup service ssh-key
vauban lock 2>/dev/null || fail 'the keychain cannot be locked'
[ "$(finds service wifi)" = locked ] || { finds service wifi; fail 'a locked item of the command line is not found'; }
for pair in 'service ssh-key' 'service wif' 'username guests'; do
    # shellcheck disable=SC2086
    [ "$(finds $pair)" = '([], [])' ] || { finds $pair; fail "$pair is found while the keychain is locked"; }
done
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/client secret-tool lookup service wifi username guests
expect to unlock your keychain
expect for secret-tool (process
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = 'by hand' ]
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/found" "$TMPDIR/found.err"; fail 'a locked item of the command line is not unlocked'; }

# libsecret's asynchronous calls.
vauban lock 2>/dev/null || fail 'the keychain cannot be locked'
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/client /usr/bin/python3 $helper unlocks-without-waiting
expect to unlock your keychain
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = 'behind a lock' ]
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/found" "$TMPDIR/found.err"; fail 'an asynchronous call does not unlock'; }

# Forty programs at a first login: the user sees one prompt, and its passcode serves them all.
vauban stop >/dev/null 2>&1; vauban status >/dev/null 2>&1
mkfifo "$TMPDIR/many"
# Held open, since what is in it goes when nobody has it open.
exec {many}<>"$TMPDIR/many"
cat >"$TMPDIR/forty" <<'CLIENTS'
#!/bin/bash
# forty WORD: reads a line of each of the forty, which must be WORD. The first time it starts them.
exec 7<>"$TMPDIR/many"
if [ "$1" = waiting ]; then
    for _ in {1..40}; do
        { timeout "$hang_seconds" /usr/bin/python3 "$helper" one-of-many 2>>"$TMPDIR/found.err" || echo failed; } >&7 </dev/null &
    done
fi
for _ in {1..40}; do read -r -t "$hang_seconds" said <&7 && [ "$said" = "$1" ] || { echo "$said, not $1" >>"$TMPDIR/found.err"; exit 1; }; done
CLIENTS
chmod +x "$TMPDIR/forty"; export helper
: >"$TMPDIR/found.err"
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/forty waiting
expect to unlock your keychain
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/forty 'behind a lock'
absent withdrawn
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/found.err"; fail 'one passcode does not serve forty programs'; }
[ "$(grep -c 'to unlock your keychain' "$TMPDIR/out")" = 1 ] || { cat "$TMPDIR/out"; fail 'forty programs show more than one prompt'; }
exec {many}<&-

# If several secrets are requested at once, each that requires approval has its own prompt; a refusal affects no other.
for name in first refused between approved last; do
    guard=; [[ $name != refused && $name != approved ]] || guard='--require presence'
    # shellcheck disable=SC2086
    printf %s "$name" | vauban set "guarded/$name" $guard 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail "$name is not stored"; }
done
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/client /usr/bin/python3 $helper guarded-among-others
expect for python3 (process
expect Passcode
key ctrl-c
expect Cancelled
expect Attempt 1 of 3
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = 'first, between, approved, last' ]
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/found" "$TMPDIR/found.err"; fail 'the prompts of several secrets went otherwise'; }

# Of an item that the user refuses and of items for which nobody can be asked, no program gets an empty reply, which would mean that they are gone.
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/client /usr/bin/python3 $helper guarded-alone
expect for python3 (process
expect Passcode
key ctrl-c
expect Cancelled
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = refused ]
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/found" "$TMPDIR/found.err"; fail 'a refused item counts as missing'; }
try guarded-without-agent
expect_status 1 timeout "$hang_seconds" secret-tool lookup service guarded username refused
expect_text 'vauban approve' "$TMPDIR/err"

# A prompt that is dismissed while it is on the screen is withdrawn there.
vauban lock 2>/dev/null || fail 'the keychain cannot be locked'
mkfifo "$TMPDIR/hears"
cat >"$TMPDIR/dismisses" <<CLIENT
#!/bin/sh
/usr/bin/python3 $helper dismissed-while-shown <>"$TMPDIR/hears" >"$TMPDIR/found" 2>"$TMPDIR/found.err" &
echo \$! >"$TMPDIR/client.pid"
CLIENT
chmod +x "$TMPDIR/dismisses"
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/dismisses
expect Passcode
run echo shown >$TMPDIR/hears
expect withdrawn
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = dismissed ]
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/found" "$TMPDIR/found.err"; fail 'a prompt that is shown is not dismissed'; }
unlock

# One process waits for the user over seventy connections, more than there are threads: others are served meanwhile.
printf approved | vauban set approval/anna --require presence || fail 'nothing is set'
printf free | secret-tool store --label=Free service free || fail 'nothing is stored'
mkfifo "$TMPDIR/waits"
printf '#!/bin/sh\n/usr/bin/python3 %s waits-for-the-user </dev/null 1<>"%s/waits" 2>"%s/found.err" &\necho $! >"%s/client.pid"\n' "$helper" \
    "$TMPDIR" "$TMPDIR" "$TMPDIR" >"$TMPDIR/waiting"
cat >"$TMPDIR/served" <<'SERVED'
#!/bin/bash
read -r -t 120 said <>"$TMPDIR/waits"
[ "$said" = waiting ] || { echo "the client that holds prompts said in 120 s: $said" >&2; exit 1; }
[ "$(timeout "$hang_seconds" secret-tool lookup service free)" = free ] || { echo 'another client is not served' >&2; exit 1; }
SERVED
chmod +x "$TMPDIR/waiting" "$TMPDIR/served"
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/waiting
expect through the Secret Service
run $TMPDIR/served
run kill -KILL \$(cat $TMPDIR/client.pid)
expect withdrawn
hangup
STEPS
[ $? != 99 ] || { cat "$TMPDIR/out" "$TMPDIR/found.err"; fail 'a client waits for the prompts of another'; }

# A prompt for a secret without an answer is withdrawn before the caller stops waiting for it.
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/client /usr/bin/python3 $helper answered-too-late
expect through the Secret Service
expect withdrawn
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = org.freedesktop.DBus.Error.AccessDenied ]
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/found" "$TMPDIR/found.err"; fail 'a prompt outlives its call'; }

# A prompt that nothing can show ends with an error that says what to do; a program does not take that for a missing secret.
vauban lock 2>/dev/null || fail 'the keychain cannot be locked'
timeout "$hang_seconds" /usr/bin/python3 "$helper" prompt-without-agent >"$TMPDIR/found" 2>&1 & client=$!
expect_status 1 timeout "$hang_seconds" secret-tool lookup service locked username anna
expect_text 'run in a terminal: vauban unlock' "$TMPDIR/err"
wait "$client" || { cat "$TMPDIR/found"; fail 'a prompt that nothing can show does not end as it should'; }

# A prompt without a prompt agent waits for a short time, and is shown when one registers meanwhile.
mkfifo "$TMPDIR/said"
timeout "$hang_seconds" /usr/bin/python3 "$helper" prompt-answered >"$TMPDIR/said" &
client=$!
read -r -t "$hang_seconds" said <"$TMPDIR/said"; [ "$said" = waiting ] || fail 'the prompt does not wait'
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect to unlock your keychain
expect Passcode
secret $passcode
expect Accepted
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out"; fail 'a prompt agent that registers later does not show the prompt'; }
wait "$client" || fail 'the prompt does not end with the passcode'
echo 'prompts unlock, are dismissed, and end with their client'
