#!/usr/bin/env bash
# KWallet's interface with real clients on a separate bus: kwallet-query, Python's keyring, and calls as KDE's library makes them. Its items in
# other interfaces, locks and prompts, hostile calls, a service that is killed, and KDE's own service beside it.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/secret-service.sh
helper=$PWD/Tests/Scripts/lib/kwallet.py
command -v kwallet-query >/dev/null || { echo 'there is no kwallet-query (libkf5wallet-bin) here'; exit 77; }
export QT_QPA_PLATFORM=offscreen XDG_CURRENT_DESKTOP=KDE
# KDE's service is installed here, so its names are requested by default; --no-kwallet leaves them.
vauban enable secret-service --no-kwallet 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'the Secret Service was not enabled'; }
[ ! -e "$XDG_DATA_HOME/dbus-1/services/org.kde.kwalletd5.service" ] || fail 'the name of KWallet was taken despite --no-kwallet'
vauban disable secret-service 2>/dev/null || fail 'the Secret Service was not disabled'
vauban enable secret-service 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'the Secret Service was not enabled'; }
expect_text "KDE's programs" "$TMPDIR/err"
start_bus
vauban status >/dev/null 2>&1 || fail 'the rooms do not start'
vauban doctor | grep -q '^KWallet .*no program yet' || fail 'vauban doctor does not say that KWallet has no program yet'
try entries
vauban doctor | grep -q '^KWallet .*vauban-secret-s' || fail 'vauban doctor does not name the owner'
[ "$(owner_process org.kde.kwalletd6)" = "$(service_process)" ] || fail 'org.kde.kwalletd6 has another owner'

# One item, all interfaces.
vauban list >"$TMPDIR/out"; expect_text Mail/anna "$TMPDIR/out"
[ "$(vauban get Mail/anna | head -n 1)" = 'pass wörd 🔑' ] || fail 'the command line does not read it'
[ "$(secret-tool lookup server Mail user anna xdg:schema org.qt.keychain type plaintext)" = 'pass wörd 🔑' ] || fail 'secret-tool does not find it'
vauban get Mail/form >"$TMPDIR/out"; expect_text '"user":"anna"' "$TMPDIR/out"
printf 'by secret-tool' | secret-tool store --label=Other server Passwords user bob type plaintext || fail 'secret-tool does not store'
grep -rlaF -e 'Work things' -e 'another form' "$VAUBAN_HOME" && fail 'a name is on the disk in the clear'

# kwallet-query uses KDE's library: it lists, reads, and writes its input.
query() { timeout "$hang_seconds" kwallet-query "$@" 2>"$TMPDIR/query.err" || { cat "$TMPDIR/query.err"; return 1; }; }
query -l kdewallet -f Passwords >"$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'kwallet-query does not list'; }
expect_text bob "$TMPDIR/out"
[ "$(query -r bob -f Passwords kdewallet)" = 'by secret-tool' ] || fail 'kwallet-query does not read what secret-tool stored'
printf 'by kwallet-query\n' | query -w bob -f Passwords kdewallet || fail 'kwallet-query does not write'
[ "$(secret-tool lookup server Passwords user bob)" = 'by kwallet-query' ] || fail 'secret-tool does not find what kwallet-query wrote'
query -r form -f Mail kdewallet >"$TMPDIR/out"; expect_text '"user": "anna"' "$TMPDIR/out"

try open-async
try keyring
[ "$(vauban get mail.example.org/anna)" = 'of keyring' ] || fail 'the command line does not read what keyring stored'
try hostile
busctl --address="$DBUS_SESSION_BUS_ADDRESS" introspect org.kde.kwalletd6 /modules/kwalletd6 org.kde.KWallet >"$TMPDIR/out" 2>&1; expect_text readPassword "$TMPDIR/out"

# A lock ends the handles. Opening waits for the unlock, and blocks no other client; a client that ends withdraws its prompt.
set_passcode
try stored
mkfifo "$TMPDIR/said"
# told WORD: starts a client, and waits until it prints this.
told() {
    timeout "$hang_seconds" /usr/bin/python3 "$helper" "$1" >"$TMPDIR/said" &
    client_pid=$!
    read -r -t "$hang_seconds" said <"$TMPDIR/said"; [ "$said" = "$2" ] || fail "$1 says: $said"
}
told closed-by-lock open
vauban lock >/dev/null 2>&1
wait "$client_pid" || fail 'a lock does not close the wallet'
try locked
told open-waits waiting
unlock
wait "$client_pid" || fail 'opening does not continue with the unlock'

# The service is killed: the bus starts it again, by KWallet's name too, and nothing is lost.
kill_service
[ "$(try reads)" = 'of the browser' ] || fail 'nothing is found after a kill'
[ "$(service_process)" != "$killed" ] || fail 'the service is the same'

# After a restart of the rooms no item counts as absent before the first unlock.
vauban stop >/dev/null 2>&1; vauban status >/dev/null 2>&1
try locked
unlock
[ "$(try reads)" = 'of the browser' ] || fail 'nothing is found after the first unlock'

# Another owner of the name is reported, and Vauban takes the name when it ends.
kill_service
mkfifo "$TMPDIR/hold"
/usr/bin/python3 -c '
import dbus, sys
bus = dbus.SessionBus()
print(bus.request_name("org.kde.kwalletd5", 4), flush=True)
sys.stdin.read()' <"$TMPDIR/hold" >"$TMPDIR/said" &
other_pid=$!
exec {hold}>"$TMPDIR/hold"
read -r -t "$hang_seconds" said <"$TMPDIR/said"; [ "$said" = 1 ] || fail 'the name cannot be taken'
secret-tool lookup server Passwords user bob >/dev/null || fail 'the service does not start beside another KWallet'
[ "$(owner_process org.kde.kwalletd5)" = "$other_pid" ] || fail 'the name was taken away'
[ "$(owner_process org.kde.kwalletd6)" = "$(service_process)" ] || fail 'the other name is not taken'
exec {hold}>&-
wait "$other_pid"
[ "$(try reads)" = 'of the browser' ] || fail 'the name is not taken over'
[ "$(owner_process org.kde.kwalletd5)" = "$(service_process)" ] || fail 'the name has no owner'

vauban disable secret-service 2>/dev/null || fail 'the Secret Service was not disabled'
[ -z "$(find "$XDG_CONFIG_HOME" "$XDG_DATA_HOME" -type f 2>/dev/null)" ] || { find "$XDG_CONFIG_HOME" "$XDG_DATA_HOME"; fail 'a file was not removed'; }
echo 'kwallet ok'
