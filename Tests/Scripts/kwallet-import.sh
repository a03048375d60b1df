#!/usr/bin/env bash
# vauban import --from kwallet: every password, map, stream and folder of a real KWallet is in Vauban afterwards, byte by byte over KWallet's own
# interface, and stays where it was. A wallet with a password is opened in KWallet's own window, by a keyboard on an X server. Then a simulated
# KWallet: wallets that close meanwhile, and invalid replies.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/secret-service.sh
. Tests/Scripts/lib/desktops.sh
for program in kwalletd5 kwallet-query Xvfb xdotool; do command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }; done
wallets=$PWD/Tests/Scripts/lib/kwallet.py
import() { expect_status "$1" vauban import --from kwallet "${@:2}"; }
out() { expect_text "$1" "$TMPDIR/out"; }
err() { expect_text "$1" "$TMPDIR/err"; }
wallet() { timeout 240 /usr/bin/python3 "$wallets" "$@" || fail "kwallet.py $*"; }
mkdir "$TMPDIR/services"
sed -i 's|  <standard_session_servicedirs/>||; s|<auth>EXTERNAL</auth>|&\n  <servicedir>'"$TMPDIR"'/services</servicedir>|' "$TMPDIR/bus/config"
finish_all() { { kill "${kwallet:-}" "${played:-}"; wait "${kwallet:-}" "${played:-}"; } 2>/dev/null; stop_desktops; finish; }
trap finish_all EXIT
vauban status >/dev/null 2>&1 || fail 'the rooms do not start'

# Without a bus, and without KWallet.
import 53
err 'No session bus is running'
start_bus
import 53
err "KWallet does not run now; open KDE's wallet manager"
expect_status 64 vauban import --from kwallet file.csv

# A real KWallet on a separate screen.
screen=800x600x24 start_x11
mkdir -p "$XDG_CONFIG_HOME"
printf '[Wallet]\nEnabled=true\nFirst Use=false\n' >"$XDG_CONFIG_HOME/kwalletrc"
QT_QPA_PLATFORM=xcb kwalletd5 >"$TMPDIR/kwallet.log" 2>&1 &
kwallet=$!
wallet wait-for-owner
wallet fill
wallet dump kdewallet >"$TMPDIR/there"
vauban doctor >"$TMPDIR/out"; out kwalletd5; out 'to use Vauban: vauban enable secret-service --kwallet, then log out and in'

# A dry run changes nothing. A closed wallet is named if no prompt is requested.
import 1 --dry-run --no-input
out 'kdewallet/Mail/anna: would be added: Mail/anna'
out 'Work things: not imported: it is closed; open it in KDE Wallet, and import again'
err '13 would be added, 0 already exist, 1 not imported'
vauban list 2>&1 | grep -q 'No items yet' || fail 'a dry run adds items'
import 1 --no-input
err '13 added, 0 already exist, 1 not imported'

# KWallet's own window requests the password of the other wallet. It is closed again afterwards.
asks() { timeout "$hang_seconds" xdotool search --sync --onlyvisible --name 'KDE Wallet Service' windowfocus --sync; }
answered() { asks && xdotool type -- "$1" && xdotool key Return; }
answered 'of work' & answer=$!
import 0
wait "$answer" || fail 'KWallet shows no window'
err 'Work things is closed; if KDE Wallet prompts you, enter its password.'
err '2 added, 13 already exist, 0 not imported'
[ "$(busctl --address="$DBUS_SESSION_BUS_ADDRESS" call org.kde.kwalletd5 /modules/kwalletd5 org.kde.KWallet isOpen s 'Work things')" = 'b false' ] || fail 'the wallet stays open'
# The user closes the window.
asks && xdotool key Escape & answer=$!
import 1
wait "$answer"
err '0 added, 13 already exist, 1 not imported'
[ "$(vauban get Mail/empty)" = '' ] || fail 'an empty password is not empty'
[ "$(vauban list | grep -c 'Mail/anna')" = 2 ] || { vauban list; fail 'two wallets have not two items'; }
vauban get 'Form Data/https://example.org/#login' >"$TMPDIR/out"; out '"user":"anna"'
vauban show 'Chrome Keys/Chrome Safe Storage' >"$TMPDIR/out"; out 'imported from: KDE Wallet, kdewallet'
grep -q 'pass wörd' "$TMPDIR/err" "$TMPDIR/kwallet.log" && fail 'a message shows a secret'

# A secret that changed there is reported and not imported, and so is what is not an item.
wallet change
wallet refuses
import 1 --no-input --json
grep -q '"reason" : "it already exists with another password"' "$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'a changed secret is not reported'; }
for reason in 'its secret is larger than 1 MiB' 'KWallet does not know its type' 'its service is a name that Vauban uses itself'; do out "$reason"; done
err '0 added, 12 already exist, 5 not imported'

# Everything is still there.
wallet dump kdewallet | grep -v -e "'ssh-key'" -e "'large'" -e "'unknown'" -e 'changed there' >"$TMPDIR/after"
grep -v "'Mail' 'anna'" "$TMPDIR/there" | diff - "$TMPDIR/after" || fail 'the import changed the wallet'
{ kill "$kwallet"; wait "$kwallet"; } 2>/dev/null

# Vauban returns the same to the same programs.
vauban enable secret-service --kwallet 2>/dev/null || fail 'the Secret Service was not enabled'
cp "$XDG_DATA_HOME"/dbus-1/services/org.* "$TMPDIR/services/"
busctl --address="$DBUS_SESSION_BUS_ADDRESS" call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig >/dev/null || fail 'the bus does not reload'
wallet dump kdewallet | diff "$TMPDIR/there" - || fail 'Vauban has not what KWallet had'
wallet dump 'Work things' >"$TMPDIR/out"
out "Work things 'Mail' 'anna' 1 'of work'"; out "Work things 'Mail' 'key' 2 b'\\x00\\xff'"
[ "$(QT_QPA_PLATFORM=offscreen timeout "$hang_seconds" kwallet-query -r c -f a/b kdewallet 2>/dev/null)" = 'pass wörd 🔑 of a/b|c' ] || fail "KDE's library does not read it"
[ "$(secret-tool lookup server a/b user c)" = 'pass wörd 🔑 of a/b|c' ] || fail 'secret-tool does not find it'
# The default wallet stays the imported one, whatever name a program uses.
labels() {
    busctl --address="$DBUS_SESSION_BUS_ADDRESS" set-property org.freedesktop.secrets /org/freedesktop/secrets/collection/kdewallet \
        org.freedesktop.Secret.Collection Label s "$1" || fail 'a collection is not renamed'
}
labels 'Of KDE'
wallet dump kdewallet | diff "$TMPDIR/there" - || fail 'the default wallet changed after its collection was renamed'
labels kdewallet
# Vauban imports nothing from itself.
import 64
err "Vauban serves KDE's programs already"
rm "$TMPDIR/services/"*; kill_service
busctl --address="$DBUS_SESSION_BUS_ADDRESS" call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig >/dev/null

# provider CONDUCT: runs a simulated KWallet.
provider() {
    rm -f "$TMPDIR/said"; mkfifo "$TMPDIR/said"
    timeout 300 /usr/bin/python3 Tests/Scripts/lib/other-wallet.py "$1" >"$TMPDIR/said" 2>"$TMPDIR/provider.err" & played=$!
    exec 7<"$TMPDIR/said"
    read -r -t "$hang_seconds" said <&7; [ "$said" = playing ] || { cat "$TMPDIR/provider.err"; fail 'no KWallet is played'; }
}
end_provider() { { kill "$played"; wait "$played"; } 2>/dev/null; exec 7<&-; }

# A wallet that closes meanwhile returns nothing, which is not an empty value.
new_keychain
provider closes
import 1
end_provider
out 'kdewallet/Mail/bob: not imported: Its wallet was closed meanwhile; open it, and import again'
err '1 added, 0 already exist, 1 not imported'
new_keychain
provider closes-early
import 1
end_provider
out 'kdewallet: not imported: Its wallet was closed meanwhile; open it, and import again'
err '0 added, 0 already exist, 1 not imported'

# A provider that ends: nothing is reported as imported.
new_keychain
provider leaves
import 53
end_provider
err 'the provider failed'

# A wallet that was opened is closed again if the import ends while KWallet waits for the password of another one. heard LINE: reads the output of
# the simulated KWallet up to this line.
heard() { while read -r -t "$hang_seconds" said <&7; do [ "$said" != "$1" ] || return 0; done; fail "KWallet was not asked: $1"; }
new_keychain
provider waits
"$VAUBAN_BUILD/vauban" import --from kwallet >"$TMPDIR/out" 2>"$TMPDIR/err" & importing=$!
heard 'open kdewallet'; heard 'open slow'
{ kill "$importing"; wait "$importing"; } 2>/dev/null
heard 'close 1'; heard 'close kdewallet'
end_provider

# Each invalid reply is named, and affects no other entry. The name of a wallet determines only its own collection.
new_keychain
provider hostile
import 1
end_provider
for left in 'kdewallet/Mail/no map: not imported: It is not a map that KWallet can read' 'kdewallet/Mail/type 7: not imported: KWallet does not know its type' \
    'kdewallet/Mail/bytes: not imported: It is not text in UTF-8' 'kdewallet/Mail/a number: not imported: Its answer cannot be read' \
    'kdewallet/Mail/an error: not imported: It cannot be read' 'kdewallet/ssh-key/evil: not imported' \
    'session/Mail/anna: added' 'a b/Mail/anna: added' 'a_20b/Mail/anna: added'; do
    out "$left"
done
err '5 added, 0 already exist, 6 not imported'
grep -qP '\x1b|\x{202e}' "$TMPDIR/out" "$TMPDIR/err" && fail 'a name writes to the terminal'
expect_status 44 vauban get ssh-key/evil
echo 'the entries of KWallet are in Vauban, and stay where they were'
