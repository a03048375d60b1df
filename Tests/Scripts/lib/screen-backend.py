"""A backend of xdg-desktop-portal for pictures of the screen, on the session bus, which does as the file SCREEN_CONDUCT says:

    cancel | fail            answers so
    silent                   never answers
    address TEXT             answers with this address
    picture PICTURE PATH     copies a picture to the path, and answers with its address
"""
import os
import pathlib
import shutil
import urllib.parse

from gi.repository import Gio, GLib

INTERFACES = Gio.DBusNodeInfo.new_for_xml("""<node><interface name="org.freedesktop.impl.portal.Screenshot">
  <method name="Screenshot"><arg type="o" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/>
    <arg type="u" direction="out"/><arg type="a{sv}" direction="out"/></method>
  <property name="version" type="u" access="read"/></interface></node>""").interfaces


def called(_bus, _sender, _path, _interface, _method, _arguments, invocation):
    verb, _, rest = pathlib.Path(os.environ["SCREEN_CONDUCT"]).read_text().strip().partition(" ")
    address = rest
    if verb == "silent":
        return
    if verb == "picture":
        picture, _, path = rest.partition(" ")
        shutil.copyfile(picture, path)
        address = "file://" + urllib.parse.quote(path)
    code = {"cancel": 1, "fail": 2}.get(verb, 0)
    answer = {"uri": GLib.Variant("s", address)} if code == 0 and address else {}
    invocation.return_value(GLib.Variant("(ua{sv})", (code, answer)))


bus = Gio.bus_get_sync(Gio.BusType.SESSION)
# For a backend of version 2 the portal first consults its own list of permissions.
version = int(os.environ.get("SCREEN_VERSION", 1))
bus.register_object("/org/freedesktop/portal/desktop", INTERFACES[0], called, lambda *_: GLib.Variant("u", version), None)
Gio.bus_own_name_on_connection(bus, "org.freedesktop.impl.portal.desktop.played", 0, None, None)
GLib.MainLoop().run()
