#!/usr/bin/python3
"""A simulated KWallet on the session bus, for what real ones do rarely or never.

other-wallet.py closes | closes-early | leaves | hostile | waits | gives TEXT: owns org.kde.kwalletd5, and prints `playing`. Its wallet closes
after the first password, or once its entries are listed; it leaves the bus at the first entry; it sends invalid replies; it has a second
wallet, whose password the user does not enter, and prints `open WALLET` and `close WALLET` for these requests; or every password is TEXT.
"""
import os
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

INTERFACE = "org.kde.KWallet"
PASSWORD, STREAM, MAP = 1, 2, 3
conduct = sys.argv[1]
wallets = {"kdewallet": {"Mail": {"anna": (PASSWORD, "of anna"), "bob": (PASSWORD, "of bob")}}}
if conduct == "waits":
    wallets["slow"] = {}
if conduct == "gives":
    wallets["kdewallet"]["Mail"] = {name: (PASSWORD, sys.argv[2]) for name in ("anna", "bob")}
if conduct == "hostile":
    wallets["kdewallet"] = {
        "Mail": {
            "anna": (PASSWORD, "of anna"), "no map": (MAP, dbus.ByteArray(b"\0\0\0\1x")), "type 7": (7, dbus.ByteArray(b"x")),
            "bytes": (PASSWORD, dbus.ByteArray(b"\xff\xfe")), "a number": (PASSWORD, dbus.Int32(7)), "an error": (PASSWORD, None),
            "\x1b[2J\r\n and \u202e turned": (PASSWORD, "escape")},
        "ssh-key": {"evil": (PASSWORD, "reserved")}}
    # Names that must not share a collection, nor lead to the session collection.
    for name in "session", "a b", "a_20b":
        wallets[name] = {"Mail": {"anna": (PASSWORD, f"of {name}")}}
closed = False
reads = 0


def say(text):
    if conduct == "waits":
        print(text, flush=True)


class Played(dbus.service.Object):
    def method(signature):
        return dbus.service.method(INTERFACE, in_signature=signature)

    @method("")
    def wallets(self):
        return dbus.Array(wallets, signature="s")

    @method("")
    def networkWallet(self):
        return "kdewallet"

    @dbus.service.method(INTERFACE)
    def isOpen(self, wallet):
        # A wallet that waits for its password is closed, and gets a handle when it opens.
        return not closed and (conduct != "waits" or isinstance(wallet, int))

    @dbus.service.method(INTERFACE, in_signature="sxs", async_callbacks=("answer", "refuse"))
    def open(self, wallet, window, application, answer, refuse):
        say(f"open {wallet}")
        if wallet != "slow":
            answer(dbus.Int32(list(wallets).index(wallet) + 1))

    @dbus.service.method(INTERFACE)
    def close(self, wallet, *words):
        say(f"close {wallet}")
        return dbus.Int32(1)

    @method("s")
    def users(self, wallet):
        return dbus.Array([], signature="s")

    @method("is")
    def folderList(self, handle, application):
        return dbus.Array(self.wallet(handle), signature="s")

    @method("iss")
    def entryList(self, handle, folder, application):
        global closed
        names = list(self.wallet(handle)[folder])
        closed = closed or conduct == "closes-early"
        return dbus.Array([] if closed else names, signature="s")

    @method("isss")
    def entryType(self, handle, folder, name, application):
        if conduct == "leaves":
            os._exit(0)
        return dbus.Int32(0 if closed else self.wallet(handle)[folder][name][0])

    @method("isss")
    def readPassword(self, handle, folder, name, application):
        global closed, reads
        reads += 1
        # It closes between the request for the type and this one.
        closed = closed or (conduct == "closes" and reads == 2)
        value = "" if closed else self.wallet(handle)[folder][name][1]
        if value is None:
            raise dbus.DBusException("It cannot be read\x1b[2J", name="org.kde.KWallet.Error.Broken")
        return value

    @method("isss")
    def readMap(self, handle, folder, name, application):
        return self.wallet(handle)[folder][name][1]

    def wallet(self, handle):
        return wallets[list(wallets)[handle - 1]]


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
played = Played(bus, "/modules/kwalletd5")
assert bus.request_name("org.kde.kwalletd5", 4) == 1, "the name is another's"
print("playing", flush=True)
GLib.MainLoop().run()
