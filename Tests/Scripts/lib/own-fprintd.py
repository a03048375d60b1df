"""Simulates a user at the virtual sensor of fprintd, and another program that uses it.

own-fprintd.py BUS SOCKET await NAME      waits until the name has an owner on the bus
own-fprintd.py BUS SOCKET touch COMMAND…  sends each as soon as a finger is wanted and the result of the last one has arrived
own-fprintd.py BUS SOCKET early COMMAND   sends it as soon as the sensor is open, whether a finger is wanted or not
own-fprintd.py BUS SOCKET wanted          waits until a finger is wanted
own-fprintd.py BUS SOCKET hold USER       claims the sensor, prints "held", and releases it when its input ends
own-fprintd.py BUS SOCKET enroll USER FINGER COMMAND   enrolls a finger as another program would; COMMAND is each touch
own-fprintd.py BUS SOCKET delete USER     deletes USER's fingers as another program would
own-fprintd.py BUS SOCKET verify USER COMMAND N       verifies N times, and prints each time from touch to result, in ms
"""
import os
import socket
import sys
import time

import dbus
import dbus.mainloop.glib
from gi.repository import GLib

SECONDS_MAX = int(os.environ.get("hang_seconds", 240))
FPRINT = "net.reactivated.Fprint"
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
address, sensor, verb, *words = sys.argv[1:]
bus = dbus.bus.BusConnection(address)
loop = GLib.MainLoop()


def late():
    print(f"nothing came of: {verb} {' '.join(words)}", file=sys.stderr)
    sys.exit(1)


GLib.timeout_add_seconds(SECONDS_MAX, lambda: (late(), False)[1])


def until(holds, every=None):
    """Runs the loop until a condition holds; signals wake it, or a timer where there are none."""
    timer = GLib.timeout_add(every, lambda: True) if every else None
    while not holds():
        loop.get_context().iteration(True)
    if timer:
        GLib.source_remove(timer)


def device():
    manager = dbus.Interface(bus.get_object(FPRINT, "/net/reactivated/Fprint/Manager", introspect=False), FPRINT + ".Manager")
    return bus.get_object(FPRINT, manager.GetDefaultDevice(), introspect=False)


def sent(command):
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(sensor)
        except OSError:
            return False
        line.sendall(command.encode())
    return True


said = []
for signal in ("VerifyStatus", "EnrollStatus"):
    bus.add_signal_receiver(lambda text, done: said.append((str(text), bool(done))), signal, FPRINT + ".Device")
bus.add_signal_receiver(lambda *_: said.append(("gone", True)), "InterfacesRemoved", "org.freedesktop.DBus.ObjectManager")
bus.add_signal_receiver(lambda *_: None, "PropertiesChanged", "org.freedesktop.DBus.Properties")


def wanted():
    properties = dbus.Interface(device(), "org.freedesktop.DBus.Properties")
    until(lambda: properties.Get(FPRINT + ".Device", "finger-needed"), every=20)


def touch(command):
    wanted()
    said.clear()
    if not sent(command):
        sys.exit(f"the sensor does not take {command}")
    until(lambda: said)
    return said[0]


def claimed(user):
    found = dbus.Interface(device(), FPRINT + ".Device")

    def claim():
        try:
            found.Claim(user)
        except dbus.DBusException as error:
            if error.get_dbus_name() != FPRINT + ".Error.AlreadyInUse":
                raise
            return False
        return True

    # fprintd hears a moment later that an earlier client has ended.
    until(claim, every=20)
    return found


if verb == "await":
    until(lambda: bus.name_has_owner(words[0]), every=20)
elif verb == "touch":
    for command in words:
        print(command, *touch(command), flush=True)
elif verb == "early":
    until(lambda: sent(words[0]), every=1)
elif verb == "wanted":
    wanted()
elif verb == "hold":
    held = claimed(words[0])
    print("held", flush=True)
    sys.stdin.read()
    held.Release()
elif verb == "enroll":
    user, finger, command = words
    found = claimed(user)
    found.EnrollStart(finger)
    while not said or not said[0][1]:
        touch(command)
    found.EnrollStop()
    found.Release()
    if said[0][0] != "enroll-completed":
        sys.exit(f"it is not enrolled: {said[0][0]}")
elif verb == "delete":
    found = claimed(words[0])
    found.DeleteEnrolledFingers2()
    found.Release()
elif verb == "verify":
    user, command, count = words
    found = claimed(user)
    for _ in range(int(count)):
        found.VerifyStart("any")
        began = time.monotonic()
        touch(command)
        print(f"{(time.monotonic() - began) * 1000:.3f}", flush=True)
        found.VerifyStop()
    found.Release()
else:
    sys.exit(__doc__)
