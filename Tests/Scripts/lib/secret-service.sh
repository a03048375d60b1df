# To be sourced after command-line.sh: a separate session bus, and Vauban's Secret Service on it, which the bus starts. Defines try WORD (runs a
# client of secret-service.py), start_bus, service_process, kill_service, finish.
for program in secret-tool dbus-daemon busctl; do command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }; done
/usr/bin/python3 -c 'import gi, secretstorage, keyring; gi.require_version("Secret", "1"); from gi.repository import Secret' 2>/dev/null ||
    { echo 'there is no gir1.2-secret-1, python3-secretstorage or python3-keyring here'; exit 77; }
[ -x "$VAUBAN_BUILD/vauban-secret-service" ] || { echo 'vauban-secret-service is not built'; exit 77; }
chmod 700 "$TMPDIR"
export XDG_CONFIG_HOME=$TMPDIR/config XDG_DATA_HOME=$TMPDIR/share PYTHON_KEYRING_BACKEND=keyring.backends.SecretService.Keyring
helper=$PWD/Tests/Scripts/lib/secret-service.py
try() { timeout 240 /usr/bin/python3 "$helper" "$@" || fail "secret-service.py $*"; }
export DBUS_SESSION_BUS_ADDRESS=unix:path=$TMPDIR/bus/socket

mkdir -p "$TMPDIR/bus"
cat >"$TMPDIR/bus/config" <<CONFIG
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type> <listen>unix:path=$TMPDIR/bus/socket</listen> <auth>EXTERNAL</auth>
  <standard_session_servicedirs/>
  <policy context="default"> <allow send_destination="*" eavesdrop="true"/> <allow eavesdrop="true"/> <allow own="*"/> </policy>
</busconfig>
CONFIG
start_bus() {
    rm -f "$TMPDIR/bus/socket"
    coproc BUS { exec dbus-daemon --config-file="$TMPDIR/bus/config" --nofork --nopidfile --print-address=1 2>"$TMPDIR/bus/log"; }
    bus_pid=$BUS_PID
    read -r -t "$hang_seconds" _ <&"${BUS[0]}" || fail 'the bus does not start'
}
owner_process() {
    busctl --address="$DBUS_SESSION_BUS_ADDRESS" call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus GetConnectionUnixProcessID s "$1" 2>/dev/null | cut -d' ' -f2
}
service_process() { owner_process org.freedesktop.secrets; }
# kill_service: kills it, and returns when the bus has noticed: until then the bus would pass requests to the killed process, $killed.
kill_service() { killed=$(service_process); kill -KILL "$killed" && forgotten "$killed"; }
# forgotten PROCESS: waits until the bus no longer has this process as the owner of the service's name.
forgotten() { awaited "the bus notices the end of process $1" is_another "$1"; }
is_another() { [ "$(service_process)" != "$1" ]; }
finish() { { kill "$bus_pid"; wait "$bus_pid"; } 2>/dev/null; vauban stop >/dev/null 2>&1; }
trap finish EXIT
