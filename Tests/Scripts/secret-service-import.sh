#!/usr/bin/env bash
# vauban import --from secret-service: everything in a real GNOME Keyring is in Vauban afterwards, byte by byte and over the same bus, and stays
# where it was. Then a simulated provider: prompts, individual locks, plain sessions, and invalid replies.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/secret-service.sh
command -v gnome-keyring-daemon >/dev/null || { echo 'there is no gnome-keyring-daemon here'; exit 77; }
/usr/bin/python3 -c 'import dbus, cryptography' 2>/dev/null || { echo 'there is no python3-dbus or python3-cryptography here'; exit 77; }
import() { expect_status "$1" vauban import --from secret-service "${@:2}"; }
out() { expect_text "$1" "$TMPDIR/out"; }
err() { expect_text "$1" "$TMPDIR/err"; }
vauban status >/dev/null 2>&1 || fail 'the rooms do not start'

# Without a bus, and without a provider.
import 53
err 'No session bus is running'
sed -i 's|  <standard_session_servicedirs/>||; s|<auth>EXTERNAL</auth>|&\n  <servicedir>'"$TMPDIR"'/services</servicedir>|' "$TMPDIR/bus/config"
mkdir "$TMPDIR/services"
start_bus
import 53
err 'No program provides the Secret Service now'
expect_status 64 vauban import --from secret-service file.csv
expect_status 64 vauban import
vauban doctor >"$TMPDIR/out"; out 'Secret Service no program; to use Vauban: vauban enable secret-service'

# GNOME Keyring, with a keyring that a password opens.
mkfifo "$TMPDIR/login-password"
gnome-keyring-daemon --foreground --unlock --components=secrets --control-directory="$TMPDIR/control" <"$TMPDIR/login-password" >"$TMPDIR/keyring.log" 2>&1 &
keyring=$!
printf 'login password' >"$TMPDIR/login-password"
try wait-for-owner
printf 'first secret' | secret-tool store --label='My mail' service mail username anna || fail 'GNOME Keyring stores nothing'
work=$(timeout "$hang_seconds" /usr/bin/python3 "$helper" fill-keyring) || fail 'GNOME Keyring is not filled'
try dump >"$TMPDIR/there"
vauban doctor >"$TMPDIR/out"; out 'gnome-keyring-d'; out 'to use Vauban: vauban enable secret-service, then log out and in'

# A dry run changes nothing.
import 0 --dry-run
out 'My mail: would be added: mail/anna'
err '7 would be added, 0 already exist, 0 not imported'
vauban list 2>&1 | grep -q 'No items yet' || fail 'a dry run adds items'

# A locked collection whose prompt cannot be answered here is named. Unlocked items are imported.
try lock-keyring "$work"
import 1 --no-input
out 'Work things: not imported: it is locked; unlock it in GNOME Keyring'
err '6 added, 0 already exist, 1 not imported'
try unlock-keyring "$work"
import 0
out '/At work: added: work/anna'
err '1 added, 6 already exist, 0 not imported'
[ "$(vauban get mail/anna)" = 'first secret' ] || fail 'the command line does not read what was imported'
vauban show mail/anna >"$TMPDIR/out"; out 'imported from: GNOME Keyring, '; out 'created: '
grep -q 'first secret' "$TMPDIR/err" "$TMPDIR/keyring.log" && fail 'a message shows a secret'

# A secret that changed there is reported and not imported; the reverse too.
printf 'changed there' | secret-tool store --label='My mail' service mail username anna || fail 'GNOME Keyring does not replace'
import 1 --json
grep -q '"reason" : "it already exists with another password"' "$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'a changed secret is not reported'; }
[ "$(vauban get mail/anna)" = 'first secret' ] || fail 'an import changed an item'
printf 'first secret' | secret-tool store --label='My mail' service mail username anna

# Everything is still there, and Vauban returns the same to the same programs.
try dump | diff "$TMPDIR/there" - || fail 'the import changed the keyring'
kill "$keyring"; wait "$keyring" 2>/dev/null
vauban enable secret-service 2>/dev/null || fail 'the Secret Service was not enabled'
cp "$XDG_DATA_HOME/dbus-1/services/org.freedesktop.secrets.service" "$TMPDIR/services/"
busctl --address="$DBUS_SESSION_BUS_ADDRESS" call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig >/dev/null || fail 'the bus does not reload'
[ "$(secret-tool lookup service mail username anna)" = 'first secret' ] || fail 'secret-tool does not find what was imported'
try dump | diff "$TMPDIR/there" - || fail 'Vauban has not what GNOME Keyring had'
[ "$(secret-tool search --all service twice 2>/dev/null | grep -c '^secret = ')" = 2 ] || fail 'of two items with the same attributes one is lost'
try replaced-without-schema
vauban doctor >"$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'vauban doctor finds something'; }
out 'vauban-secret-s'
grep -q 'to use Vauban:' "$TMPDIR/out" && { cat "$TMPDIR/out"; fail 'Vauban imports from itself'; }
# Vauban imports nothing from itself.
import 64
err 'Vauban provides the Secret Service already'
rm "$TMPDIR/services/"*; kill_service
busctl --address="$DBUS_SESSION_BUS_ADDRESS" call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig >/dev/null

# provider WORDS...: runs a simulated one; its requests go to $TMPDIR/asked.
provider() {
    rm -f "$TMPDIR/said"; mkfifo "$TMPDIR/said"
    timeout 300 /usr/bin/python3 Tests/Scripts/lib/other-provider.py "$@" >"$TMPDIR/said" 2>"$TMPDIR/provider.err" & played=$!
    exec 7<"$TMPDIR/said"
    read -r -t "$hang_seconds" said <&7; [ "$said" = playing ] || { cat "$TMPDIR/provider.err"; fail 'no provider is played'; }
    # The background shell empties it only when it runs.
    : >"$TMPDIR/asked"
    cat <&7 >"$TMPDIR/asked" & reader=$!
}
end_provider() { { kill "$played"; wait "$played" "$reader"; } 2>/dev/null; exec 7<&-; }
asked() { grep -qxF -- "$1" "$TMPDIR/asked" || { cat "$TMPDIR/asked" "$TMPDIR/err"; fail "the provider did not receive: $1"; }; }
not_asked() { ! grep -q -- "$1" "$TMPDIR/asked" || { cat "$TMPDIR/asked"; fail "the provider received: $1"; }; }

# The prompt is the provider's own. What it unlocked is locked again, and what stays unlocked until the logout stays so.
new_keychain
provider accepts
import 0
end_provider
asked 'session dh-ietf1024-sha256-aes128-cbc-pkcs7'; not_asked 'session plain'; asked prompt; asked 'lock /org/freedesktop/secrets/collection/vault'
not_asked 'secret /org/freedesktop/secrets/collection/session'
err 'Vault ä is locked; answer the prompt of python3.'
err 'Items in Session (1) last until you log out, and are not imported.'
err '4 added, 0 already exist, 0 not imported'
vauban get vault >"$TMPDIR/got"; printf '\0\377 in the vault' | cmp - "$TMPDIR/got" || fail 'bytes were changed'
vauban list >"$TMPDIR/out"; out secret-service-collection/vault
# Once more, with sessions that are not encrypted.
provider accepts plain
import 0
end_provider
asked 'session plain'
err '0 added, 4 already exist, 0 not imported'

# The user refuses, must not be prompted, or the provider ends: unlocked items are imported, or nothing is reported as imported.
for conduct in refuses silent; do
    new_keychain
    provider $conduct
    # shellcheck disable=SC2046
    import 1 $([ $conduct = refuses ] || echo --no-input)
    end_provider
    err '3 added, 0 already exist, 1 not imported'
    out 'Vault ä: not imported: it is locked; unlock it in python3, and import again'
    [ $conduct = refuses ] || not_asked prompt
done
new_keychain
provider leaves
import 53
end_provider
err 'the provider failed'

# Unlocked items are locked again if the user ends the import, or it fails, while another prompt or other items remain. awaits LINE NUMBER [FILE]:
# until the provider received this many requests, or the file has the line so often.
# shellcheck disable=SC2016
awaits() {
    timeout "$hang_seconds" bash -c 'until [ "$(grep -cxF -- "$1" "$3")" -ge "$2" ]; do :; done' - "$1" "$2" "${3:-$TMPDIR/asked}" ||
        { cat "$TMPDIR/asked" "$TMPDIR/err"; fail "there is no: $1"; }
}
locked='lock /org/freedesktop/secrets/collection/vault /org/freedesktop/secrets/collection/safe'
new_keychain
provider waits "$TMPDIR/never"
printf '#!/bin/sh\nuntil [ "$(grep -cx prompt %s)" = 2 ]; do :; done\n' "$TMPDIR/asked" >"$TMPDIR/second-prompt"; chmod +x "$TMPDIR/second-prompt"
play "$VAUBAN_BUILD/vauban" import --from secret-service >"$TMPDIR/out" <<STEPS
expect Safe is locked; answer the prompt of python3.
run $TMPDIR/second-prompt
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out"; fail 'Ctrl-C does not end an import'; }
awaits dismissed 1; awaits "$locked" 1
grep -q vauban-secret-service "$TMPDIR/out" && { cat "$TMPDIR/out"; fail 'what reads the items complains when the user ends the import'; }
end_provider
new_keychain; set_passcode
provider waits "$TMPDIR/go-on"
vauban import --from secret-service >"$TMPDIR/out" 2>"$TMPDIR/err" & importing=$!
awaits prompt 2; awaits 'Safe is locked; answer the prompt of python3.' 1 "$TMPDIR/err"
vauban lock 2>/dev/null; : >"$TMPDIR/go-on"
wait "$importing" && fail 'items are imported into a locked keychain'
err 'The import stopped at'; awaits "$locked" 1
end_provider

# Killed again and again, while it waits for an item that a seed chooses, and then run to its end: each item exists once, with its secret.
new_keychain
seed=${SEED:-$RANDOM}; RANDOM=$seed; echo "SEED=$seed"
mkfifo "$TMPDIR/gate"
# next_stop NUMBER: the next item at which the provider stops; 0 for none.
next_stop() { timeout "$hang_seconds" bash -c 'echo "$1" >"$2"' - "$1" "$TMPDIR/gate" || fail 'the provider does not go on'; }
many() { vauban list 2>/dev/null | cut -f1 | grep '^many/' | sort -V; }
# has ITEM: whether it was imported.
has() { many | grep -qxF -- "$1"; }
# Of two digits, since items of the same second are read in the order of their paths as texts.
point=$((11 + RANDOM % 89))
next_stop $point & starting=$!
provider many "$TMPDIR/gate"
wait "$starting" || exit 1
partial=0
for turn in 1 2 3 4 5 6; do
    "$VAUBAN_BUILD/vauban" import --from secret-service >"$TMPDIR/out" 2>"$TMPDIR/err" & importing=$!
    awaits stopped $turn
    # What reads the bus is ahead of the import. Every second time the import has caught up.
    [ $((turn % 2)) = 0 ] || eventually has "many/u$((point - 4))" || fail 'the import does not add what it was given'
    kill -9 "$importing"
    { wait "$importing"; ended=$?; } 2>/dev/null
    [ $ended = 137 ] || fail "an import that waits for an item ended with $ended"
    point=$((turn < 6 ? 11 + RANDOM % 89 : 0))
    next_stop $point
    # What read for the killed import ends too, and locks what it had unlocked.
    awaits 'lock /org/freedesktop/secrets/collection/vault' $turn
    [ -z "$(many | uniq -d)" ] || { many; fail 'a killed import leaves an item twice'; }
    [ "$(many | wc -l)" = 0 ] || partial=$((partial + 1))
done
[ $partial -gt 0 ] || fail 'no import was killed between two items'
import 0
grep -q '^0 added' "$TMPDIR/err" && fail 'killed imports had added everything'
many | diff <(seq -f 'many/u%g' 100) - || fail 'after killed imports the items are not there once'
# What exists was compared with its secret.
import 0
err '0 added, 104 already exist, 0 not imported'
end_provider

# Each invalid reply is named, and affects no other item.
new_keychain
provider hostile
import 1
end_provider
err '5 added, 0 already exist, 7 not imported'
for left in 'Login/?: not imported: the provider does not describe it' 'Vault ä/?: not imported' 'Login/Reserved: not imported: its service is a name that Vauban uses itself' \
    'Login/Large: not imported: its secret is larger than 1 MiB' 'Login/Many: not imported: its label and attributes exceed the size of an item' \
    'Login/Short vector: not imported: The parameter of an encrypted secret has 16 bytes' 'Login/No padding: not imported: The secret cannot be decrypted'; do
    out "$left"
done
grep -qP '\x1b|\x{202e}' "$TMPDIR/out" "$TMPDIR/err" && fail 'a label writes to the terminal'
[ "$(vauban get escape)" = escape ] || fail 'an item beside hostile ones is lost'
expect_status 44 vauban get ssh-key/evil
echo 'the items of GNOME Keyring are in Vauban, and stay where they were'
