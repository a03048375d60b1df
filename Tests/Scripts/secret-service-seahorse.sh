#!/usr/bin/env bash
# Seahorse, the application for passwords of GNOME, lists the collections and items of Vauban. A picture of it stays in
# .build/test-results/secret-service.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
for program in seahorse Xvfb xdotool import; do command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }; done
/usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null || { echo 'there is no gir1.2-atspi-2.0 here'; exit 77; }
. Tests/Scripts/lib/secret-service.sh
pictures=$PWD/.build/test-results/secret-service
mkdir -p "$pictures"
vauban enable secret-service 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'the Secret Service was not enabled'; }
start_bus
printf 'first secret' | secret-tool store --label='Mail of anna' service mail username anna || fail 'nothing is stored'
printf 'by hand' | vauban set wifi/guests 2>/dev/null || fail 'vauban set failed'
timeout "$hang_seconds" /usr/bin/python3 Tests/Scripts/lib/seahorse.py "$pictures/seahorse.png" Login 'Mail of anna' wifi/guests 2>"$TMPDIR/err" ||
    { tail -n 20 "$TMPDIR/err"; fail 'seahorse does not list the items'; }
echo 'seahorse lists the items of Vauban'
