# For tests of the fingerprint reader: real fprintd with one of libfprint's virtual sensors, on a separate bus, with real polkit for root and
# a substitute for other users. To be sourced after own-bus.sh.
# Defines sensor, start_polkit, start_fprintd, stop_fprintd, kill_fprintd, stop_fingers, finger.
for program in /usr/libexec/fprintd /usr/lib/polkit-1/polkitd; do [ -x "$program" ] || { echo "there is no $program here"; exit 77; }; done
[ "$(id -u)" = 0 ] || /usr/bin/python3 -c 'import dbusmock' 2>/dev/null || { echo 'there is no python3-dbusmock here'; exit 77; }
sensor=$TMPDIR/sensor
# As the packaged unit creates it: only for the user of fprintd.
install -d -m 700 "$TMPDIR/fprint"
cp Tests/Scripts/lib/own-fprintd.py "$TMPDIR/bus/" && chmod 755 "$TMPDIR/bus/own-fprintd.py"

# finger VERB…: see own-fprintd.py.
finger() { /usr/bin/python3 "$TMPDIR/bus/own-fprintd.py" "$bus_address" "$sensor" "$@"; }

# start_polkit [RULES]: starts it with this file as its only rule; without one every user may use the sensor.
start_polkit() {
    if [ "$(id -u)" = 0 ]; then
        install -d -m 755 "$TMPDIR/rules" "$TMPDIR/no-rules"
        if [ -n "${1:-}" ]; then cp "$1" "$TMPDIR/rules/60-test.rules"
        else echo 'polkit.addRule(function (action) { return action.id.indexOf("net.reactivated.fprint.") === 0 ? polkit.Result.YES : polkit.Result.NOT_HANDLED; });' \
            >"$TMPDIR/rules/60-test.rules"; fi
        chmod 644 "$TMPDIR/rules/60-test.rules"
        # Its folders of rules are fixed, so others are mounted over them, in a separate mount namespace.
        . Tests/Scripts/lib/own-mounts.sh
        # shellcheck disable=SC2086
        DBUS_SYSTEM_BUS_ADDRESS=$bus_address unshare $own_mounts sh -c \
            'mount --bind "$0/rules" /usr/share/polkit-1/rules.d && mount --bind "$0/no-rules" /etc/polkit-1/rules.d && exec /usr/lib/polkit-1/polkitd' "$TMPDIR" \
                >"$TMPDIR/polkit.log" 2>&1 &
    else
        cat >"$TMPDIR/polkit.py" <<'STANDIN'
import dbusmock, dbus, dbus.mainloop.glib, sys
from gi.repository import GLib
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(sys.argv[1])
name = dbus.service.BusName("org.freedesktop.PolicyKit1", bus)
polkit = dbusmock.mockobject.DBusMockObject(name, "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.PolicyKit1.Authority", {})
polkit.AddTemplate("polkitd", dbus.Dictionary({}, signature="sv"))
polkit.AllowUnknown(True)
GLib.MainLoop().run()
STANDIN
        /usr/bin/python3 "$TMPDIR/polkit.py" "$bus_address" >"$TMPDIR/polkit.log" 2>&1 &
    fi
    polkit_pid=$!
    finger await org.freedesktop.PolicyKit1 || { cat "$TMPDIR/polkit.log"; echo 'polkit does not start'; exit 1; }
}
start_fprintd() {
    rm -f "$sensor"
    DBUS_SYSTEM_BUS_ADDRESS=$bus_address STATE_DIRECTORY=$TMPDIR/fprint FP_VIRTUAL_DEVICE=$sensor FP_DRIVERS_WHITELIST=virtual_device \
        /usr/libexec/fprintd --no-timeout >>"$TMPDIR/fprintd.log" 2>&1 &
    fprintd_pid=$!
    finger await net.reactivated.Fprint || { cat "$TMPDIR/fprintd.log"; echo 'fprintd does not start'; exit 1; }
}
# start_fprintd_by_bus: from here on the bus starts it on demand, and it ends by itself when it is not used; $TMPDIR/fprintd.pid has its process
# number. stop_fprintd_by_bus: ends that.
reload_bus() { dbus-send --bus="$bus_address" --dest=org.freedesktop.DBus --print-reply / org.freedesktop.DBus.ReloadConfig >/dev/null; }
start_fprintd_by_bus() {
    cat >"$TMPDIR/bus/fprintd" <<PROGRAM
#!/bin/sh
echo \$\$ >"$TMPDIR/fprintd.pid"
rm -f "$sensor"
DBUS_SYSTEM_BUS_ADDRESS="$bus_address" STATE_DIRECTORY="$TMPDIR/fprint" FP_VIRTUAL_DEVICE="$sensor" FP_DRIVERS_WHITELIST=virtual_device \\
    exec /usr/libexec/fprintd >>"$TMPDIR/fprintd.log" 2>&1
PROGRAM
    chmod 755 "$TMPDIR/bus/fprintd"
    printf '%s\n' '[D-BUS Service]' Name=net.reactivated.Fprint "Exec=\"$TMPDIR/bus/fprintd\"" User=root >"$TMPDIR/bus/services/net.reactivated.Fprint.service"
    reload_bus
}
stop_fprintd_by_bus() {
    rm -f "$TMPDIR/bus/services/net.reactivated.Fprint.service"
    reload_bus
    kill -KILL "$(cat "$TMPDIR/fprintd.pid")"
}
kill_fprintd() { kill -KILL "$fprintd_pid"; wait "$fprintd_pid" 2>/dev/null; fprintd_pid=; }
stop_fprintd() { [ -z "${fprintd_pid:-}" ] || kill_fprintd; }
stop_fingers() { stop_fprintd; [ -z "${polkit_pid:-}" ] || { kill "$polkit_pid"; wait "$polkit_pid"; } 2>/dev/null; polkit_pid=; }
