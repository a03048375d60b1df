#!/usr/bin/env bash
# A bus that passes the process descriptors of its clients: one whose process ended, or is another than its number says, is no program of the
# user's. The bus is played, since that of Debian 12 passes none.
set -u
. Tests/Scripts/lib/command-line.sh
/usr/bin/python3 -c 'import dbus.server, gi' 2>/dev/null || { echo 'there is no python3-dbus or python3-gi here'; exit 77; }
[ -x "$VAUBAN_BUILD/vauban-secret-service" ] || { echo 'vauban-secret-service is not built'; exit 77; }
chmod 700 "$TMPDIR"
printf 'first secret' | vauban set mail/anna 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'vauban set failed'; }
/usr/bin/python3 Tests/Scripts/lib/descriptor-bus.py "$TMPDIR/bus" "$VAUBAN_BUILD/vauban-secret-service" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'a client is taken for another'; }
vauban stop >/dev/null 2>&1
echo 'a client without its process is no program of the user'
