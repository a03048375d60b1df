"""A portal of the desktop, on the session bus, that never takes the picture of the screen that it is asked for. It writes into FOLDER:

    ready       it can be asked
    asked       somebody asks
    left        whoever asked has left the bus, and what was left then of the 60 seconds in which the picture is awaited
"""
import pathlib
import sys
import time

from gi.repository import Gio, GLib

FOLDER = pathlib.Path(sys.argv[1])
PATH = "/org/freedesktop/portal/desktop"
INTERFACES = Gio.DBusNodeInfo.new_for_xml("""<node><interface name="org.freedesktop.portal.Screenshot">
  <method name="Screenshot"><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/><arg type="o" direction="out"/></method>
  <property name="version" type="u" access="read"/></interface></node>""").interfaces


def note(name, text=""):
    new = FOLDER / ("new-" + name)
    new.write_text(text)
    new.rename(FOLDER / name)


def called(bus, sender, _path, _interface, _method, _arguments, invocation):
    asked = time.monotonic()
    Gio.bus_watch_name_on_connection(bus, sender, 0, None, lambda *_: note("left", str(60 - int(time.monotonic() - asked))))
    invocation.return_value(GLib.Variant("(o)", (f"{PATH}/request/played",)))
    note("asked")


bus = Gio.bus_get_sync(Gio.BusType.SESSION)
bus.register_object(PATH, INTERFACES[0], called, lambda *_: GLib.Variant("u", 2), None)
# Another portal may have been started on this bus.
Gio.bus_own_name_on_connection(bus, "org.freedesktop.portal.Desktop", Gio.BusNameOwnerFlags.REPLACE, lambda *_: note("ready"), None)
GLib.MainLoop().run()
