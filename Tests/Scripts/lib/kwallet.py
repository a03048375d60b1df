"""Clients of KWallet's interface, each selected by a word: Python's keyring, and calls as KDE's library, Chromium and hostile programs make them."""
import hashlib
import os
import struct
import sys

import gi

from gi.repository import Gio, GLib

NAMES = ["org.kde.kwalletd5", "org.kde.kwalletd6"]
PATHS = ["/modules/kwalletd5", "/modules/kwalletd6"]
INTERFACE = "org.kde.KWallet"
FAILED, INVALID = "org.freedesktop.DBus.Error.Failed", "org.freedesktop.DBus.Error.InvalidArgs"
LIMITS, DENIED = "org.freedesktop.DBus.Error.LimitsExceeded", "org.freedesktop.DBus.Error.AccessDenied"
UNSUPPORTED, LOCKED = "org.freedesktop.DBus.Error.NotSupported", "org.freedesktop.Secret.Error.IsLocked"
APP = "a test"
OURS = "kdewallet"
PASSWORD, STREAM, MAP = 1, 2, 3
# Only ends a test that hangs: the test waits for an event, however long a loaded machine takes.
SECONDS_MAX = int(os.environ.get("hang_seconds", 240))


def connect():
    return Gio.DBusConnection.new_for_address_sync(
        os.environ["DBUS_SESSION_BUS_ADDRESS"],
        Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)


bus = connect()


def call(member, signature="()", *arguments, on=None, number=0, timeout=SECONDS_MAX * 1000):
    value = GLib.Variant(signature, arguments) if signature != "()" else None
    # Bytes, also empty ones, are not unpacked to a list.
    answer = (on or bus).call_sync(NAMES[number], PATHS[number], INTERFACE, member, value, None, 0, timeout, None)
    parts = [plain(answer.get_child_value(place)) for place in range(answer.n_children())]
    return parts[0] if parts else None


def plain(value):
    if value.get_type_string() == "ay":
        return value.get_data_as_bytes().get_data() or b""
    if value.get_type_string() == "a{sv}":
        entries = [value.get_child_value(place) for place in range(value.n_children())]
        return {entry.get_child_value(0).unpack(): plain(entry.get_child_value(1).get_variant()) for entry in entries}
    return value.unpack()


def refused(error, member, signature="()", *arguments, **more):
    try:
        answer = call(member, signature, *arguments, **more)
    except GLib.Error as problem:
        got = Gio.DBusError.get_remote_error(problem)
        assert got == error, f"{member}: {got}, not {error}: {problem.message}"
        return
    raise AssertionError(f"{member} was not refused: {answer}")


def opened(wallet=OURS, **more):
    handle = call("open", "(sxs)", wallet, 0, APP, **more)
    assert handle > 0, handle
    return handle


def qt_text(text):
    encoded = text if isinstance(text, bytes) else text.encode("utf-16-be")
    return struct.pack(">I", len(encoded)) + encoded


def qt_map(*entries):
    parts = (b"\xff\xff\xff\xff" if value is None else qt_text(value) for entry in entries for value in entry)
    return struct.pack(">I", len(entries)) + b"".join(parts)


class Signals:
    """The signals that arrive on a connection. `until` waits for one."""

    def __init__(self, on):
        self.context, self.seen, self.on = GLib.MainContext.default(), [], on
        on.signal_subscribe(None, INTERFACE, None, None, None, 0, self.add)
        on.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId", None, None, 0, SECONDS_MAX * 1000, None)

    def add(self, _bus, _sender, path, _interface, member, values):
        if path == PATHS[0]:
            self.seen.append((member, *values.unpack()))

    def until(self, *wanted):
        late = []
        source = GLib.timeout_add_seconds(SECONDS_MAX, lambda: late.append(True))
        while wanted not in self.seen:
            assert not late, f"{wanted} is not among {self.seen}"
            self.context.iteration(True)
        GLib.source_remove(source)


def entries():
    """The calls of KDE's library for a program, through both names."""
    signals = Signals(bus)
    assert call("isEnabled") and call("networkWallet") == OURS and call("localWallet", number=1) == OURS
    assert OURS in call("wallets") and not call("isOpen", "(s)", OURS)
    assert call("folderDoesNotExist", "(ss)", OURS, "Mail") and call("keyDoesNotExist", "(sss)", OURS, "Mail", "anna")
    handle = opened()
    signals.until("walletOpened", OURS)
    assert opened(number=1) == handle and call("isOpen", "(i)", handle) and call("isOpen", "(s)", OURS, number=1)
    assert call("users", "(s)", OURS) == [APP]
    assert call("folderList", "(is)", handle, APP) == ["Form Data", "Passwords"]
    assert not call("hasFolder", "(iss)", handle, "Mail", APP) and call("createFolder", "(iss)", handle, "Mail", APP)
    signals.until("folderListUpdated", OURS)
    assert call("hasFolder", "(iss)", handle, "Mail", APP) and not call("folderDoesNotExist", "(ss)", OURS, "Mail")
    assert call("entryList", "(iss)", handle, "Mail", APP) == [] and call("entryType", "(isss)", handle, "Mail", "anna", APP) == 0
    assert call("readPassword", "(isss)", handle, "Mail", "anna", APP) == ""
    assert call("writePassword", "(issss)", handle, "Mail", "anna", "pass wörd 🔑", APP) == 0
    signals.until("folderUpdated", OURS, "Mail")
    assert call("hasEntry", "(isss)", handle, "Mail", "anna", APP) and not call("keyDoesNotExist", "(sss)", OURS, "Mail", "anna")
    assert call("readPassword", "(isss)", handle, "Mail", "anna", APP, number=1) == "pass wörd 🔑"
    assert call("entryType", "(isss)", handle, "Mail", "anna", APP) == PASSWORD
    binary = bytes(range(256))
    assert call("writeEntry", "(issays)", handle, "Mail", "key", binary, APP) == 0
    assert call("readEntry", "(isss)", handle, "Mail", "key", APP) == binary
    assert call("readPassword", "(isss)", handle, "Mail", "key", APP) == ""
    form = qt_map(("user", "anna"), ("ä\n\"\\", "🔑\x01"), ("empty", ""), ("null", None))
    assert call("writeMap", "(issays)", handle, "Mail", "form", form, APP) == 0
    assert call("readMap", "(isss)", handle, "Mail", "form", APP) == form
    assert call("writeEntry", "(issayis)", handle, "Mail", "another form", qt_map(), MAP, APP) == 0
    assert call("entryType", "(isss)", handle, "Mail", "form", APP) == MAP and call("entryType", "(isss)", handle, "Mail", "key", APP) == STREAM
    assert call("entryList", "(iss)", handle, "Mail", APP) == ["anna", "another form", "form", "key"]
    assert call("passwordList", "(iss)", handle, "Mail", APP) == {"anna": "pass wörd 🔑"}
    assert call("mapList", "(iss)", handle, "Mail", APP) == {"form": form, "another form": qt_map()}
    assert call("entriesList", "(iss)", handle, "Mail", APP)["key"] == binary
    assert call("readPasswordList", "(isss)", handle, "Mail", "a*a", APP) == {"anna": "pass wörd 🔑"}
    assert call("readEntryList", "(isss)", handle, "Mail", "?ey", APP) == {"key": binary}
    assert call("readMapList", "(isss)", handle, "Mail", "*", APP).keys() == {"form", "another form"}
    # The same entry with another type is one entry still.
    assert call("writePassword", "(issss)", handle, "Mail", "key", "a password now", APP) == 0
    assert call("readEntry", "(isss)", handle, "Mail", "key", APP) == b"a password now"
    assert call("renameEntry", "(issss)", handle, "Mail", "key", "anna", APP) == -1
    assert call("renameEntry", "(issss)", handle, "Mail", "none", "more", APP) == -1
    assert call("renameEntry", "(issss)", handle, "Mail", "key", "renamed", APP) == 0
    assert call("readPassword", "(isss)", handle, "Mail", "renamed", APP) == "a password now"
    assert not call("hasEntry", "(isss)", handle, "Mail", "key", APP)
    assert call("removeEntry", "(isss)", handle, "Mail", "renamed", APP) == 0
    assert call("removeEntry", "(isss)", handle, "Mail", "renamed", APP) == -3
    # Writing an entry in a missing folder creates the folder, as python3-keyring expects.
    assert call("writePassword", "(issss)", handle, "new folder", "x", "y", APP) == 0
    assert "new folder" in call("folderList", "(is)", handle, APP)
    assert call("removeFolder", "(iss)", handle, "new folder", APP) and not call("hasFolder", "(iss)", handle, "new folder", APP)
    assert not call("removeFolder", "(iss)", handle, "new folder", APP)
    call("sync", "(is)", handle, APP)
    call("reconfigure")
    assert call("close", "(ibs)", handle, False, APP) == 1 and call("isOpen", "(i)", handle)
    assert call("close", "(ibs)", handle, False, APP) == 0 and not call("isOpen", "(i)", handle)
    for signal in ("walletClosed", handle), ("walletClosedId", handle), ("walletClosed", OURS), ("allWalletsClosed",):
        signals.until(*signal)
    # A wallet of another name is a collection of its own.
    second = opened("Work things")
    signals.until("walletCreated", "Work things")
    assert sorted(call("wallets")) == ["Work things", OURS] and call("entryList", "(iss)", second, "Mail", APP) == []
    assert call("writePassword", "(issss)", second, "Mail", "anna", "of work", APP) == 0
    assert call("readPassword", "(isss)", opened(), "Mail", "anna", APP) == "pass wörd 🔑"
    assert call("removeEntry", "(isss)", second, "Mail", "anna", APP) == 0
    assert call("close", "(sb)", "Work things", True) == 0 and call("close", "(sb)", "Work things", True) == -1


def open_async():
    """As Chromium and KDE's library open a wallet."""
    signals = Signals(bus)
    transaction = call("openAsync", "(sxsb)", OURS, 0, APP, True)
    signals.until("walletAsyncOpened", transaction, opened())


def keyring():
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.kwallet.DBusKeyring"
    import keyring as library
    from keyring.backends.kwallet import DBusKeyring
    call("isEnabled")
    assert isinstance(library.get_keyring(), DBusKeyring), library.get_keyring()
    assert library.get_password("mail.example.org", "anna") is None
    library.set_password("mail.example.org", "anna", "of keyring ä")
    assert library.get_password("mail.example.org", "anna") == "of keyring ä"
    assert library.get_credential("mail.example.org", None).username == "anna"
    library.delete_password("mail.example.org", "anna")
    assert library.get_password("mail.example.org", "anna") is None
    library.set_password("mail.example.org", "anna", "of keyring")


def hostile():
    """Unknown handles and those of other clients, invalid values and types, and a client that disconnects."""
    handle, other = opened(), connect()
    for wrong in 0, -1, 1, handle ^ 1, 2 ** 31 - 1:
        refused(INVALID, "readPassword", "(isss)", wrong, "Mail", "anna", APP)
        refused(INVALID, "entryList", "(iss)", wrong, "Mail", APP)
        refused(INVALID, "writePassword", "(issss)", wrong, "Mail", "anna", "x", APP)
        assert not call("isOpen", "(i)", wrong) and call("close", "(ibs)", wrong, True, APP) == -1
    refused(INVALID, "readPassword", "(isss)", handle, "Mail", "anna", APP, on=other)
    refused(INVALID, "removeFolder", "(iss)", handle, "Mail", APP, on=other)
    assert not call("isOpen", "(i)", handle, on=other) and call("close", "(ibs)", handle, True, APP, on=other) == -1
    own = opened(on=other)
    assert own != handle and call("close", "(sb)", OURS, False) == 1
    other.close_sync(None)
    assert call("isOpen", "(i)", handle)
    # Values of all sizes.
    for size in 0, 1, 65536, 1 << 20:
        value = os.urandom(size)
        assert call("writeEntry", "(issays)", handle, "sizes", "e", value, APP) == 0
        assert call("readEntry", "(isss)", handle, "sizes", "e", APP) == value, size
        assert call("writePassword", "(issss)", handle, "sizes", "p", "p" * size, APP) == 0
        assert call("readPassword", "(isss)", handle, "sizes", "p", APP) == "p" * size, size
    refused(LIMITS, "writeEntry", "(issays)", handle, "sizes", "e", bytes((1 << 20) + 1), APP)
    assert len(call("readEntry", "(isss)", handle, "sizes", "e", APP)) == 1 << 20
    refused(LIMITS, "writePassword", "(issss)", handle, "sizes", "n" * 20000, "x", APP)
    refused(LIMITS, "createFolder", "(iss)", handle, "f" * 20000, APP)
    assert call("removeFolder", "(iss)", handle, "sizes", APP)
    # Unknown types, and values that do not match their type.
    for kind in 0, 4, -1, 1 << 30:
        assert call("writeEntry", "(issayis)", handle, "types", "e", b"x", kind, APP) == -1
    assert call("writeEntry", "(issayis)", handle, "types", "e", b"\xff\xfe", PASSWORD, APP) == -1
    assert call("writeEntry", "(issayis)", handle, "types", "e", b"a\0b", PASSWORD, APP) == -1
    maps = [b"x", b"\0\0\0\1", qt_map(("a", "b"))[:-1], qt_map(("a", "b")) + b"x", b"\xff" * 4, struct.pack(">I", 1) + b"\0\0\0\3abc" * 2,
            struct.pack(">II", 1, 0xFFFFFFFE) + bytes(64)]
    for malformed in maps:
        assert call("writeMap", "(issays)", handle, "types", "e", malformed, APP) == -1, malformed
    assert not call("hasFolder", "(iss)", handle, "types", APP)
    # A lone surrogate, which other programs do not accept as text, and duplicate names.
    odd = qt_map(("a", b"\xd8\x00"), ("a", b"\xdc\x00\xd8\x00"), ("é", "e\u0301"))
    assert call("writeMap", "(issays)", handle, "types", "m", odd, APP) == 0 and call("readMap", "(isss)", handle, "types", "m", APP) == odd
    assert call("writeMap", "(issays)", handle, "types", "m", b"", APP) == 0 and call("readMap", "(isss)", handle, "types", "m", APP) == qt_map()
    # Names that look alike, have slashes, or are empty.
    for folder, name in ("é", "x"), ("e\u0301", "x"), ("a/b", "c"), ("a", "b/c"), ("", ""), ("/", "/\u0301"):
        assert call("writePassword", "(issss)", handle, folder, name, f"{folder}|{name}", APP) == 0
        assert call("createFolder", "(iss)", handle, folder, APP)
    for folder, name in ("é", "x"), ("e\u0301", "x"), ("a/b", "c"), ("a", "b/c"), ("", ""), ("/", "/\u0301"):
        assert call("readPassword", "(isss)", handle, folder, name, APP) == f"{folder}|{name}"
        assert call("entryList", "(iss)", handle, folder, APP) == [name]
        assert call("removeFolder", "(iss)", handle, folder, APP)
    assert call("removeFolder", "(iss)", handle, "types", APP)
    # Unsupported calls are refused with a clear error.
    refused(UNSUPPORTED, "deleteWallet", "(s)", OURS)
    refused(UNSUPPORTED, "changePassword", "(sxs)", OURS, 0, APP)
    refused(UNSUPPORTED, "pamOpen", "(sayi)", OURS, b"x", 0)
    assert call("openPath", "(sxs)", "/etc/passwd", 0, APP) == -1 and call("openPathAsync", "(sxsb)", "/etc/passwd", 0, APP, True) == -1
    assert call("open", "(sxs)", "", 0, APP) == -1 and call("open", "(sxs)", "w" * 5000, 0, APP) == -1
    refused(INVALID, "readPassword", "(ss)", "Mail", "anna")
    refused("org.freedesktop.DBus.Error.UnknownMethod", "migrate", "()")
    # A client has a limited number of open wallets; those of another are not affected.
    greedy = connect()
    for number in range(64):
        assert call("open", "(sxs)", OURS, 0, f"app {number}", on=greedy) > 0
    refused(LIMITS, "open", "(sxs)", OURS, 0, "one more", on=greedy)
    assert opened() == handle
    greedy.close_sync(None)


def stored():
    assert call("writePassword", "(issss)", opened(), "Browser Keys", "Safe Storage", "of the browser", APP) == 0


def reads():
    print(call("readPassword", "(isss)", opened(), "Browser Keys", "Safe Storage", APP))


def locked():
    """While the keychain is locked nothing is reported, and no entry counts as absent."""
    assert not call("folderDoesNotExist", "(ss)", OURS, "Browser Keys")
    assert not call("keyDoesNotExist", "(sss)", OURS, "Browser Keys", "Safe Storage")
    assert call("isEnabled") and call("networkWallet") == OURS and not call("isOpen", "(s)", OURS)


def closed_by_lock():
    """A handle ends when the keychain locks, and its client is notified."""
    signals, handle = Signals(bus), opened()
    print("open", flush=True)
    signals.until("walletClosed", handle)
    signals.until("allWalletsClosed")
    assert not call("isOpen", "(i)", handle)
    refused(INVALID, "readPassword", "(isss)", handle, "Browser Keys", "Safe Storage", APP)


def open_waits():
    """Opening waits for the user on no thread that others need, and continues with the unlock."""
    signals = Signals(bus)
    transaction = call("openAsync", "(sxsb)", OURS, 0, APP, True)
    found = []
    value = GLib.Variant("(sxs)", (OURS, 0, APP))
    bus.call(NAMES[0], PATHS[0], INTERFACE, "open", value, None, 0, SECONDS_MAX * 1000, None, lambda _, result: found.append(bus.call_finish(result)))
    vanishing = connect()
    vanishing.call(NAMES[0], PATHS[0], INTERFACE, "open", value, None, 0, SECONDS_MAX * 1000, None, None)
    assert call("isEnabled", on=vanishing)
    vanishing.close_sync(None)
    assert call("isEnabled") and not found
    print("waiting", flush=True)
    while not found:
        signals.context.iteration(True)
    handle = found[0].unpack()[0]
    assert handle > 0
    signals.until("walletAsyncOpened", transaction, handle)
    assert call("readPassword", "(isss)", handle, "Browser Keys", "Safe Storage", APP) == "of the browser"


def foreign_entry():
    """The data about another program's entry that an application in a sandbox gets without the user's consent."""
    handle = opened()
    assert "Browser Keys" not in call("folderList", "(is)", handle, APP), "its folder is listed"
    assert call("entryList", "(iss)", handle, "Browser Keys", APP) == [], "it is listed"
    assert call("passwordList", "(iss)", handle, "Browser Keys", APP) == {}, "it is read in a list"
    entry = (handle, "Browser Keys", "Safe Storage")
    refused(DENIED, "readPassword", "(isss)", *entry, APP)
    refused(DENIED, "readEntry", "(isss)", *entry, APP)
    refused(DENIED, "writePassword", "(issss)", *entry, "replaced", APP)
    refused(DENIED, "renameEntry", "(issss)", *entry, "renamed", APP)
    refused(DENIED, "removeEntry", "(isss)", *entry, APP)
    call("removeFolder", "(iss)", handle, "Browser Keys", APP)
    assert call("writePassword", "(issss)", handle, "Own", "x", "of the app", APP) == 0
    assert call("readPassword", "(isss)", handle, "Own", "x", APP) == "of the app"
    assert call("entryList", "(iss)", handle, "Own", APP) == ["x"]
    print("refused")


def trap():
    """An application in a sandbox writes an entry that another program will write later."""
    handle = opened()
    assert call("writePassword", "(issss)", handle, "Traps", "entry", "planted", APP) == 0
    assert call("readPassword", "(isss)", handle, "Traps", "entry", APP) == "planted"


def trapped():
    refused(DENIED, "readPassword", "(isss)", opened(), "Traps", "entry", APP)
    print("refused")


def writes(folder, name, text):
    assert call("writePassword", "(issss)", opened(), folder, name, text, APP) == 0


def foreign_handle():
    other = connect()
    handle = opened(on=other)
    for member, signature, arguments in [
        ("readPassword", "(isss)", ("Browser Keys", "Safe Storage", APP)), ("entryList", "(iss)", ("Browser Keys", APP)),
        ("writePassword", "(issss)", ("Browser Keys", "Safe Storage", "x", APP)), ("removeFolder", "(iss)", ("Browser Keys", APP))]:
        refused(INVALID, member, signature, handle, *arguments)
    assert call("close", "(ibs)", handle, True, APP) == -1 and call("isOpen", "(i)", handle, on=other)
    print("refused")


def new_wallet(name, password):
    """Has a real KWallet create a wallet, as its PAM module does, which opens it without a prompt."""
    folder = os.environ["XDG_DATA_HOME"] + "/kwalletd"
    os.makedirs(folder, exist_ok=True)
    salt = os.urandom(56)
    with open(f"{folder}/{name}.salt", "wb") as file:
        file.write(salt)
    key = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, 50000, 56)
    call("pamOpen", "(sayi)", name, key, 0)
    assert name in call("wallets") and call("isOpen", "(s)", name), name


def fill():
    """The entries of programs in a real KWallet, in a wallet without a password and in one with it, which is closed afterwards."""
    new_wallet(OURS, "")
    new_wallet("Work things", "of work")
    handle, other = opened(), opened("Work things")
    passwords = [("Mail", "anna"), ("Mail", "é"), ("Mail", "e\u0301"), ("Passwords", "a/b"), ("a/b", "c"), ("Chrome Keys", "Chrome Safe Storage")]
    for folder, name in passwords:
        assert call("writePassword", "(issss)", handle, folder, name, f"pass wörd 🔑 of {folder}|{name}", APP) == 0
    assert call("writePassword", "(issss)", handle, "Mail", "empty", "", APP) == 0
    for size in 0, 1, 256, 1 << 20:
        value = bytes(range(256)) * (size // 256) if size % 256 == 0 else os.urandom(size)
        assert call("writeEntry", "(issays)", handle, "Streams", f"{size} bytes", value, APP) == 0
    form = qt_map(("user", "anna"), ("ä\n\"\\", "🔑\x01"), ("empty", ""), ("null", None))
    assert call("writeMap", "(issays)", handle, "Form Data", "https://example.org/#login", form, APP) == 0
    assert call("writeMap", "(issays)", handle, "Form Data", "no fields", qt_map(), APP) == 0
    for folder in "Empty", "Empty/too":
        assert call("createFolder", "(iss)", handle, folder, APP)
    assert call("writePassword", "(issss)", other, "Mail", "anna", "of work", APP) == 0
    assert call("writeEntry", "(issays)", other, "Mail", "key", b"\0\xff", APP) == 0
    call("close", "(sb)", "Work things", True)
    assert not call("isOpen", "(s)", "Work things")


def refuses():
    """Entries that an import reports and leaves out: one of an unknown type, and one larger than an item."""
    handle = opened()
    assert call("writeEntry", "(issays)", handle, "Streams", "large", bytes((1 << 20) + 1), APP) == 0
    assert call("writeEntry", "(issayis)", handle, "Streams", "unknown", b"x", 0, APP) == 0
    assert call("writePassword", "(issss)", handle, "ssh-key", "anna", "x", APP) == 0


def change():
    assert call("writePassword", "(issss)", opened(), "Mail", "anna", "changed there", APP) == 0


def dump(*wallets):
    """Every folder, entry, type and value of wallets, in a fixed order."""
    reading = {PASSWORD: "readPassword", STREAM: "readEntry", MAP: "readMap"}
    for wallet in wallets:
        handle = opened(wallet)
        for folder in sorted(call("folderList", "(is)", handle, APP)):
            names = sorted(call("entryList", "(iss)", handle, folder, APP))
            if not names and folder not in ("Form Data", "Passwords"):
                print(wallet, repr(folder))
            for name in names:
                kind = call("entryType", "(isss)", handle, folder, name, APP)
                value = call(reading.get(kind, "readEntry"), "(isss)", handle, folder, name, APP)
                value = value if len(value) < 1000 else hashlib.sha256(value).hexdigest()
                print(wallet, repr(folder), repr(name), kind, repr(value))


def wait_for_owner():
    """Waits until the name has an owner."""
    context, late = GLib.MainContext.default(), []
    owners = []
    Gio.bus_watch_name_on_connection(bus, NAMES[0], 0, lambda *owner: owners.append(owner), None)
    GLib.timeout_add_seconds(SECONDS_MAX, lambda: late.append(True))
    while not owners:
        assert not late, "nobody owns the name"
        context.iteration(True)


globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
