#!/usr/bin/env bash
# A private key that is an item is in a backup, and signs on another device; a key of the enclave stays, and is named.
# proves: C-059 C-063
# limit: 120
set -u
. Tests/Scripts/lib/command-line.sh
secret='a passphrase of its own'
with() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<"$secret" </dev/null; }
text() { expect_text "$1" "$TMPDIR/err"; }
key() { "$VAUBAN_BUILD/keychain-caller" key "$@"; }
device() { export VAUBAN_HOME=$TMPDIR/$1; }
trap 'for home in "$TMPDIR"/keychain "$TMPDIR"/new; do VAUBAN_HOME=$home vauban stop; done >/dev/null 2>&1' EXIT

set_passcode
[ "$(key keep of.an.item)" = 0 ] && [ "$(key make of.the.enclave)" = 0 ] || fail 'a key was not made'
public=$(key public of.an.item software)
[ "$(key storm of.an.item software)" = right=1 ] || fail 'the key of the item does not sign'
with 0 backup "$TMPDIR/backup"
text '1 item backed up, 1 not in the backup. Verified.'
text 'the key is in the enclave of this device, which never releases it'

device new; new_keychain; set_passcode
with 0 restore "$TMPDIR/backup"
text '1 item added, 0 replaced, 0 unchanged, 0 not restored.'
[ "$(key public of.an.item software)" = "$public" ] || fail 'another key was restored'
[ "$(key storm of.an.item software)" = right=1 ] || fail 'the restored key does not sign'
[ "$(key find of.the.enclave)" = -25300 ] || fail 'the key of the enclave left its device'
with 0 restore "$TMPDIR/backup"
text '0 items added, 0 replaced, 1 unchanged, 0 not restored.'
echo 'a private key that is an item was restored on another device, and a key of the enclave was not'
