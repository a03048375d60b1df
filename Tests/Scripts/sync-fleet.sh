#!/usr/bin/env bash
# Devices of one circle with all their rooms, and several writers on each, against an etcd of three nodes with TLS, while rooms, programs and
# nodes are killed and stopped, networks are cut, disks are full, and clocks are a year ahead and behind. A seed, which is printed, determines
# the faults. At the end no acknowledged change is lost, no deleted item has returned, all devices have the same items, and none has a fault.
# The long run: make stress
# limit: 900
set -u
umask 022
for tool in etcd etcdctl openssl python3 setpriv; do command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }; done
for program in vauban rooms-testing vauban-compaction-testing keychain-caller vauban-sync-etcd; do
    [ -x "$VAUBAN_BUILD/$program" ] || { echo "$program is not built"; exit 77; }
done
export PYTHONDONTWRITEBYTECODE=1
if [ -z "${FLEET_NETWORK:-}" ]; then
    # However the test ends, its processes, networks and disks end with these namespaces.
    if [ "$(id -u)" = 0 ] && unshare --net --mount --pid --fork --kill-child --mount-proc ip link add v type veth peer name w 2>/dev/null; then
        export FLEET_NETWORK=1 FLEET_DISKS=1
        exec unshare --net --mount --pid --fork --kill-child --mount-proc -- setsid --wait "$0" "$@"
    fi
    echo 'open: networks that are cut: this test may not make namespaces here'
    echo 'open: disks that are full: this test may not mount file systems here'
    echo 'open: clocks that are a year off: this test may not make namespaces here'
    export FLEET_NETWORK=0 FLEET_DISKS=0
fi
. Tests/Scripts/lib/deadline.sh
. Tests/Scripts/lib/free-ports.sh
[ "$FLEET_NETWORK" = 1 ] || free_ports
export DEVICES=${DEVICES:-6} FAULTS=${FAULTS:-8} SEED=${SEED:-$RANDOM}
echo "SEED=$SEED"
exec python3 Tests/Scripts/lib/fleet/run.py
