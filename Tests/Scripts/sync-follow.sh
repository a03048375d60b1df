#!/usr/bin/env bash
# vauban sync --follow: changes on one device arrive on the other by themselves, through a folder and through an etcd of three nodes; with the
# watched node killed, with all of them killed, after compaction, while the keychain is locked, and beside other commands.
# proves: C-217
# limit: 900
set -u
umask 022
for tool in etcd etcdctl openssl python3; do command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }; done
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/free-ports.sh
. Tests/Scripts/lib/circle.sh
[ -x "$VAUBAN_BUILD/vauban-sync-etcd" ] || { echo 'vauban-sync-etcd is not built'; exit 77; }
fleet=$TMPDIR/fleet
declare -A says=() followers=()
end_followers() { for pid in "${followers[@]}"; do kill -CONT $(pgrep -P "$pid") "$pid"; kill "$pid"; done 2>/dev/null; followers=(); }
trap 'end_followers; for home in "$TMPDIR"/*/lock; do VAUBAN_HOME=${home%/lock} vauban stop; done >/dev/null 2>&1; Install/etcd/stop "$fleet" 2>/dev/null' EXIT
# follow DEVICE: starts a follower there. `says DEVICE TEXT` waits for its output, which is kept in $TMPDIR/DEVICE.said.
follow() {
    device "$1"; mkfifo "$TMPDIR/$1.pipe"; : >"$TMPDIR/$1.said"
    "$VAUBAN_BUILD/vauban" sync --follow --no-input >"$TMPDIR/$1.pipe" 2>&1 </dev/null &
    followers[$1]=$!
    exec {descriptor}<"$TMPDIR/$1.pipe"
    says[$1]=$descriptor; rm "$TMPDIR/$1.pipe"
}
says() {
    while read -r -t "$hang_seconds" -u "${says[$1]}" line; do
        printf '%s\n' "$line" >>"$TMPDIR/$1.said"
        [[ $line != *"$2"* ]] || return 0
    done
    cat "$TMPDIR/$1.said"; fail "$1 does not say \"$2\""
}
# ended DEVICE STATUS: waits until the follower of the device ends by itself, with this status.
ended() { wait "${followers[$1]}"; equals $? "$2"; unset "followers[$1]"; }
set_item() { device "$1"; printf '%s' "$3" | vauban set "$2" --replace 2>/dev/null || fail "$2 cannot be set on $1"; }
arrives() { says "$1" '1 change received'; has "$1" "$2" "$3"; }
helpers() { pgrep -P "${followers[$1]}" -f vauban-sync-etcd; }
join() {
    device "$1"; own 0 sync join "$2" --name "$1"
    device keychain; own 0 sync approve
    device "$1"; own 0 sync join "$2"; code=$(cat "$TMPDIR/out")
    device keychain; with 0 sync approve "$code"; answer=$(cat "$TMPDIR/out")
    device "$1"; with 0 sync join "$2" "$answer"
}

# Without a circle nothing is followed, and invalid options are an error at once.
set_passcode
own 64 sync --follow
own 64 sync --follow --schedule 5min
own 64 sync --follow --folder "$TMPDIR"

# A folder.
own 0 sync new "$folder" --name keychain
item s first 'of the first'
new_device laptop; join laptop "$folder"
follow keychain; says keychain 'received'
follow laptop; says laptop 'received'
set_item keychain s/first 'by a folder'; arrives laptop s/first 'by a folder'
set_item laptop s/first 'and back'; arrives keychain s/first 'and back'
# A new item, and a deleted one.
device keychain; item s second two; says laptop 'received, 0 sent'; has laptop s/second two
device laptop; vauban delete s/second >/dev/null 2>&1 || fail 'the item was not deleted'
says keychain '1 change received'; lacks keychain s/second
# Other commands work beside it, and so does a manual run, which waits for its turn.
for turn in 1 2 3; do device keychain; own 0 sync; own 0 sync status; done
# Temporary files of the carrier are not changes.
printf half >"$folder/circle/.00000009.tmp"; printf half >"$folder/circle/00000009.partial"; rm "$folder/circle/.00000009.tmp" "$folder/circle/00000009.partial"
# A locked keychain is reported once, whatever arrives meanwhile, and the follower waits for the unlock.
device laptop; vauban lock
for turn in 1 2 3; do set_item keychain s/first "while it is locked $turn"; sync keychain; done
says laptop 'The keychain is locked'
device laptop; unlock; says laptop 'Synchronizing again.'; has laptop s/first 'while it is locked 3'
equals "$(grep -c 'is locked' "$TMPDIR/laptop.said")" 1
# The folder is missing for a while, like a removed memory stick.
mv "$folder" "$folder.away"
set_item keychain s/first 'without a folder'; says keychain 'Not synchronized: The folder'
mv "$folder.away" "$folder"
says keychain 'Synchronizing again.'; arrives laptop s/first 'without a folder'
# The follower on a removed device reports that and ends.
device keychain; with 0 sync remove laptop
says laptop 'emoved'; ended laptop 51
end_followers
device laptop; own 0 sync leave; device keychain; own 0 sync leave

# etcd.
free_ports
fleet_starts() { Install/etcd/start "$fleet" >"$TMPDIR/start" 2>&1 || { cat "$TMPDIR/start" "$fleet"/node-*.log; fail 'etcd does not start'; }; }
etcdctl_root() { in_fleet administer "$@"; }
# kill_nodes NUMBER...: kills these nodes, and returns when they have ended.
kill_nodes() {
    for number; do
        pid=$(cat "$fleet/node-$number.pid"); kill -9 "$pid"
        for ((second = 0; second < hang_seconds; second++)); do
            # The first thread of a killed process can be a zombie while others still hold its sockets.
            [ -e "/proc/$pid" ] && ! { grep -q '^State:.*Z' "/proc/$pid/status" && [ "$(ls "/proc/$pid/task")" = "$pid" ]; } 2>/dev/null || continue 2
            timeout 1 tail --pid="$pid" -f /dev/null
        done
        fail "node $number does not end"
    done
}
fleet_starts
anna=$(Install/etcd/add-user "$fleet" anna) || fail 'no user can be added'
device keychain; own 0 sync new "etcd:$anna" --name keychain
device laptop; join laptop "etcd:$anna"
follow keychain; says keychain 'received'
follow laptop; says laptop 'received'
set_item keychain s/first 'by etcd'; arrives laptop s/first 'by etcd'
set_item laptop s/first 'and back by etcd'; arrives keychain s/first 'and back by etcd'
# Two processes: one transfers files, the other watches. Either may still be starting.
both_run() { kill -0 "${followers[laptop]}" || fail 'the follower of the laptop ended'; [ "$(helpers laptop | wc -l)" = 2 ]; }
awaited 'the two processes of the follower of the laptop' both_run

# The watched node is killed: the follower watches another one.
kill_nodes 1
set_item keychain s/first 'with two nodes'; arrives laptop s/first 'with two nodes'
fleet_starts

# All nodes are killed while one follower is stopped, and etcd is compacted before it continues: it reads everything, and watches again.
stopped=$(helpers laptop)
# shellcheck disable=SC2086
kill -STOP $stopped
kill_nodes 1 2 3
fleet_starts
set_item keychain s/first 'before compaction'; sync keychain
revision=$(etcdctl_root get x -w json | python3 -c 'import json, sys; print(json.load(sys.stdin)["header"]["revision"])')
in_fleet administer_unless 'has been compacted' compact "$revision" >/dev/null && etcdctl_root defrag >/dev/null || fail 'etcd was not compacted'
# shellcheck disable=SC2086
kill -CONT $stopped
arrives laptop s/first 'before compaction'
set_item keychain s/first 'after compaction'; arrives laptop s/first 'after compaction'
# The other follower follows again too. What it said of the nodes that were killed above is read with this, and does not count below.
set_item laptop s/first 'and back after compaction'; arrives keychain s/first 'and back after compaction'

# All nodes have ended: each device reports that once, and changes made meanwhile arrive when the nodes are back.
kill_nodes 1 2 3
set_item keychain s/first 'while all are gone'; says keychain 'Not synchronized: No node of etcd can be used'
fleet_starts
says keychain 'Synchronizing again.'; arrives laptop s/first 'while all are gone'

# A renewed account is read again; a deleted one ends the follower.
Install/etcd/add-user --renew "$fleet" anna >/dev/null || fail 'an account cannot be renewed'
set_item keychain s/first 'with a new password'; arrives laptop s/first 'with a new password'
in_fleet administer_unless 'not found' user delete anna >/dev/null || fail 'a user cannot be removed'
set_item keychain s/first 'for nobody'
says keychain 'refuses the user or the password'; ended keychain 51
echo 'changes arrive through a folder and through etcd, whatever fails meanwhile'
