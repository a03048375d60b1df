#!/usr/bin/env bash
# vauban approve --forward and --devices: a request of a program on a server without a prompt agent is shown on another device of the circle, and
# answered with the server's own passcode; through a folder and through etcd, for a member and for a companion.
# limit: 900
set -u
umask 022
for tool in etcd openssl python3; do command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }; done
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/free-ports.sh
. Tests/Scripts/lib/circle.sh
[ -x "$VAUBAN_BUILD/vauban-sync-etcd" ] || { echo 'vauban-sync-etcd is not built'; exit 77; }
fleet=$TMPDIR/fleet
declare -A passcodes=([keychain]='correct horse battery' [server]='staple in the rack' [pi]='raspberry under glass')
device() { export VAUBAN_HOME=$TMPDIR/$1; passcode=${passcodes[$1]}; }
forwarder=
trap 'kill $forwarder 2>/dev/null; for home in "$TMPDIR"/*/lock; do VAUBAN_HOME=${home%/lock} vauban stop; done >/dev/null 2>&1; Install/etcd/stop "$fleet" 2>/dev/null' EXIT
# forward DEVICE: makes it forward its prompts. `says TEXT` waits for that text in its output.
forward() {
    device "$1"; mkfifo "$TMPDIR/pipe"; : >"$TMPDIR/said"
    "$VAUBAN_BUILD/vauban" approve --forward --no-input >"$TMPDIR/pipe" 2>&1 </dev/null &
    forwarder=$!
    exec {says}<"$TMPDIR/pipe"; rm "$TMPDIR/pipe"
    says 'go to your other devices'
}
says() {
    while read -r -t "$hang_seconds" -u "$says" line; do
        printf '%s\n' "$line" >>"$TMPDIR/said"
        [[ $line != *"$1"* ]] || return 0
    done
    cat "$TMPDIR/said"; fail "the forwarder does not say \"$1\""
}
end_forwarder() { kill "$forwarder"; wait "$forwarder" 2>/dev/null; forwarder=; exec {says}<&-; }
# asks DEVICE ITEM: writes $TMPDIR/asker, which has a program there request the item from a session without a terminal, and `wait`, which waits
# for its end.
asks() {
    cat >"$TMPDIR/asker" <<ASKER
#!/bin/sh
VAUBAN_HOME=$TMPDIR/$1 setsid "$VAUBAN_BUILD/vauban" get $2 </dev/null >"$TMPDIR/asked" 2>"$TMPDIR/asked.err" &
echo \$! >"$TMPDIR/asker.pid"
ASKER
}
printf '#!/bin/sh\nexec tail -s 0.02 --pid="$(cat "%s/asker.pid")" -f /dev/null\n' "$TMPDIR" >"$TMPDIR/wait"
touch "$TMPDIR/asker"; chmod +x "$TMPDIR/asker" "$TMPDIR/wait"
approve() { play "$VAUBAN_BUILD/vauban" approve --devices >"$TMPDIR/out"; [ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/said" "$TMPDIR/asked.err"; fail "$1"; }; }
# answered NAME ITEM VALUE [SHOWN]: the prompt of the forwarding device NAME is answered on this one with the passcode of that one, where it
# is shown as SHOWN.
answered() {
    local shown=${4:-$1}
    approve 'a forwarded prompt is not answered' <<STEPS
expect Prompts of your other devices
run $TMPDIR/asker
expect Device:   “$shown”
expect Message:  “get $2”
expect Type the Vauban passcode of “$shown”, not of this device
secret ${passcodes[$1]}
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/asked)" = '$3' ]
key ctrl-c
STEPS
}
not_kept_in_the_folder() { ! grep -rqaE 'get bank|get own|correct horse|staple in|raspberry under' "$folder/prompts" || fail 'the folder shows a prompt'; }

# It needs a circle, and one of the two options.
device keychain; set_passcode
own 64 approve --forward --no-input
own 64 approve --forward --devices
own 64 approve --devices -- true
own 64 approve --no-input
own 0 sync new "$folder" --name desk
new_device server; printf 'of the bank' | vauban set bank/anna --require presence 2>/dev/null
device server; own 0 sync join "$folder" --name server
device keychain; own 0 sync approve
device server; own 0 sync join "$folder"; code=$(cat "$TMPDIR/out")
device keychain; with 0 sync approve "$code"; answer=$(cat "$TMPDIR/out")
device server; with 0 sync join "$folder" "$answer"

# Without a forwarder there is no prompt and no wait.
device server; own 36 get bank/anna
asks server bank/anna
forward server
device keychain
# A wrong passcode, such as that of this device, counts as one, and the next attempt is another prompt for the same request.
approve 'prompts are not forwarded' <<STEPS
expect Prompts of your other devices
run $TMPDIR/asker
expect Vauban asks for your approval
expect Device:   “server”
expect Program:  vauban (/
expect Message:  “get bank/anna”
expect Attempt 1 of 3
expect Type the Vauban passcode of “server”, not of this device
secret ${passcodes[keychain]}
expect Attempt 2 of 3
secret ${passcodes[server]}
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/asked)" = 'of the bank' ]
run $TMPDIR/asker
expect Attempt 1 of 3
expect Passcode
key ctrl-c
expect Cancelled
run $TMPDIR/wait
run grep -q 'Waiting for your answer: another device of yours' $TMPDIR/asked.err
run $TMPDIR/asker
expect Attempt 1 of 3
expect Passcode
run kill \$(cat $TMPDIR/asker.pid)
expect withdrawn
key ctrl-c
STEPS
grep -qE "${passcodes[server]}|${passcodes[keychain]}" "$TMPDIR/out" && fail 'a passcode was shown'
not_kept_in_the_folder

# A terminal of the server takes precedence.
device server
play "$VAUBAN_BUILD/vauban" get bank/anna >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'the prompt does not appear on the terminal of the caller first'; }
expect Program:
expect Passcode
secret $passcode
expect of the bank
STEPS
grep -q 'Device:' "$TMPDIR/out" && fail 'the own device is named'

# The forwarder still forwards after the keychain was locked and unlocked, also prompts from before vauban approve --devices began.
vauban lock; unlock
device keychain
"$TMPDIR/asker"
approve 'a prompt that was there first is not shown' <<STEPS
expect Device:   “server”
secret ${passcodes[server]}
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/asked)" = 'of the bank' ]
key ctrl-c
STEPS

# A restarted enclave has another key, which is announced again.
device server; vauban stop >/dev/null 2>&1; unlock
says 'Forwarding again.'
device keychain; answered server bank/anna 'of the bank'

# An announcement of a forwarder counts only as its enclave signed it.
own 0 sync status
server=$(basename "$folder/prompts/$(sed -n 's/^Device *server *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")"*)
announced=$folder/prompts/$server/forwarder
alter() {
    cp "$announced" "$TMPDIR/good"; printf "$(printf '\\%03o' $(($(od -An -tu1 -j "$1" -N 1 "$announced") ^ 1)))" | dd of="$announced" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
for byte in 0 22 24 40 70 100; do
    alter $byte
    approve "an altered byte $byte of a forwarder counts" <<'STEPS'
expect was altered
key ctrl-c
STEPS
    cp "$TMPDIR/good" "$announced"
done
mkdir "$folder/prompts/other"; cp "$announced" "$folder/prompts/other/forwarder"
answered server bank/anna 'of the bank'

# The folder is missing for a while: no request waits for an answer that cannot arrive.
mv "$folder" "$folder.away"
device server; own 36 get bank/anna
says 'Not forwarding: The folder'
mv "$folder.away" "$folder"
says 'Forwarding again.'
device keychain; answered server bank/anna 'of the bank'

# A forwarder that ends withdraws its prompt.
approve 'a prompt stays though its forwarder has ended' <<STEPS
expect Prompts of your other devices
run $TMPDIR/asker
expect Attempt 1 of 3
run kill -9 $forwarder
run $TMPDIR/wait
key ctrl-c
expect Sent to “server”
key ctrl-c
STEPS
expect_text 'nothing can show the prompt' "$TMPDIR/asked.err"
wait "$forwarder" 2>/dev/null; exec {says}<&-
# The next one announces that it is over: a device that looks then is shown nothing.
forward server; end_forwarder

# A companion forwards its prompts too, and shows none of others. Two devices of one name are distinguished.
new_device pi; printf 'of the pi' | vauban set own/key --require presence 2>/dev/null
device keychain; item deploy token 'a token'
device pi; own 0 sync join "$folder" --name server
device keychain; own 0 sync approve
device pi; own 0 sync join "$folder"; code=$(cat "$TMPDIR/out")
device keychain; with 0 sync approve "$code" --companion --item deploy/token; answer=$(cat "$TMPDIR/out")
device pi; with 0 sync join "$folder" "$answer"
play "$VAUBAN_BUILD/vauban" approve --devices </dev/null >"$TMPDIR/out"; [ $? = 51 ] || { cat "$TMPDIR/out"; fail 'a companion shows prompts'; }
device keychain; own 0 sync status; pi=$(sed -n 's/^Companion *server *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")
asks pi own/key; forward pi; device keychain; answered pi own/key 'of the pi' "server $pi"; not_kept_in_the_folder; end_forwarder

# Unreadable files of one device do not affect the others.
forward server
rm "$folder/prompts/$pi"*/forwarder; mkdir "$(echo "$folder/prompts/$pi"*)/forwarder"
asks server bank/anna
device keychain
approve 'files of one device keep those of another from being shown' <<STEPS
expect The prompts of server $pi cannot be read:
run $TMPDIR/asker
expect Device:   “server ${server:0:8}”
secret ${passcodes[server]}
expect Accepted
run $TMPDIR/wait
key ctrl-c
STEPS
rmdir "$folder/prompts/$pi"*/forwarder; end_forwarder

# After a removal, what is forwarded under the earlier key is not shown, until the device has followed.
forward server
device keychain; with 0 sync remove "$pi"
asks server bank/anna
approve 'prompts under an earlier key are shown' <<STEPS
expect under another key of the circle
run VAUBAN_HOME=$TMPDIR/server $VAUBAN_BUILD/vauban sync --no-input 2>/dev/null
run $TMPDIR/asker
expect Device:   “server”
secret ${passcodes[server]}
expect Accepted
run $TMPDIR/wait
key ctrl-c
STEPS
end_forwarder
for name in server keychain; do device $name; own 0 sync leave; done

# Through etcd.
free_ports
Install/etcd/start "$fleet" >"$TMPDIR/start" 2>&1 || { cat "$TMPDIR/start" "$fleet"/node-*.log; fail 'etcd does not start'; }
account=$(Install/etcd/add-user "$fleet" anna) || fail 'no user can be added'
device keychain; own 0 sync new "etcd:$account" --name desk
device server; own 0 sync join "etcd:$account" --name server
device keychain; own 0 sync approve
device server; own 0 sync join "etcd:$account"; code=$(cat "$TMPDIR/out")
device keychain; with 0 sync approve "$code"; answer=$(cat "$TMPDIR/out")
device server; with 0 sync join "etcd:$account" "$answer"
forward server; device keychain; answered server bank/anna 'of the bank'
end_forwarder
echo 'prompts of a server are shown on another device, and answered there with its own passcode'
