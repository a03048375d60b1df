#!/usr/bin/env bash
# The files of a device are compacted in an etcd of three nodes: earlier files are removed when the other device has read the rewritten ones,
# also while both only follow, and a device that joins afterwards has everything.
# limit: 600
set -u
umask 022
for tool in etcd etcdctl openssl; do command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }; done
. Tests/Scripts/lib/compacting.sh
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
. Tests/Scripts/lib/free-ports.sh
fleet=$TMPDIR/fleet
followers=()
declare -A says=()
follow() {
    device "$1"; mkfifo "$TMPDIR/$1.pipe"
    "$VAUBAN_BUILD/vauban" sync --follow --no-input >"$TMPDIR/$1.pipe" 2>&1 </dev/null &
    followers+=($!)
    exec {descriptor}<"$TMPDIR/$1.pipe"
    says[$1]=$descriptor
}
# says DEVICE TEXT: waits until the follower of the device has printed the text.
says() {
    while read -r -t "$hang_seconds" -u "${says[$1]}" line; do [[ $line != *"$2"* ]] || return 0; done
    fail "$1 does not say \"$2\""
}
trap 'kill "${followers[@]}" 2>/dev/null; for home in "$TMPDIR"/*/lock; do VAUBAN_HOME=${home%/lock} vauban stop; done >/dev/null 2>&1; Install/etcd/stop "$fleet" 2>/dev/null' EXIT
free_ports
Install/etcd/start "$fleet" >"$TMPDIR/start" 2>&1 || { cat "$TMPDIR/start"; fail 'etcd does not start'; }
anna=$(Install/etcd/add-user "$fleet" anna) || fail 'no user can be added'
folder=etcd:$anna
# keys PREFIX: writes the names of the keys with this prefix to $TMPDIR/keys.
keys() { in_fleet administer get --prefix "/vauban/1/anna/files/$1" --keys-only >"$TMPDIR/keys" || fail 'etcd does not list the keys'; sed -i '/^$/d;s/.*\///' "$TMPDIR/keys"; }

set_passcode
own 0 sync new "$folder" --name desk
new_device laptop; join laptop keychain
device keychain; item s old 'of the first file'; item s first 'value 0'; own 0 sync
own 0 sync status; keys heads/; desk=$(grep "^$(sed -n 's/^Device *desk *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")" "$TMPDIR/keys")
changes 8
keys "devices/$desk/"; grep -q 00000002 "$TMPDIR/keys" || fail 'a file that the laptop has not read was removed'
sync laptop; sync keychain; sync keychain; sync keychain
keys "devices/$desk/"; grep -q 00000002 "$TMPDIR/keys" && fail 'the files of the desk are not compacted'
grep -q 00000001 "$TMPDIR/keys" || fail 'there is no record of the compaction'
for name in keychain laptop; do follow $name; says $name received; done
keys "devices/$desk/"; first=$(sed -n 2p "$TMPDIR/keys")
# A complete run of each device takes the steps, some seconds after the others; a device states what it has read with its next files.
for change in {1..400}; do
    device keychain; value="followed $change"; printf '%s' "$value" | vauban set s/first --replace 2>/dev/null
    # The laptop also prints what it only sent.
    device laptop; until [ "$(vauban get s/first 2>/dev/null)" = "$value" ]; do says laptop 'received'; done
    keys "devices/$desk/"; grep -q "$first" "$TMPDIR/keys" || break
done
[ "$change" -lt 400 ] || fail 'the files are not compacted while both follow'
kill "${followers[@]}"; wait "${followers[@]}"; followers=()
new_device phone; join phone laptop
for name in keychain laptop phone; do has $name s/first "$value"; has $name s/old 'of the first file'; done
for name in keychain laptop phone; do sync $name; done
echo 'files in etcd are removed when every device has read the rewritten ones, and a device that joins has everything'
