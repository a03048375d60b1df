#!/usr/bin/python3
"""A user's systemd, played at its private socket as far as flatpak asks for it: played-systemd.py SOCKET FOLDER says `playing`, puts
processes into a control group below FOLDER with the name of the scope that they are to be in, and says that name."""
import os
import sys

import gi

from gi.repository import Gio, GLib

MANAGER = """<node><interface name="org.freedesktop.systemd1.Manager">
<method name="StartTransientUnit"><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="a(sv)" direction="in"/>
<arg type="a(sa(sv))" direction="in"/><arg type="o" direction="out"/></method>
<signal name="JobRemoved"><arg type="u"/><arg type="o"/><arg type="s"/><arg type="s"/></signal></interface></node>"""
PATH, JOB = "/org/freedesktop/systemd1", "/org/freedesktop/systemd1/job/1"
socket, folder = sys.argv[1:]
interface = Gio.DBusNodeInfo.new_for_xml(MANAGER).interfaces[0]
connections = []


def called(connection, _sender, _path, name, _member, arguments, invocation):
    unit, _mode, properties, _others = arguments.unpack()
    group = os.path.join(folder, os.path.basename(unit))
    os.makedirs(group, exist_ok=True)
    for process in dict(properties)["PIDs"]:
        with open(f"{group}/cgroup.procs", "w") as file:
            file.write(str(process))
    print(unit, flush=True)
    invocation.return_value(GLib.Variant("(o)", (JOB,)))
    connection.emit_signal(None, PATH, name, "JobRemoved", GLib.Variant("(uoss)", (1, JOB, unit, "done")))


def connected(_server, connection):
    connections.append(connection)
    connection.register_object(PATH, interface, called, None, None)
    return True


server = Gio.DBusServer.new_sync(f"unix:path={socket}", Gio.DBusServerFlags.NONE, Gio.dbus_generate_guid(), None, None)
server.connect("new-connection", connected)
server.start()
print("playing", flush=True)
GLib.MainLoop().run()
