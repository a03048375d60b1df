#!/usr/bin/env bash
# vauban-state, which root runs in folders that the rooms own: a room that was taken over gains nothing by it, and the state before the rooms were
# stopped is restored afterwards. A program that records its arguments represents systemd.
set -u
[ "${VAUBAN_TEST_USERS:-0}" = 1 ] || { echo 'it needs root, to be several users'; exit 77; }
command -v setpriv >/dev/null && command -v unshare >/dev/null || { echo 'there is no setpriv or unshare here'; exit 77; }
if [ -z "${VAUBAN_INSIDE:-}" ]; then
    . Tests/Scripts/lib/own-mounts.sh
    made=
    for folder in /run/systemd /var/lib/vauban; do [ -e "$folder" ] || { mkdir "$folder" && made="$made $folder"; }; done
    trap 'for folder in $made; do rmdir "$folder"; done' EXIT
    VAUBAN_INSIDE=1 unshare $own_mounts "$0"
    exit
fi
for folder in /run/systemd /var/lib/vauban; do mount -t tmpfs -o mode=755 tmpfs "$folder" || { echo 'it cannot mount here'; exit 77; }; done
mkdir /run/systemd/system "$TMPDIR/tools"
state=/var/lib/vauban
failures=0
check() { what=$1; shift; if "$@"; then echo "ok: $what"; else echo "FAILED: $what"; failures=$((failures + 1)); fi; }
# keychain NUMBER NAME: as the rooms create it.
keychain() {
    for room in enclave:enclave/people keychain:keychain; do
        user=vauban-test-${room%%:*}; folder=$state/${room#*:}
        install -d -m 700 -o "$user" -g "$user" "$state/${room%%:*}" "$folder" "$folder/$1"
        printf 'vauban holder 1\n%s %s\n' "$1" "$2" >"$folder/$1/holder"
        chmod 600 "$folder/$1/holder"; chown "$user:$user" "$folder/$1/holder"
    done
}
vauban_state() { PATH="$TMPDIR/tools:$PATH" sh "$PWD/Install/vauban/vauban-state" "$@"; }

# Root's commands as the room would want them: a removed file appears again, as a link.
alice=$(id -u vauban-test-alice)
keychain "$alice" vauban-test-before
echo 'of root' >"$TMPDIR/roots"; chmod 600 "$TMPDIR/roots"
cat >"$TMPDIR/tools/rm" <<TOOL
#!/bin/sh
/bin/rm "\$@"
for path; do case \$path in *holder.new) ln -s "$TMPDIR/roots" "\$path" ;; esac; done
TOOL
chmod 755 "$TMPDIR" "$TMPDIR/tools" "$TMPDIR/tools/rm"
vauban_state keep "$alice" >"$TMPDIR/out" 2>&1
check 'root does not follow a link that a room creates' eval '[ "$(cat "$TMPDIR/roots")" = "of root" ] && [ "$(stat -c %U:%a "$TMPDIR/roots")" = root:600 ]'
rm "$TMPDIR/tools/rm"
for folder in "$state/enclave/people/$alice" "$state/keychain/$alice"; do rm -f "$folder/holder.new" "$folder/holder"; done
keychain "$alice" vauban-test-before
check 'the keychain is given to the present user of the uid' eval 'vauban_state keep "$alice" >"$TMPDIR/out" && for room in enclave:enclave/people keychain:keychain; do
    file=$state/${room#*:}/$alice/holder
    [ "$(cat "$file")" = "vauban holder 1
$alice vauban-test-alice" ] && [ "$(stat -c %U:%G:%a "$file")" = "vauban-test-${room%%:*}:vauban-test-${room%%:*}:600" ] || { cat "$TMPDIR/out"; ls -l "$file"; false; }; done'

# The keychain of a service is unlocked again after another user was removed.
cat >"$TMPDIR/tools/systemctl" <<TOOL
#!/bin/sh
echo "\$*" >>"$TMPDIR/told"
case \$1 in list-units) echo 'vauban-lock@app.service loaded active exited Lock the Vauban keychain of app at the end' ;; esac
TOOL
chmod 755 "$TMPDIR/tools/systemctl"
sed "s|@PROGRAMS@|$TMPDIR/tools|" Install/vauban/userdel.in >"$TMPDIR/userdel"
printf '#!/bin/sh\nexec sh "%s/Install/vauban/vauban-state" "$@"\n' "$PWD" >"$TMPDIR/tools/vauban-state"; chmod 755 "$TMPDIR/tools/vauban-state"
userdel() { PATH="$TMPDIR/tools:$PATH" ACTION=userdel SUBJECT="$1" sh "$TMPDIR/userdel" >"$TMPDIR/out" 2>&1; }
check 'a removed user'"'"'s keychain is put away by name' \
    eval 'userdel vauban-test-alice && [ -d "$state/set-aside/$alice-vauban-test-alice/enclave" ] && [ ! -e "$state/keychain/$alice" ] || { cat "$TMPDIR/out"; false; }'
check 'the rooms accept connections again afterwards' grep -q '^start .*vauban-keychaind.socket' "$TMPDIR/told"
check 'and the keychains of services are unlocked again, which the end of the enclave locks' grep -q '^start .*vauban-lock@app.service' "$TMPDIR/told"
keychain "$alice" vauban-test-alice
check 'removing a user whose name is a number removes no other keychain' eval 'userdel "$alice" && [ -d "$state/keychain/$alice" ] && [ -d "$state/enclave/people/$alice" ]'
check 'but root may name a keychain by its uid' eval 'vauban_state set-aside "$alice" >"$TMPDIR/out" && [ ! -e "$state/keychain/$alice" ]'
folder=$state/set-aside/$alice-vauban-test-alice
check 'a keychain that was set aside is restored' \
    eval 'vauban_state put-back "$folder" >"$TMPDIR/out" && [ "$(sed -n 2p "$state/keychain/$alice/holder")" = "$alice vauban-test-alice" ]'
[ "$failures" = 0 ] || { echo "$failures checks failed"; exit 1; }
