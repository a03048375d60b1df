#!/usr/bin/env bash
# Devices of a circle with wrong dates: a year ahead, a year behind, corrected meanwhile, and eleven years ahead. The rooms and the command
# line of each have its date. A change by a device that has read the earlier ones wins, the value that loses is kept, and no deleted item
# returns; only changes dated more than ten years ahead wait, and are named.
# proves: C-217
# limit: 600
set -u
umask 022
if [ -z "${VAUBAN_TEST_INSIDE:-}" ]; then
    command -v gcc >/dev/null || { echo 'there is no gcc here'; exit 77; }
    [ "$(id -u)" = 0 ] && unshare --mount --pid --fork --kill-child --mount-proc true 2>/dev/null || { echo 'no program can get another date here'; exit 77; }
    export VAUBAN_TEST_INSIDE=1
    # However the test ends, its processes and mounts end with these namespaces.
    exec unshare --mount --pid --fork --kill-child --mount-proc -- setsid --wait "$0" "$@"
fi
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/free-ports.sh
. Tests/Scripts/lib/circle.sh
fleet=$TMPDIR/fleet
# Set before any function runs on a device.
declare -A holder=()
year=$((366 * 24 * 3600))
gcc -O1 -shared -fPIC -DCLOCK_FILE='"/etc/moved-clock"' -o "$TMPDIR/moved-clock.so" Tests/Scripts/lib/moved-clock.c || fail 'the library that moves the date cannot be built'
# machine NAME SECONDS: creates a machine whose date is wrong by so much. Its copy of /etc has the library in the loader's list.
machine() {
    mkdir "$TMPDIR/etc-$1"; cp -a /etc/. "$TMPDIR/etc-$1"
    date_of "$1" "$2"; echo "$TMPDIR/moved-clock.so" >"$TMPDIR/etc-$1/ld.so.preload"
    exec {ready}< <(exec unshare --mount sh -c 'mount --bind "$0" /etc && echo $$ && exec sleep infinity' "$TMPDIR/etc-$1")
    read -r -t "$hang_seconds" -u "$ready" 'holder[$1]' || fail 'a machine with another date cannot be created'
}
# date_of NAME SECONDS: processes that start from now on have this date.
date_of() { echo "$2" >"$TMPDIR/etc-$1/moved-clock"; }
# restart NAME SECONDS: restarts the rooms of the machine with another date.
restart() { device "$1"; vauban stop >/dev/null 2>&1; date_of "$1" "$2"; unlock; }
# here COMMAND...: runs it on the machine of the present device.
here() { local name=${VAUBAN_HOME##*/}; if [ -n "${holder[$name]:-}" ]; then nsenter --mount="/proc/${holder[$name]}/ns/mnt" -- "$@"; else "$@"; fi; }
vauban() { here "$VAUBAN_BUILD/vauban" "$@"; }
own() { expect_status "$1" here setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null; }
with() { want=$1; shift; expect_status "$want" here setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 3<<<"$passcode" </dev/null; }
set_item() { device "$1"; printf '%s' "$3" | vauban set "$2" --replace 2>/dev/null || fail "$2 cannot be set on $1"; }
all() { local name turn; for turn in 1 2; do for name in right ahead behind; do sync $name; done; done; }
all_have() { local name; for name in right ahead behind; do has $name "$1" "$2"; done; }
all_lack() { local name; for name in right ahead behind; do lacks $name "$1"; done; }
earlier() {
    device "$1"; for number in 1 2 3 4 5 6 7 8 9; do vauban history "$2" --show $number 2>/dev/null || break; echo; done | grep -qxF -- "$3" || fail "$1 has not kept \"$3\" of $2"
}

machine ahead $year
machine behind -$year
for name in right ahead behind; do new_device $name; done
device ahead; [ "$(($(here date +%Y) - $(date +%Y)))" -ge 1 ] || fail 'the date of the machine is right'
device right; own 0 sync new "$folder" --name right
join ahead right; join behind ahead

# A device that has read a change makes a later one, whatever its date, and that one wins everywhere.
device ahead; item s turns 'by the one ahead'; all; all_have s/turns 'by the one ahead'
for name in behind right ahead right behind; do set_item $name s/turns "then by $name"; all; all_have s/turns "then by $name"; done
# So do a deletion and its reversal.
device ahead; vauban delete s/turns >/dev/null 2>&1 || fail 'the item was not deleted'
all; all_lack s/turns
device ahead; vauban undelete s/turns >/dev/null 2>&1 || fail 'the item was not restored'
all; all_have s/turns 'then by behind'
for pair in ahead:behind behind:ahead right:ahead; do
    device "${pair%:*}"; item gone "${pair%:*}" 'to be deleted'; all; all_have "gone/${pair%:*}" 'to be deleted'
    device "${pair#*:}"; vauban delete "gone/${pair%:*}" >/dev/null 2>&1 || fail 'the item was not deleted'
    all; all_lack "gone/${pair%:*}"; all; all_lack "gone/${pair%:*}"
done

# Concurrent changes: the date decides, and the value that loses is in the history of the device that made it.
device right; item s conflict first; all
for name in ahead right behind; do set_item $name s/conflict "at once by $name"; done
all; all_have s/conflict 'at once by ahead'
for name in right behind; do earlier $name s/conflict "at once by $name"; done
# A new item of the same name on each device.
for name in behind right ahead; do device $name; item s same "new on $name"; done
all; all_have s/same 'new on ahead'
for name in right behind; do earlier $name s/same "new on $name"; done
# One device deletes an item that another changes: the deletion wins, and the changed value can be restored.
device right; item s fought first; all
device ahead; vauban delete s/fought >/dev/null 2>&1; set_item behind s/fought 'changed meanwhile'
all; all_lack s/fought
device behind; vauban undelete s/fought >/dev/null 2>&1 || fail 'the changed value is lost'
all; all_have s/fought 'changed meanwhile'

# The date is corrected, and then wrong in either direction: the device continues where it was.
for seconds in 0 -$year $year; do
    set_item ahead s/turns "before the date of $seconds"
    restart ahead $seconds
    set_item ahead s/turns "with the date of $seconds"; all; all_have s/turns "with the date of $seconds"
    set_item right s/turns "then by right, $seconds"; all; all_have s/turns "then by right, $seconds"
    device behind; vauban delete s/turns >/dev/null 2>&1; all; all_lack s/turns
    device behind; vauban undelete s/turns >/dev/null 2>&1 || fail 'the item was not restored'; all; all_have s/turns "then by right, $seconds"
done
# The access logs, whose heads the devices compare, are intact.
for name in right ahead behind; do device $name; own 0 log; own 0 doctor; done

# Eleven years ahead: its changes are named and wait, and everything else continues; the changes of the other devices arrive there.
restart ahead $((11 * year))
device ahead; item s decade 'of another decade'; sync ahead
set_item right s/turns 'in this decade'
for name in right behind; do sync $name 1; text 'dated more than ten years ahead'; lacks $name s/decade; done
sync ahead; has ahead s/turns 'in this decade'
device behind; sync behind 1; has behind s/turns 'in this decade'
restart ahead 0
sync ahead; has ahead s/decade 'of another decade'
# The item is deleted there, and one with another name is added.
device ahead; vauban delete s/decade >/dev/null 2>&1; item s century 'of this one'; sync ahead
for name in right behind; do sync $name 1; has $name s/century 'of this one'; done

# TLS with etcd requires a date at which its certificates are valid, and the error says so. A date before that is soon corrected; one after it
# looks as if the certificates had expired.
if command -v etcd etcdctl openssl >/dev/null && [ -x "$VAUBAN_BUILD/vauban-sync-etcd" ]; then
    free_ports
    trap 'Install/etcd/stop "$fleet" 2>/dev/null' EXIT
    Install/etcd/start "$fleet" >"$TMPDIR/start" 2>&1 || { cat "$TMPDIR/start"; fail 'etcd does not start'; }
    anna=$(Install/etcd/add-user "$fleet" anna) || fail 'no user can be added'
    new_device behind
    own 53 sync new "etcd:$anna"; text 'not valid yet by the date of this device'
    date_of behind $((3 * year)); own 51 sync new "etcd:$anna"; text 'expired on'; text 'date of this device'
    date_of behind 0; own 0 sync new "etcd:$anna" --name behind
fi
echo 'with dates that are wrong by a year all devices end with the same items, and nothing is lost; changes dated more than ten years ahead wait'
