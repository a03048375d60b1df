#!/usr/bin/env bash
# For Swift tests (Tests/RoomsTests/Fprintd): real fprintd with a virtual sensor, polkit, and a simulated login manager, on a separate bus in
# TMPDIR. Runs each line of standard input, a command of own-bus.sh, own-fprintd.sh or below, and prints its output and `ok: COMMAND`. The
# first command that fails ends it, as does the end of the input. Exits 77, with the reason, if a program is missing.
# The test runner may have signals blocked, which all processes here would inherit, and then none would end.
[ -n "${stage_is_clear:-}" ] || exec env --default-signal stage_is_clear=1 "$0"
set -u
cd "$(dirname "$0")/../../.." || exit 2
. Tests/Scripts/lib/own-bus.sh
. Tests/Scripts/lib/own-fprintd.sh
command -v dbus-monitor >/dev/null || { echo 'there is no dbus-monitor here'; exit 77; }
trap 'stop_fingers; stop_logind; stop_bus' EXIT

# The user at the sensor, also for steps at a terminal; see own-fprintd.py.
printf '#!/bin/sh\nexec /usr/bin/python3 "%s/bus/own-fprintd.py" "%s" "%s" "$@" >>"%s/touches" 2>&1\n' "$TMPDIR" "$bus_address" "$sensor" "$TMPDIR" >"$TMPDIR/bus/finger"
chmod 755 "$TMPDIR/bus/finger"
# await_line FILE TEXT [COUNT]: waits until the file in TMPDIR has so many lines with the text.
await_line() { timeout "$hang_seconds" tail -n +1 -F "$TMPDIR/$1" 2>/dev/null | grep -m "${3:-1}" -F -- "$2" | tail -n +"${3:-1}" | grep -q .; }
# hold: another program claims the sensor; prints its process number. release: the program ends.
hold() {
    mkfifo "$TMPDIR/holding" || return
    "$TMPDIR/bus/finger" hold "$(id -un)" <"$TMPDIR/holding" &
    holder=$!
    exec {holding}>"$TMPDIR/holding"
    await_line touches held && echo "$holder"
}
release() { kill "$holder"; }
# monitor RULE...: writes the messages on the bus to the file `monitored`.
monitor() { dbus-monitor --address "$bus_address" "$@" >"$TMPDIR/monitored" 2>&1 & await_line monitored NameAcquired; }

start_bus
# fprintd queries the login manager about sleep.
start_logind "$(id -u)"
start_polkit
echo 'ok: start'
while IFS= read -r step; do
    eval "$step" || { echo "FAILED: $step"; exit 1; }
    echo "ok: $step"
done
