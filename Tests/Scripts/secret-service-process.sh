#!/usr/bin/env bash
# The identity of a client, on a bus that passes process descriptors and on one that passes numbers: a client whose process ended, differs from
# its number, or started after the connection is not a program of the user. A service that lost its name ends. The bus is simulated, since that of
# Debian 12 passes no descriptors, and no real one loses a name.
set -u
. Tests/Scripts/lib/command-line.sh
/usr/bin/python3 -c 'import dbus.server, gi' 2>/dev/null || { echo 'there is no python3-dbus or python3-gi here'; exit 77; }
[ -x "$VAUBAN_BUILD/vauban-secret-service" ] || { echo 'vauban-secret-service is not built'; exit 77; }
chmod 700 "$TMPDIR"
printf 'first secret' | vauban set mail/anna 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'vauban set failed'; }
/usr/bin/python3 Tests/Scripts/lib/descriptor-bus.py "$TMPDIR/bus" "$VAUBAN_BUILD/vauban-secret-service" >"$TMPDIR/out" 2>&1 ||
    { cat "$TMPDIR/out"; fail 'a client is mistaken for another, or the service continues without its name'; }
vauban stop >/dev/null 2>&1
echo 'a client without its process is no program of the user'
