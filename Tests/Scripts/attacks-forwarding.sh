#!/usr/bin/env bash
# Attacks on forwarded prompts by the carrier of a circle's files, by another device of the circle, and by a removed device. Each check is
# an attack in Manual/attacks.md.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
. Tests/Scripts/lib/attack-report.sh
forwarders=()
trap 'kill "${forwarders[@]}" 2>/dev/null; for home in "$TMPDIR"/*/lock; do VAUBAN_HOME=${home%/lock} vauban stop; done >/dev/null 2>&1' EXIT
# forward DEVICE: makes the device forward its prompts, and returns once it does.
forward() {
    device "$1"; mkfifo "$TMPDIR/$1.pipe"
    "$VAUBAN_BUILD/vauban" approve --forward --no-input >"$TMPDIR/$1.pipe" 2>&1 </dev/null &
    forwarders+=($!)
    exec {said}<"$TMPDIR/$1.pipe"
    read -r -t "$hang_seconds" -u "$said" line && [[ $line == *'go to your other devices'* ]] || fail "$1 does not forward: $line"
}
# ask: a program on the server requests an item, from a session without a terminal. asker_ended waits for its end.
cat >"$TMPDIR/ask" <<ASK
#!/bin/sh
VAUBAN_HOME=$TMPDIR/server setsid "$VAUBAN_BUILD/vauban" get bank/anna </dev/null >"$TMPDIR/asked" 2>"$TMPDIR/asked.err" &
echo \$! >"$TMPDIR/asker.pid"
ASK
printf '#!/bin/sh\nexec tail -s 0.02 --pid="$(cat "%s/asker.pid")" -f /dev/null\n' "$TMPDIR" >"$TMPDIR/asker_ended"
chmod +x "$TMPDIR/ask" "$TMPDIR/asker_ended"
# shows STEPS: the desk shows prompts of other devices, and these steps succeed.
shows() {
    device keychain; printf 'expect Prompts of your other devices\n%s\nkey ctrl-c\n' "$1" |
        play "$VAUBAN_BUILD/vauban" approve --devices >"$TMPDIR/out"; [ $? = 130 ] || { sed 's/^/    /' "$TMPDIR/out"; return 1; }
}
answered="run $TMPDIR/ask
expect Device:   “server”
secret $passcode
expect Accepted
run $TMPDIR/asker_ended"
identifier() { device keychain; own 0 sync status; sed -n "s/^Device *$1 *\([0-9a-f]*\).*/\1/p" "$TMPDIR/out"; }
prompts_of() { ls -d "$folder/prompts/$(identifier "$1")"*; }

set_passcode
own 0 sync new "$folder" --name desk
for name in server phone; do new_device $name; join $name keychain; sync keychain; done
device server; sync server; printf 'of the bank' | vauban set bank/anna --require presence 2>/dev/null
forward server; forward phone
server=$(prompts_of server) phone=$(prompts_of phone)
cp "$server/forwarder" "$TMPDIR/forwarder"
again() { cp "$TMPDIR/forwarder" "$server/forwarder"; }

# The key to which a passcode is sealed: the carrier's own, or that of another device of the circle.
head -c 32 /dev/urandom | dd of="$server/forwarder" bs=1 seek=31 conv=notrunc 2>/dev/null
check 'U173 the carrier puts a key of its own in the place of an enclave'"'"'s: refused' shows 'expect was altered'
again
cp "$phone/forwarder" "$server/forwarder"
check 'U173 it puts what another device says there: refused' shows 'expect was altered'
again
check 'U173 control: what the enclave signed is taken' shows "$answered"
check 'U173 control: and the program gets its answer' equals "$(cat "$TMPDIR/asked")" 'of the bank'

# A prompt that was altered, another device's, and an earlier one. Beside each, the next prompt of the server is shown, and none before it.
cp "$server/prompt" "$TMPDIR/ended"
shows "run $TMPDIR/ask
expect Attempt 1 of 3
run cp $server/prompt $TMPDIR/asked-before
key ctrl-c
expect Cancelled
run $TMPDIR/asker_ended" || fail 'no prompt can be kept'
# The notice about the phone, which is read in the same pass, shows that the earlier prompt was examined. If it was shown, the passcode would
# answer it.
check 'U174 the carrier puts an earlier prompt back: not shown, and the next one is' shows "$answered
run cp $TMPDIR/asked-before $server/prompt; cp $phone/forwarder $TMPDIR/of-phone; printf x | dd of=$phone/forwarder bs=1 seek=100 conv=notrunc 2>/dev/null
expect was altered
run cp $TMPDIR/of-phone $phone/forwarder
$answered"
check 'U174 control: it was answered' equals "$(cat "$TMPDIR/asked")" 'of the bank'
cp "$TMPDIR/ended" "$server/prompt"
printf 'x' | dd of="$server/prompt" bs=1 seek=200 conv=notrunc 2>/dev/null
check 'U174 it alters a prompt: not shown, and the next one is' shows "$answered"
cp "$phone/prompt" "$server/prompt"
check "U174 it puts another device's there: not shown, and the next one is" shows "$answered"

# An answer: an earlier one, and one that the carrier made.
shows "run $TMPDIR/ask
expect Attempt 1 of 3
secret $passcode
expect Accepted
run $TMPDIR/asker_ended" || fail 'no answer can be given'
check 'U175 the carrier answers with bytes of its own: left alone, and the answer counts' shows "run $TMPDIR/ask
expect Attempt 1 of 3
run head -c 4200 /dev/urandom >$server/answer
secret $passcode
expect Accepted
run $TMPDIR/asker_ended"
check 'U175 control: it was answered' equals "$(cat "$TMPDIR/asked")" 'of the bank'

# A removed device: its keys do not open what is forwarded from then on.
device keychain
expect_status 0 setsid --wait "$VAUBAN_BUILD/vauban" sync remove phone --passcode-fd 3 3<<<"$passcode" </dev/null
check 'U176 prompts go on under the key that a removed device has: not shown' shows 'expect under another key of the circle'
sync server
check 'U176 control: under the new one they are shown' shows "$answered"
check 'U176 control: and the removed device shows none' \
    eval 'device phone; "$VAUBAN_BUILD/vauban" sync --no-input >/dev/null 2>&1 </dev/null; play "$VAUBAN_BUILD/vauban" approve --devices </dev/null >"$TMPDIR/out"; equals $? 51'
end_attacks
