# For tests of the watcher: a separate system bus, and a simulated login manager on it.
# Defines bus_address, start_bus, stop_bus, start_logind, stop_logind, tell_logind, expect_logind.
command -v dbus-daemon >/dev/null && /usr/bin/python3 -c 'import dbus, gi' 2>/dev/null ||
    { echo 'there is no dbus-daemon, python3-dbus or python3-gi here'; exit 77; }
. Tests/Scripts/lib/deadline.sh
bus_address=unix:path=$TMPDIR/bus/socket
mkdir -m 755 "$TMPDIR/bus" "$TMPDIR/bus/services"
cp Tests/Scripts/lib/played-logind.py "$TMPDIR/bus/" && chmod 755 "$TMPDIR" "$TMPDIR/bus/played-logind.py"
cat >"$TMPDIR/bus/config" <<CONFIG
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>$bus_address</listen>
  <auth>EXTERNAL</auth>
  <servicedir>$TMPDIR/bus/services</servicedir>
  <policy context="default">
    <allow user="*"/> <allow own="*"/> <allow send_destination="*"/> <allow receive_sender="*"/>
    <allow send_type="signal"/> <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/> <allow receive_type="signal"/> <allow receive_type="method_call"/>
    <allow receive_type="method_return"/> <allow receive_type="error"/>
  </policy>
</busconfig>
CONFIG

# The bus prints its address when it listens.
start_bus() {
    coproc BUS { exec dbus-daemon --config-file="$TMPDIR/bus/config" --nofork --nopidfile --print-address=1 2>>"$TMPDIR/bus/log"; }
    bus_pid=$BUS_PID
    read -r -t "$hang_seconds" _ <&"${BUS[0]}" || { echo 'the bus does not start'; exit 1; }
}
stop_bus() { [ -z "${bus_pid:-}" ] || { kill -KILL "$bus_pid"; wait "$bus_pid"; } 2>/dev/null; bus_pid=; }

# start_logind UID [COMMAND...]: starts it with one session of the user UID; COMMAND is a prefix that runs it, such as as another user.
start_logind() {
    session_user=$1
    shift
    # Its output goes through a separate file descriptor, which outlives it, so that its last lines can be read.
    rm -f "$TMPDIR/bus/in" "$TMPDIR/bus/out"
    mkfifo "$TMPDIR/bus/in" "$TMPDIR/bus/out"
    "$@" /usr/bin/python3 "$TMPDIR/bus/played-logind.py" "$bus_address" "$session_user" <"$TMPDIR/bus/in" >"$TMPDIR/bus/out" &
    logind_pid=$!
    exec {logind_in}>"$TMPDIR/bus/in" {logind_out}<"$TMPDIR/bus/out"
    expect_logind playing
}
stop_logind() {
    [ -n "${logind_pid:-}" ] || return
    exec {logind_in}>&- {logind_out}<&-
    { kill "$logind_pid"; wait "$logind_pid"; } 2>/dev/null
    logind_pid=
}

tell_logind() { echo "$1" >&"$logind_in"; }
# expect_logind LINE: waits until it prints the line; earlier lines are skipped.
expect_logind() {
    while read -r -t "$hang_seconds" said <&"$logind_out"; do [ "$said" = "$1" ] && return 0; done
    echo "FAILED: the login manager did not report: $1"
    exit 1
}
