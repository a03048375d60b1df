#!/usr/bin/python3
"""A simulated provider of the Secret Service on the session bus, for what real ones do only with a user, or rarely.

other-provider.py accepts | refuses | forged | leaves | silent | hostile | waits FILE | many FILE [plain]: owns
org.freedesktop.secrets, and prints `playing`. Its prompt is accepted, refused, or makes it leave the bus; `forged` is refused after
another connection reported it as accepted; `silent` never completes a prompt; `hostile` sends invalid replies; `waits` has a second
locked collection, whose prompt is accepted once FILE exists; `many` has a hundred more items, and reads from FILE, a pipe, the number
of the item at which it prints `stopped` and reads the next such number before it goes on. `plain` has no encrypted sessions. It prints
`session ALGORITHM`, `prompt`, `dismissed`, `secret PATH` and `lock PATHS` for the requests that it gets.
"""
import os
import sys

import dbus
import dbus.lowlevel
import dbus.mainloop.glib
import dbus.service
from cryptography.hazmat.primitives import hashes, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from gi.repository import GLib

NAME = "org.freedesktop.secrets"
ROOT = "/org/freedesktop/secrets"
S = "org.freedesktop.Secret."
AES = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
PRIME = int("ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437"
            "4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7edee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff", 16)
conduct, is_plain = sys.argv[1], sys.argv[2:] == ["plain"]
loop = GLib.MainLoop()


def say(text):
    print(text, flush=True)


def told():
    with open(sys.argv[2]) as pipe:
        return int(pipe.read())


class Failure(dbus.DBusException):
    def __init__(self, name, text):
        super().__init__(text, name=name)


class Played(dbus.service.Object):
    def __init__(self, path, interface):
        super().__init__(bus, path)
        self.path, self.interface = path, interface

    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return dbus.Dictionary(self.properties(), signature="sv")


class Item(Played):
    def __init__(self, path, label, attributes, secret, kind="text/plain", created=1_600_000_000, is_locked=False):
        super().__init__(path, S + "Item")
        self.label, self.attributes, self.secret, self.kind = label, attributes, secret, kind
        self.created, self.is_locked = created, is_locked
        self.answer = None

    def properties(self):
        return {"Locked": self.is_locked, "Attributes": dbus.Dictionary(self.attributes, signature="ss"), "Label": self.label,
                "Created": dbus.UInt64(self.created), "Modified": dbus.UInt64(self.created + 60)}

    @dbus.service.method(S + "Item", in_signature="o", out_signature="(oayays)")
    def GetSecret(self, session):
        global stop
        say(f"secret {self.path}")
        if self.path == f"{login.path}/{stop}":
            say("stopped")
            stop = told()
        if self.answer:
            return self.answer(session)
        if self.is_locked:
            raise Failure(S + "Error.IsLocked", "It is locked")
        return sealed(session, self.secret, self.kind)


class Collection(Played):
    def __init__(self, name, label, is_locked=False):
        super().__init__(f"{ROOT}/collection/{name}", S + "Collection")
        self.label, self.is_locked, self.items = label, is_locked, []

    def add(self, *arguments, **more):
        self.items.append(Item(f"{self.path}/{len(self.items) + 1}", *arguments, **more))
        return self.items[-1]

    def properties(self):
        paths = [] if self.is_locked else [item.path for item in self.items] + (["/nowhere/1"] if conduct == "hostile" else [])
        return {"Items": dbus.Array(paths, signature="o"), "Label": self.label, "Locked": self.is_locked}


class Prompt(Played):
    def __init__(self, path, collection):
        super().__init__(path, S + "Prompt")
        self.collection = collection

    @dbus.service.method(S + "Prompt", in_signature="s", sender_keyword="client")
    def Prompt(self, window, client):
        say("prompt")
        if conduct == "forged":
            forger = dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
            for destination in client, None:
                message = dbus.lowlevel.SignalMessage(self.path, S + "Prompt", "Completed")
                message.append(False, dbus.Array([self.collection.path], signature="o", variant_level=1), signature="bv")
                if destination:
                    message.set_destination(destination)
                forger.send_message(message)
            forger.flush()
            # A reply to another call: the bus has received the signals before later ones of this connection.
            forger.get_name_owner(NAME)
            say("forged")
        if conduct == "leaves":
            GLib.idle_add(os._exit, 0)
        elif self.collection is safe:
            GLib.timeout_add(20, self.complete_when_told)
        elif conduct != "silent":
            GLib.idle_add(self.complete)

    def complete_when_told(self):
        if os.path.exists(sys.argv[2]):
            self.complete()
            return False
        return True

    def complete(self):
        if conduct in ("accepts", "hostile", "waits", "many"):
            self.collection.is_locked = False
        self.Completed(self.collection.is_locked, dbus.Array([self.collection.path], signature="o", variant_level=1))

    @dbus.service.method(S + "Prompt")
    def Dismiss(self):
        say("dismissed")

    @dbus.service.signal(S + "Prompt", signature="bv")
    def Completed(self, dismissed, result):
        pass


class Service(Played):
    def properties(self):
        return {"Collections": dbus.Array([one.path for one in collections], signature="o")}

    @dbus.service.method(S + "Service", in_signature="sv", out_signature="vo")
    def OpenSession(self, algorithm, given):
        global key
        say(f"session {algorithm}")
        if algorithm == "plain":
            return dbus.String("", variant_level=1), f"{ROOT}/session/1"
        if is_plain:
            raise Failure("org.freedesktop.DBus.Error.NotSupported", "It has only plain sessions")
        own = int.from_bytes(os.urandom(128), "big")
        shared = pow(int.from_bytes(bytes(given), "big"), own, PRIME).to_bytes(128, "big")
        key = HKDF(algorithm=hashes.SHA256(), length=16, salt=None, info=b"").derive(shared)
        return dbus.ByteArray(pow(2, own, PRIME).to_bytes(128, "big"), variant_level=1), f"{ROOT}/session/1"

    @dbus.service.method(S + "Service", in_signature="s", out_signature="o")
    def ReadAlias(self, alias):
        return {"session": session_items.path, "default": login.path}.get(alias, "/")

    @dbus.service.method(S + "Service", in_signature="ao", out_signature="aoo")
    def Unlock(self, paths):
        for prompt in prompts:
            if prompt.collection.path in paths and prompt.collection.is_locked:
                return dbus.Array([], signature="o"), prompt.path
        for item in [item for one in collections for item in one.items if item.path in paths]:
            item.is_locked = False
        return paths, "/"

    @dbus.service.method(S + "Service", in_signature="ao", out_signature="aoo")
    def Lock(self, paths):
        say("lock " + " ".join(paths))
        for collection in collections:
            collection.is_locked = collection.is_locked or collection.path in paths
        return paths, "/"


def sealed(session, secret, kind):
    if key is None:
        return dbus.ObjectPath(session), dbus.ByteArray(b""), dbus.ByteArray(secret), kind
    vector, padder = os.urandom(16), padding.PKCS7(128).padder()
    cipher = Cipher(algorithms.AES(key), modes.CBC(vector)).encryptor()
    value = cipher.update(padder.update(secret) + padder.finalize()) + cipher.finalize()
    return dbus.ObjectPath(session), dbus.ByteArray(vector), dbus.ByteArray(value), kind


key = None
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
login, vault, session_items = Collection("login", "Login"), Collection("vault", "Vault ä", is_locked=True), Collection("session", "Session")
safe = Collection("safe", "Safe", is_locked=True) if conduct == "waits" else None
collections = [login, vault, session_items] + ([safe] if safe else [])
prompts = [Prompt(f"{ROOT}/prompt/{number}", one) for number, one in enumerate([vault, safe], 1) if one]
login.add("First", {"service": "played", "username": "anna"}, b"first of two", created=1_600_000_000)
login.add("Second", {"service": "played", "username": "anna"}, b"second of two", created=1_600_000_001)
login.add("Asks each program", {"service": "asking"}, b"asked", is_locked=True)
vault.add("In the vault", {"service": "vault", "ünï": ""}, b"\0\xff in the vault", "application/octet-stream")
session_items.add("Until the logout", {"service": "fleeting"}, b"fleeting")
if conduct == "waits":
    # More than a pipe buffers.
    login.add("Large", {"service": "large"}, b"x" * 900_000)
if conduct == "many":
    for number in range(1, 101):
        login.add(f"Item {number}", {"service": "many", "username": f"u{number}"}, f"secret {number}".encode())
stop = told() if conduct == "many" else 0
if conduct == "hostile":
    login.add("Escape \x1b[2J\r\n and \u202e turned", {"service": "escape"}, b"escape")
    login.add("Reserved", {"service": "ssh-key", "username": "evil"}, b"reserved")
    login.add("Large", {"service": "large"}, b"x" * ((1 << 20) + 1))
    login.add("Many", {f"name {n}": "v" * 100 for n in range(1000)}, b"many")
    for label, answer in [
            ("Short vector", lambda path: (path, dbus.ByteArray(b"short"), dbus.ByteArray(b"x" * 16), "text/plain")),
            ("No padding", lambda path: (path, dbus.ByteArray(b"v" * 16), dbus.ByteArray(b"x" * 15), "text/plain")),
    ]:
        login.add(label, {"service": label}, b"").answer = answer
service = Service(ROOT, S + "Service")
assert bus.request_name(NAME, 4) == 1, "the name is another's"
say("playing")
loop.run()
