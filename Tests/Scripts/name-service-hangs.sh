#!/usr/bin/env bash
# A directory of users that hangs while the machine starts blocks no room: a module of the name service switch that never replies, queried before
# the system's own list, in the installed service. Once it replies, its user is known.
set -u
. Tests/Scripts/lib/system-rooms.sh
command -v gcc >/dev/null && command -v ldconfig >/dev/null || { echo 'there is no gcc or ldconfig here'; exit 77; }
mkdir "$TMPDIR/modules" && chmod 755 "$TMPDIR/modules"
gcc -O1 -shared -fPIC -D_GNU_SOURCE -Wl,-soname,libnss_vaubantest.so.2 -o "$TMPDIR/modules/libnss_vaubantest.so.2" Tests/Scripts/lib/nss-hangs.c ||
    { echo 'the module does not compile'; exit 1; }
# Found by the loader's cache as an installed one is; both files exist only in the mount namespace of this script.
cp /etc/ld.so.conf "$TMPDIR/ld.so.conf" 2>/dev/null; echo "$TMPDIR/modules" >>"$TMPDIR/ld.so.conf"
ldconfig -N -X -f "$TMPDIR/ld.so.conf" -C "$TMPDIR/ld.so.cache" 2>/dev/null; ldconfig -X -f "$TMPDIR/ld.so.conf" -C "$TMPDIR/ld.so.cache" 2>/dev/null
printf 'passwd: vaubantest files\ngroup: files\nshadow: files\nhosts: files\n' >"$TMPDIR/nsswitch.conf"
chmod 644 "$TMPDIR/nsswitch.conf" "$TMPDIR/ld.so.cache"
[ -e /etc/nsswitch.conf ] || { echo 'there is no /etc/nsswitch.conf here'; exit 77; }
mount --bind "$TMPDIR/ld.so.cache" /etc/ld.so.cache && mount --bind "$TMPDIR/nsswitch.conf" /etc/nsswitch.conf || { echo 'it cannot mount here'; exit 77; }
touch /etc/vauban/directory-hangs
cp "$(command -v getent)" "$TMPDIR/hangs-for-me"
check 'the module is queried and hangs, so a program that looks up a user does not end' refused 124 timeout 3 "$TMPDIR/hangs-for-me" passwd 54321

start_rooms
check 'the rooms start all the same, and serve a user of the system'"'"'s own list' \
    eval 'with_passcode alice passcode set 2>/dev/null && printf "a secret" | alice set name 2>/dev/null && equals "$(alice get name)" "a secret"'
dora() { setpriv --reuid 54321 --regid 54321 --clear-groups env HOME=/nonexistent "$bin/keychain-caller" "$@"; }
check 'for a uid that only the directory has, the message says that the directory does not reply' eval 'dora get name >"$TMPDIR/said" 2>&1; equals "$(cat "$TMPDIR/said")" "-25291"'
check 'during its query, others are served' eval 'dora get name >/dev/null 2>&1 & asking=$!; equals "$(alice get name)" "a secret"; told=$?; wait $asking; [ $told = 0 ]'

# Queries that hang continue to hang; rooms that start now query a module that replies.
rm /etc/vauban/directory-hangs
kill "$keychain_pid" "$auth_pid" "$enclave_pid" "$witness_pid"; wait "$keychain_pid" "$auth_pid" "$enclave_pid" "$witness_pid" 2>/dev/null
start_rooms
check 'a room queries a directory that replies: its user is known' eval 'equals "$(dora add name "of dora")" 0 && equals "$(dora get name)" "0 of dora"'
finish
