"""Clients of the Secret Service, each selected by a word: libsecret by introspection, secretstorage, keyring, and calls that no library makes."""
import hashlib
import os
import sys
import threading
import time

import gi

gi.require_version("Secret", "1")
from gi.repository import Gio, GLib, Secret

NAME = "org.freedesktop.secrets"
ROOT = "/org/freedesktop/secrets"
LOGIN = ROOT + "/collection/login"
SESSION = ROOT + "/collection/session"
S = "org.freedesktop.Secret."


def connect():
    return Gio.DBusConnection.new_for_address_sync(
        os.environ["DBUS_SESSION_BUS_ADDRESS"],
        Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)


bus = connect()


def call(path, interface, member, signature="()", *arguments, on=None):
    value = GLib.Variant(signature, arguments) if arguments or signature != "()" else None
    return (on or bus).call_sync(NAME, path, interface, member, value, None, 0, 60000, None).unpack()


def ended(client):
    """Closes a connection, and waits until the bus has announced its end."""
    name, gone = client.get_unique_name(), []
    heard = bus.signal_subscribe("org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", None, name, 0,
                                 lambda *signal: gone.append(signal[5].unpack()[2] == ""))
    # Calls of one client are answered in order, so the bus has the subscription now.
    bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId", None, None, 0, 60000, None)
    client.close_sync(None)
    while not any(gone):
        GLib.MainContext.default().iteration(True)
    bus.signal_unsubscribe(heard)


def refused(error, path, interface, member, signature="()", *arguments, on=None):
    try:
        answer = call(path, interface, member, signature, *arguments, on=on)
    except GLib.Error as problem:
        got = Gio.DBusError.get_remote_error(problem)
        assert got == error, f"{member} on {path[:200]}: {got}, not {error}: {problem.message}"
        return
    raise AssertionError(f"{member} on {path} was not refused: {answer}")


def service(member, signature="()", *arguments, **more):
    return call(ROOT, S + "Service", member, signature, *arguments, **more)


def plain(on=None):
    return service("OpenSession", "(sv)", "plain", GLib.Variant("s", ""), on=on)[1]


def create(session, attributes, secret=b"x", label="l", replace=True, collection=LOGIN, on=None, parameters=b"", kind="text/plain"):
    properties = {S + "Item.Label": GLib.Variant("s", label), S + "Item.Attributes": GLib.Variant("a{ss}", attributes)}
    return call(collection, S + "Collection", "CreateItem", "(a{sv}(oayays)b)", properties, (session, parameters, secret, kind), replace,
                on=on)[0]


def get(item, session, on=None):
    return call(item, S + "Item", "GetSecret", "(o)", session, on=on)[0]


def properties(path, interface):
    return call(path, "org.freedesktop.DBus.Properties", "GetAll", "(s)", S + interface)[0]


def one_item():
    """The calls that every client makes, in a session without encryption."""
    session = plain()
    item = create(session, {"service": "one", "username": "anna"}, b"of one")
    assert service("SearchItems", "(a{ss})", {"service": "one"}) == ([item], []) and bytes(get(item, session)[2]) == b"of one"
    assert secrets_of([item], session) == [(item, b"of one", "text/plain")]
    call(item, S + "Item", "Delete")


def libsecret():
    schema = Secret.Schema.new("org.example.Test", Secret.SchemaFlags.NONE, {
        "server": Secret.SchemaAttributeType.STRING, "port": Secret.SchemaAttributeType.INTEGER, "secure": Secret.SchemaAttributeType.BOOLEAN})
    attributes = {"server": "imap.example.org", "port": "993", "secure": "true"}
    assert Secret.password_store_sync(schema, attributes, Secret.COLLECTION_DEFAULT, "A label: ä", "pass wörd", None)
    assert Secret.password_lookup_sync(schema, {"server": "imap.example.org"}, None) == "pass wörd"
    assert Secret.password_lookup_sync(schema, {"server": "imap.example.org", "port": "1"}, None) is None
    # The same without waiting.
    loop, found = GLib.MainLoop(), []

    def looked_up(_, result):
        found.append(Secret.password_lookup_finish(result))
        loop.quit()

    Secret.password_lookup(schema, attributes, None, looked_up)
    loop.run()
    assert found == ["pass wörd"]
    client = Secret.Service.get_sync(Secret.ServiceFlags.OPEN_SESSION | Secret.ServiceFlags.LOAD_COLLECTIONS, None)
    assert client.get_session_algorithms() == "dh-ietf1024-sha256-aes128-cbc-pkcs7", client.get_session_algorithms()
    collection = Secret.Collection.for_alias_sync(client, "default", Secret.CollectionFlags.LOAD_ITEMS, None)
    assert collection.get_object_path() == LOGIN and not collection.get_locked()
    items = [item for item in collection.get_items() if item.get_label() == "A label: ä"]
    assert len(items) == 1
    item = items[0]
    assert item.get_attributes() == dict(attributes, **{"xdg:schema": "org.example.Test"}), item.get_attributes()
    item.load_secret_sync(None)
    assert item.get_secret().get_text() == "pass wörd" and item.get_secret().get_content_type() == "text/plain"
    value = Secret.Value.new("of octets", 9, "application/octet-stream")
    assert item.set_secret_sync(value, None)
    item.load_secret_sync(None)
    assert item.get_secret().get() == b"of octets", item.get_secret().get()
    assert item.get_secret().get_content_type() == "application/octet-stream", item.get_secret().get_content_type()
    assert item.set_label_sync("Another label", None)
    assert item.set_attributes_sync(schema, {"server": "pop.example.org"}, None)
    assert Secret.password_lookup_sync(schema, {"server": "imap.example.org"}, None) is None
    assert len(client.search_sync(schema, {"server": "pop.example.org"}, Secret.SearchFlags.ALL, None)) == 1
    made = Secret.Collection.create_sync(client, "Of a test", None, Secret.CollectionCreateFlags(0), None)
    assert made.get_label() == "Of a test" and made.get_object_path() != LOGIN
    there = Secret.Item.create_sync(made, schema, {"server": "pop.example.org"}, "there", Secret.Value.new("x", 1, "text/plain"),
                                    Secret.ItemCreateFlags.NONE, None)
    assert there.get_object_path().startswith(made.get_object_path())
    assert len(client.search_sync(schema, {"server": "pop.example.org"}, Secret.SearchFlags.ALL, None)) == 2
    assert made.delete_sync(None)
    assert len(client.search_sync(schema, {"server": "pop.example.org"}, Secret.SearchFlags.ALL, None)) == 1
    assert Secret.password_clear_sync(schema, {"server": "pop.example.org"}, None)
    assert not Secret.password_clear_sync(schema, {"server": "pop.example.org"}, None)


def without_waiting(start, finish, *arguments):
    """Makes an asynchronous call of libsecret, and returns its result."""
    loop, results, problems = GLib.MainLoop(), [], []

    def ended(_, result):
        try:
            results.append(finish(result))
        except GLib.Error as problem:
            problems.append(problem)
        loop.quit()

    start(*arguments, None, ended)
    loop.run()
    if problems:
        raise problems[0]
    return results[0]


def libsecret_without_waiting():
    """The asynchronous calls of libsecret: store, look up, search, unlock, clear."""
    schema = Secret.Schema.new("org.example.Later", Secret.SchemaFlags.NONE, {"server": Secret.SchemaAttributeType.STRING})
    attributes, later = {"server": "later.example.org"}, without_waiting
    for secret in ["at first", "of later"]:
        assert later(Secret.password_store, Secret.password_store_finish, schema, attributes, Secret.COLLECTION_DEFAULT, "Later", secret)
    assert later(Secret.password_lookup, Secret.password_lookup_finish, schema, attributes) == "of later"
    flags = Secret.SearchFlags.ALL | Secret.SearchFlags.LOAD_SECRETS
    found = later(Secret.password_search, Secret.password_search_finish, schema, attributes, flags)
    assert [(item.get_label(), item.get_attributes()["server"]) for item in found] == [("Later", "later.example.org")], found
    assert later(found[0].retrieve_secret, found[0].retrieve_secret_finish).get_text() == "of later"
    client = later(Secret.Service.get, Secret.Service.get_finish, Secret.ServiceFlags.OPEN_SESSION | Secret.ServiceFlags.LOAD_COLLECTIONS)
    items = later(client.search, client.search_finish, schema, attributes, flags)
    assert [item.get_secret().get_text() for item in items] == ["of later"], items
    # Nothing is locked, so all are unlocked at once.
    objects = items + [one for one in client.get_collections() if one.get_object_path() == LOGIN]
    count, unlocked = later(client.unlock, client.unlock_finish, objects)
    assert count == 2 and {one.get_object_path() for one in unlocked} == {one.get_object_path() for one in objects}, unlocked
    assert later(Secret.password_clear, Secret.password_clear_finish, schema, attributes) is True
    assert later(Secret.password_clear, Secret.password_clear_finish, schema, attributes) is False
    assert later(Secret.password_lookup, Secret.password_lookup_finish, schema, attributes) is None
    assert not later(client.search, client.search_finish, schema, attributes, flags)


def unlocks_without_waiting():
    """Unlocks a locked item by libsecret's asynchronous call, which shows a prompt, and prints its secret."""
    client = without_waiting(Secret.Service.get, Secret.Service.get_finish, Secret.ServiceFlags.OPEN_SESSION)
    wanted = {"service": "locked", "username": "anna"}
    items = without_waiting(client.search, client.search_finish, None, wanted, Secret.SearchFlags.ALL)
    assert len(items) == 1 and items[0].get_locked(), items
    count, unlocked = without_waiting(client.unlock, client.unlock_finish, items)
    assert count == 1 and unlocked[0].get_object_path() == items[0].get_object_path(), unlocked
    assert without_waiting(items[0].load_secret, items[0].load_secret_finish)
    print(items[0].get_secret().get_text())


def secretstorage():
    import secretstorage as library
    connection = library.dbus_init()
    collection = library.get_default_collection(connection)
    assert not collection.is_locked() and collection.get_label() == "Login", collection.get_label()
    attributes = {"application": "secretstorage-test", "Ünïcode": "ß" * 500, "empty": ""}
    item = collection.create_item("Test item", attributes, b"pa\0\xffssword", replace=True)
    assert item.get_label() == "Test item" and item.get_attributes() == attributes, item.get_attributes()
    assert item.get_secret() == b"pa\0\xffssword" and item.get_secret_content_type() == "text/plain"
    item.set_secret(b"newer", content_type="application/x-test")
    assert item.get_secret() == b"newer" and item.get_secret_content_type() == "application/x-test"
    assert item.get_created() > 1_700_000_000 and item.get_modified() >= item.get_created()
    other = collection.create_item("Test item 2", attributes, b"second", replace=False)
    assert other.item_path != item.item_path and other.get_secret() == b"second"
    assert {found.item_path for found in collection.search_items({"Ünïcode": "ß" * 500})} == {item.item_path, other.item_path}
    assert len(list(library.search_items(connection, {"empty": ""}))) == 2
    assert len(list(library.search_items(connection, {"empty": "x"}))) == 0
    # Names and values that look the same but differ in bytes are different.
    collection.create_item("Composed", {"é": "1"}, b"composed")
    collection.create_item("Decomposed", {"e\u0301": "1"}, b"decomposed")
    assert [found.get_secret() for found in collection.search_items({"é": "1"})] == [b"composed"]
    for found in [*collection.search_items({"é": "1"}), *collection.search_items({"e\u0301": "1"}), item, other]:
        found.delete()
    assert list(collection.search_items({"application": "secretstorage-test"})) == []
    made = library.create_collection(connection, "Work things")
    made.set_label("Renamed")
    assert made.get_label() == "Renamed" and made.collection_path in {one.collection_path for one in library.get_all_collections(connection)}
    made.create_item("in it", {"a": "b"}, b"c")
    assert len(list(made.get_all_items())) == 1
    made.delete()
    assert made.collection_path not in {one.collection_path for one in library.get_all_collections(connection)}
    assert list(library.search_items(connection, {"a": "b"})) == []
    alias = library.create_collection(connection, "Aliased", alias="test_alias")
    assert library.get_collection_by_alias(connection, "test_alias").collection_path == alias.collection_path
    alias.delete()


def keyring():
    import keyring as library
    library.set_password("keyring test", "anna", "of keyring")
    assert library.get_password("keyring test", "anna") == "of keyring"
    library.set_password("keyring test", "anna", "newer")
    assert library.get_password("keyring test", "anna") == "newer"
    assert library.get_credential("keyring test", None).username == "anna"
    library.delete_password("keyring test", "anna")
    assert library.get_password("keyring test", "anna") is None


def sizes():
    import secretstorage as library
    collection = library.get_default_collection(library.dbus_init())
    session = plain()
    for secret in [b"", b"x", bytes(range(256)), b"\0" * 16, os.urandom(65_536), os.urandom(1 << 20)]:
        item = collection.create_item("size", {"size": "any"}, secret)
        assert item.get_secret() == secret, len(secret)
        assert bytes(get(item.item_path, session)[2]) == secret, len(secret)
    refused("org.freedesktop.DBus.Error.LimitsExceeded", LOGIN, S + "Collection", "CreateItem", "(a{sv}(oayays)b)", {},
            (session, b"", bytes((1 << 20) + 1), "text/plain"), True)
    assert bytes(get(item.item_path, session)[2]) == secret
    item.delete()
    # Many attributes: as many as fit are stored; more are refused, and none of them remains.
    many = {f"name {n}": f"value {n}" for n in range(1000)}
    path = create(session, many)
    assert properties(path, "Item")["Attributes"] == many
    assert service("SearchItems", "(a{ss})", {"name 999": "value 999"})[0] == [path]
    call(path, S + "Item", "Delete")
    refused("org.freedesktop.DBus.Error.LimitsExceeded", LOGIN, S + "Collection", "CreateItem", "(a{sv}(oayays)b)",
            {S + "Item.Attributes": GLib.Variant("a{ss}", {f"name {n}": f"value {n}" for n in range(10_000)})},
            (session, b"", b"x", "text/plain"), True)
    assert service("SearchItems", "(a{ss})", {"name 999": "value 999"}) == ([], [])


def sessions():
    prime = int("ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437"
                "4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7edee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff", 16)
    algorithm = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    def opened(number, size=128):
        return service("OpenSession", "(sv)", algorithm, GLib.Variant("ay", number.to_bytes(size, "big")))

    for number in [0, 1, prime - 1, prime, prime + 1]:
        refused("org.freedesktop.DBus.Error.InvalidArgs", ROOT, S + "Service", "OpenSession", "(sv)", algorithm,
                GLib.Variant("ay", number.to_bytes(128, "big")))
    for given in [GLib.Variant("ay", b""), GLib.Variant("ay", b"\1" * 129), GLib.Variant("s", "no key"), GLib.Variant("u", 7)]:
        refused("org.freedesktop.DBus.Error.InvalidArgs", ROOT, S + "Service", "OpenSession", "(sv)", algorithm, given)
    refused("org.freedesktop.DBus.Error.NotSupported", ROOT, S + "Service", "OpenSession", "(sv)", "rot13", GLib.Variant("s", ""))
    # Both sides derive the same key, whatever leading zeros the numbers have.
    from cryptography.hazmat.primitives import hashes, padding
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    import secrets
    short, reading = 0, plain()
    for turn in range(3000):
        private = secrets.randbelow(prime)
        public, session = opened(pow(2, private, prime))
        shared = pow(int.from_bytes(bytes(public), "big"), private, prime).to_bytes(128, "big")
        short += shared[0] == 0
        if shared[0] == 0 or turn == 0:
            key = HKDF(hashes.SHA256(), 16, None, b"").derive(shared)
            vector, value = os.urandom(16), padding.PKCS7(128).padder()
            value = value.update(b"agreed") + value.finalize()
            encryptor = Cipher(algorithms.AES(key), modes.CBC(vector)).encryptor()
            item = create(session, {"session": "test"}, encryptor.update(value) + encryptor.finalize(), parameters=vector)
            assert bytes(get(item, reading)[2]) == b"agreed"
            if turn == 0:
                for size in [0, 8, 15, 17, 32]:
                    refused("org.freedesktop.DBus.Error.InvalidArgs", LOGIN, S + "Collection", "CreateItem", "(a{sv}(oayays)b)", {},
                            (session, b"\1" * size, b"\1" * 16, "text/plain"), True)
                for broken in [b"", b"\1" * 15, b"\1" * 32]:
                    refused("org.freedesktop.DBus.Error.InvalidArgs", LOGIN, S + "Collection", "CreateItem", "(a{sv}(oayays)b)", {},
                            (session, vector, broken, "text/plain"), True)
        call(session, S + "Session", "Close")
        if short:
            break
    assert short, "no agreed number began with zeros"
    refused(S + "Error.NoSession", session, S + "Session", "Close")
    # A session belongs to its client, and ends with it.
    stranger = connect()
    theirs = plain(on=stranger)
    item = create(plain(), {"session": "test"})
    refused(S + "Error.NoSession", item, S + "Item", "GetSecret", "(o)", theirs)
    refused(S + "Error.NoSession", theirs, S + "Session", "Close")
    get(item, theirs, on=stranger)
    stranger.close_sync(None)
    refused(S + "Error.NoSession", item, S + "Item", "GetSecret", "(o)", theirs)
    call(item, S + "Item", "Delete")


def hostile():
    session = plain()
    unknown = LOGIN + "/" + "0" * 32
    for path in [unknown, LOGIN + "/x", LOGIN + "/" + "g" * 32, ROOT + "/collection/none/" + "0" * 32]:
        refused(S + "Error.NoSuchObject", path, S + "Item", "GetSecret", "(o)", session)
        refused(S + "Error.NoSuchObject", path, "org.freedesktop.DBus.Properties", "GetAll", "(s)", S + "Item")
    for path in ["/", "/org", "/org/freedesktop", ROOT + "x", ROOT + "/a/b/c/d", ROOT + "/collection/none"]:
        refused(S + "Error.NoSuchObject", path, S + "Collection", "SearchItems", "(a{ss})", {"a": "b"})
    refused(S + "Error.NoSuchObject", ROOT + "/prompt/p999", S + "Prompt", "Prompt", "(s)", "")
    refused(S + "Error.NoSession", unknown, S + "Item", "GetSecret", "(o)", ROOT + "/session/s999999")
    refused("org.freedesktop.DBus.Error.UnknownMethod", ROOT, S + "Service", "Nothing")
    refused("org.freedesktop.DBus.Error.UnknownMethod", ROOT, S + "Collection", "CreateItem")
    refused("org.freedesktop.DBus.Error.InvalidArgs", ROOT, S + "Service", "SearchItems", "(s)", "x")
    refused("org.freedesktop.DBus.Error.InvalidArgs", ROOT, S + "Service", "OpenSession")
    refused("org.freedesktop.DBus.Error.UnknownProperty", ROOT, "org.freedesktop.DBus.Properties", "Get", "(ss)", S + "Service", "Nothing")
    refused("org.freedesktop.DBus.Error.PropertyReadOnly", ROOT, "org.freedesktop.DBus.Properties", "Set", "(ssv)", S + "Service",
            "Collections", GLib.Variant("s", ""))
    refused("org.freedesktop.DBus.Error.NotSupported", LOGIN, S + "Collection", "Delete")
    assert service("GetSecrets", "(aoo)", [unknown, ROOT, "/"], session) == ({},)
    assert service("Unlock", "(ao)", [unknown, "/", LOGIN])[0] == [LOGIN]
    assert service("ReadAlias", "(s)", "default") == (LOGIN,) and service("ReadAlias", "(s)", "none") == ("/",)
    for alias in ["a" * 65, "ä" * 33, "a" * 60_000]:
        refused("org.freedesktop.DBus.Error.NotSupported", ROOT, S + "Service", "CreateCollection", "(a{sv}s)", {}, alias)
        refused("org.freedesktop.DBus.Error.NotSupported", ROOT, S + "Service", "SetAlias", "(so)", alias, LOGIN)
    # Hidden from the bus: the service's own records.
    assert service("SearchItems", "(a{ss})", {"service": "secret-service-collection"}) == ([], [])
    # Properties of a new object that are of other types.
    for name, value in [("Attributes", GLib.Variant("s", "x")), ("Attributes", GLib.Variant("a{sv}", {})), ("Label", GLib.Variant("u", 1))]:
        refused("org.freedesktop.DBus.Error.InvalidArgs", LOGIN, S + "Collection", "CreateItem", "(a{sv}(oayays)b)", {S + "Item." + name: value},
                (session, b"", b"x", "text/plain"), True)
    refused("org.freedesktop.DBus.Error.InvalidArgs", ROOT, S + "Service", "CreateCollection", "(a{sv}s)",
            {S + "Collection.Label": GLib.Variant("u", 1)}, "")
    text = call(ROOT, "org.freedesktop.DBus.Introspectable", "Introspect")[0]
    Gio.DBusNodeInfo.new_for_xml(text).lookup_interface(S + "Service").lookup_method("OpenSession").out_args
    for path in [LOGIN, ROOT + "/collection"]:
        Gio.DBusNodeInfo.new_for_xml(call(path, "org.freedesktop.DBus.Introspectable", "Introspect")[0])


ALIASED = ROOT + "/collection/Of_the_alias"


def alias_elsewhere():
    """Points `default` at another collection, and stores an item by the path of the alias, which libsecret uses."""
    session, alias = plain(), ROOT + "/aliases/default"
    assert service("CreateCollection", "(a{sv}s)", {S + "Collection.Label": GLib.Variant("s", "Of the alias")}, "") == (ALIASED, "/")
    for path in [ROOT + "/collection/none", ROOT, LOGIN + "/" + "0" * 32, ROOT + "/aliases/none"]:
        refused(S + "Error.NoSuchObject", ROOT, S + "Service", "SetAlias", "(so)", "default", path)
    assert service("ReadAlias", "(s)", "default") == (LOGIN,)
    for name in ["default", "of a test"]:
        assert service("SetAlias", "(so)", name, ALIASED) == () and service("ReadAlias", "(s)", name) == (ALIASED,)
    item = create(session, {"service": "alias"}, b"through the alias", collection=alias)
    assert item.startswith(ALIASED + "/"), item
    assert call(alias, S + "Collection", "SearchItems", "(a{ss})", {"service": "alias"}) == ([item],)
    assert call(LOGIN, S + "Collection", "SearchItems", "(a{ss})", {"service": "alias"}) == ([],)
    assert properties(alias, "Collection")["Label"] == "Of the alias"
    schema = Secret.Schema.new("org.example.Alias", Secret.SchemaFlags.NONE, {"alias": Secret.SchemaAttributeType.STRING})
    assert Secret.password_store_sync(schema, {"alias": "default"}, Secret.COLLECTION_DEFAULT, "l", "of libsecret", None)
    assert only({"alias": "default"}).startswith(ALIASED + "/")


def alias_kept():
    """Another process of the service keeps the aliases. Without them, `default` means `login` again, and an unknown alias means nothing."""
    session, alias = plain(), ROOT + "/aliases/default"
    for name in ["default", "of a test"]:
        assert service("ReadAlias", "(s)", name) == (ALIASED,), name
    assert bytes(get(only({"service": "alias"}), session)[2]) == b"through the alias"
    assert len(call(alias, S + "Collection", "SearchItems", "(a{ss})", {})[0]) == 2
    for name, left in [("default", LOGIN), ("of a test", "/")]:
        assert service("SetAlias", "(so)", name, "/") == () and service("ReadAlias", "(s)", name) == (left,), name
        # What is not set can be unset.
        assert service("SetAlias", "(so)", name, "/") == ()
    assert properties(alias, "Collection")["Label"] == properties(LOGIN, "Collection")["Label"]
    item = create(session, {"service": "alias unset"}, collection=alias)
    assert item.startswith(LOGIN + "/"), item
    call(item, S + "Item", "Delete")
    # An alias ends with its collection.
    service("SetAlias", "(so)", "default", ALIASED)
    call(alias, S + "Collection", "Delete")
    assert service("ReadAlias", "(s)", "default") == (LOGIN,) and ALIASED not in properties(ROOT, "Service")["Collections"]
    assert service("SearchItems", "(a{ss})", {"service": "alias"}) == ([], [])


def secrets_of(paths, session, on=None):
    """The reply of GetSecrets, in its order: a dictionary in Python would contain each path only once."""
    answer = (on or bus).call_sync(NAME, ROOT, S + "Service", "GetSecrets", GLib.Variant("(aoo)", (paths, session)), None, 0, 240000, None)
    entries = answer.get_child_value(0)
    found = [(entry.get_child_value(0).unpack(), entry.get_child_value(1).unpack())
             for entry in map(entries.get_child_value, range(entries.n_children()))]
    assert all(secret[0] == session for _, secret in found), found
    return [(path, bytes(secret[2]), secret[3]) for path, secret in found]


def several_secrets():
    """More items than one request of the service covers, of both stores, with invalid paths in between; the order is unchanged."""
    session = plain()
    kept = [create(session, {"service": "several", "number": str(n)}, f"secret {n}".encode() * (n % 3 * 1000), kind=f"text/x-{n}") for n in range(50)]
    memory = [create(session, {"service": "several", "number": str(n)}, f"in memory {n}".encode(), collection=SESSION) for n in range(3)]
    expected = {path: (f"secret {n}".encode() * (n % 3 * 1000), f"text/x-{n}") for n, path in enumerate(kept)}
    expected.update((path, (f"in memory {n}".encode(), "text/plain")) for n, path in enumerate(memory))
    # Unknown, another collection's, deleted, malformed, not an item.
    gone = create(session, {"service": "several", "number": "gone"})
    call(gone, S + "Item", "Delete")
    none = [LOGIN + "/" + "0" * 32, ROOT + "/collection/other/" + kept[0].rsplit("/")[-1], gone, LOGIN + "/x", LOGIN, ROOT, "/"]
    asked = none[:1] + kept[:20] + none[1:4] + memory + kept[20:] + none[4:] + kept[:2] + memory[:1] + none
    wanted = [(path, *expected[path]) for path in asked if path in expected]
    assert len(wanted) == 56 and secrets_of(asked, session) == wanted
    assert secrets_of(asked[:3], session) == wanted[:2] and secrets_of([], session) == [] and secrets_of(none[2:], session) == []
    for path in kept + memory:
        call(path, S + "Item", "Delete")


def guarded_among_others():
    """Of items that require approval, those that the user approves are returned, in order."""
    session = plain()
    names = ["first", "refused", "between", "approved", "last"]
    paths = [only({"service": "guarded", "username": name}) for name in names]
    print(", ".join(secret.decode() for _, secret, _ in secrets_of(paths, session)))


def guarded_without_agent():
    """If nobody can be asked for approval, such items are left out beside others; of such items alone the call fails, since an empty reply
    means that they are locked or gone."""
    session = plain()
    guarded = [only({"service": "guarded", "username": name}) for name in ["refused", "approved"]]
    free = only({"service": "guarded", "username": "first"})
    gone = LOGIN + "/" + "0" * 32
    denied = "org.freedesktop.DBus.Error.AccessDenied"
    refused(denied, ROOT, S + "Service", "GetSecrets", "(aoo)", guarded, session)
    refused(denied, ROOT, S + "Service", "GetSecrets", "(aoo)", [gone] + guarded[:1], session)
    assert [secret for _, secret, _ in secrets_of(guarded + [free, gone], session)] == [b"first"]
    assert secrets_of([gone], session) == [] and secrets_of([], session) == []


def guarded_alone():
    """Reads one item that requires approval, which the user refuses, and prints how the call ends."""
    refused("org.freedesktop.DBus.Error.AccessDenied", ROOT, S + "Service", "GetSecrets", "(aoo)",
            [only({"service": "guarded", "username": "refused"})], plain())
    print("refused")


def open_among_locked():
    """Items that can be read while the keychain is locked are returned, in order among locked ones."""
    session = plain()
    closed = service("SearchItems", "(a{ss})", {"service": "locked"})[1]
    stays = only({"service": "stays", "username": "open"})
    memory = create(session, {"only": "now"}, b"in memory", collection=SESSION)
    got = secrets_of(closed + [stays] + closed * 20 + [memory] + closed + [stays], session)
    assert [secret for _, secret, _ in got] == [b"stays open", b"in memory", b"stays open"], got
    assert [path for path, _, _ in got] == [stays, memory, stays]


def signals():
    seen = []
    properties(LOGIN, "Collection")
    heard = bus.signal_subscribe(NAME, None, None, None, None, 0, lambda *signal: seen.append((signal[2], signal[4], signal[5].unpack())))

    def told():
        """The signals until now: each arrives before the reply to the call that caused it."""
        while GLib.MainContext.default().iteration(False):
            pass
        return seen

    session = plain()
    item = create(session, {"signals": "test"})
    create(session, {"signals": "test"}, b"y")
    call(item, "org.freedesktop.DBus.Properties", "Set", "(ssv)", S + "Item", "Label", GLib.Variant("s", "new"))
    assert properties(item, "Item")["Label"] == "new"
    call(item, S + "Item", "Delete")
    names = [name for path, name, _ in told() if path.startswith(LOGIN)]
    assert [name for name in names if name.startswith("Item")] == ["ItemCreated", "ItemChanged", "ItemChanged", "ItemDeleted"], seen
    # The list is announced with the item, and then without it.
    lists = [values[1]["Items"] for path, name, values in seen if path == LOGIN and name == "PropertiesChanged"]
    assert [item in paths for paths in lists] == [True, False], seen
    # Deleting a collection deletes its items.
    made = service("CreateCollection", "(a{sv}s)", {S + "Collection.Label": GLib.Variant("s", "With signals")}, "")[0]
    items = [create(session, {"signals": str(n)}, collection=made) for n in range(3)]
    call(made, S + "Collection", "Delete")
    assert [values[0] for path, name, values in told() if path == made and name == "ItemDeleted"] == items, seen
    assert [name for path, name, values in seen if name.startswith("Collection") and values == (made,)] == ["CollectionCreated", "CollectionDeleted"]
    lists = [values[1]["Collections"] for path, name, values in seen if path == ROOT and name == "PropertiesChanged"]
    assert [made in paths for paths in lists] == [True, False], seen
    # No property is declared invalidated: libsecret reads its cached value without checking that it exists.
    assert all(values[2] == [] for _, name, values in seen if name == "PropertiesChanged"), seen
    bus.signal_unsubscribe(heard)


def signals_for_libsecret():
    """The data that libsecret has loaded follows changes by another client: an item, the items of a collection, the collections."""
    session = plain()
    path = create(session, {"signals": "libsecret"}, label="old")
    client = Secret.Service.get_sync(Secret.ServiceFlags.OPEN_SESSION | Secret.ServiceFlags.LOAD_COLLECTIONS, None)
    collection = Secret.Collection.for_alias_sync(client, "default", Secret.CollectionFlags.LOAD_ITEMS, None)
    item = next(item for item in collection.get_items() if item.get_object_path() == path)
    assert item.get_label() == "old" and item.get_attributes() == {"signals": "libsecret"}

    def until(holds):
        while not holds():
            GLib.MainContext.default().iteration(True)

    for name, value in [("Label", GLib.Variant("s", "new")), ("Attributes", GLib.Variant("a{ss}", {"signals": "newer"}))]:
        call(path, "org.freedesktop.DBus.Properties", "Set", "(ssv)", S + "Item", name, value)
    until(lambda: item.get_label() == "new" and item.get_attributes() == {"signals": "newer"})

    def listed(objects):
        return {one.get_object_path() for one in objects or []}

    # Two items are added and two removed, and each time libsecret's list is that of the service.
    there, items = listed(collection.get_items()), []
    for number in range(2):
        items.append(create(session, {"signals": f"libsecret {number}"}, label=f"item {number}"))
        until(lambda: listed(collection.get_items()) == there | set(items))
    for number in range(2):
        call(items.pop(), S + "Item", "Delete")
        until(lambda: listed(collection.get_items()) == there | set(items))
    assert there == set(properties(LOGIN, "Collection")["Items"])
    # The same with two collections, with an item in each.
    known, made = listed(client.get_collections()), []
    for number in range(2):
        label = {S + "Collection.Label": GLib.Variant("s", f"For libsecret {number}")}
        made.append(service("CreateCollection", "(a{sv}s)", label, "")[0])
        until(lambda: listed(client.get_collections()) == known | set(made))
        inner = create(session, {"signals": "inner"}, collection=made[number])
        until(lambda: any(listed(one.get_items()) == {inner} for one in client.get_collections() if one.get_object_path() == made[number]))
    for number in range(2):
        call(made.pop(), S + "Collection", "Delete")
        until(lambda: listed(client.get_collections()) == known | set(made))
    assert known == set(properties(ROOT, "Service")["Collections"])
    assert collection.get_cached_property("Items") is not None and client.get_cached_property("Collections") is not None
    call(path, S + "Item", "Delete")
    until(lambda: listed(collection.get_items()) == there - {path})


def listens():
    """Hears all signals that arrive until the collection `Marker` is changed, and prints whether one told of an item, or named a wallet or
    an application."""
    told, loop = [], GLib.MainLoop()

    def heard(_bus, _sender, path, interface, member, values):
        words = repr((path, member, values.unpack()))
        if member == "CollectionChanged" and "Marker" in words:
            return loop.quit()
        if LOGIN + "/" in words or interface == "org.kde.KWallet" and values.n_children() or "plans" in words and "collection" not in words:
            told.append(words)

    bus.signal_subscribe(None, None, None, None, None, 0, heard)
    properties(ROOT, "Service")
    print("listening", flush=True)
    loop.run()
    for words in told:
        print(words, file=sys.stderr)
    print("told" if told else "nothing", flush=True)


def tells():
    """Changes an item in every way that the service announces."""
    session, change = plain(), "org.freedesktop.DBus.Properties"
    item = create(session, {"plans": "secret"}, label="secret plans")
    create(session, {"plans": "secret"}, b"y", label="secret plans")
    call(item, change, "Set", "(ssv)", S + "Item", "Label", GLib.Variant("s", "newer plans"))
    call(item, change, "Set", "(ssv)", S + "Item", "Attributes", GLib.Variant("a{ss}", {"plans": "newer"}))
    call(item, S + "Item", "SetSecret", "((oayays))", (session, b"", b"z", "text/plain"))
    call(item, S + "Item", "Delete")


def mark():
    marker = service("CreateCollection", "(a{sv}s)", {S + "Collection.Label": GLib.Variant("s", "Marker")}, "")[0]
    call(marker, "org.freedesktop.DBus.Properties", "Set", "(ssv)", S + "Collection", "Label", GLib.Variant("s", "Marker"))
    call(marker, S + "Collection", "Delete")


def locked_signals():
    """locked-signals PASSCODE: who has read a collection or an item is told of a lock and an unlock that do not come over the bus, by signals
    with the new values, and the copy of libsecret follows. A change over the bus tells the time of the change."""
    import subprocess
    path, opened = create(plain(), {"locked": "signals"}, label="of signals"), {"Label": "of signals", "Attributes": {"locked": "signals"}}
    client = Secret.Service.get_sync(Secret.ServiceFlags.OPEN_SESSION | Secret.ServiceFlags.LOAD_COLLECTIONS, None)
    collection = Secret.Collection.for_alias_sync(client, "default", Secret.CollectionFlags.LOAD_ITEMS, None)
    item = next(item for item in collection.get_items() if item.get_object_path() == path)
    assert not collection.get_locked() and not item.get_locked()
    assert properties(LOGIN, "Collection")["Locked"] is False and properties(path, "Item")["Label"] == "of signals"
    told, noticed = [], []
    heard = bus.signal_subscribe(NAME, "org.freedesktop.DBus.Properties", "PropertiesChanged", None, None, 0,
                                 lambda *signal: told.append((signal[2], *signal[5].unpack())))
    collection.connect("notify::locked", lambda *_: noticed.append(collection.get_locked()))

    def values(of, name):
        """The values of the signals about an object that contain a property. No property is declared invalidated."""
        found = [(interface, changed, void) for where, interface, changed, void in told if where == of and name in changed]
        kind = S + ("Item" if of == path else "Collection")
        assert all(interface == kind and void == [] for interface, _, void in found), found
        return [changed for _, changed, _ in found]

    def until(holds):
        while not holds():
            GLib.MainContext.default().iteration(True)

    for is_locked, words in [(True, ["lock"]), (False, ["unlock", "--passcode-fd", "0"])] * 2:
        told.clear(), noticed.clear()
        subprocess.run([os.environ["VAUBAN_BUILD"] + "/vauban", *words], input=sys.argv[2].encode() + b"\n", stderr=subprocess.DEVNULL, check=True)
        until(lambda: values(LOGIN, "Locked") and values(path, "Locked"))
        # Each change is told once. A locked item does not tell its label, and an open one tells it again.
        assert values(LOGIN, "Locked") == [{"Locked": is_locked}], told
        (changed,) = values(path, "Locked")
        assert changed["Locked"] is is_locked and (is_locked or changed.items() >= opened.items()), told
        assert len(changed) == (1 if is_locked else 5), told
        assert values(SESSION, "Locked") == [], told
        until(lambda: is_locked in noticed and collection.get_locked() is is_locked and item.get_locked() is is_locked)
        assert properties(path, "Item")["Label"] == ("" if is_locked else "of signals")
    assert item.get_label() == "of signals", item.get_label()
    # A replaced secret, and a label.
    for label in ["of signals", "another label"]:
        told.clear()
        if label == "of signals":
            call(path, S + "Item", "SetSecret", "((oayays))", (plain(), b"", b"new", "text/plain"))
        else:
            call(path, "org.freedesktop.DBus.Properties", "Set", "(ssv)", S + "Item", "Label", GLib.Variant("s", label))
        until(lambda: values(path, "Modified"))
        changed = {name: value for name, value in properties(path, "Item").items() if name != "Locked"}
        assert values(path, "Modified") == [changed] and values(path, "Label")[0]["Label"] == label, told
    bus.signal_unsubscribe(heard)
    call(path, S + "Item", "Delete")


def session_collection():
    session = plain()
    item = create(session, {"only": "now"}, b"in memory", collection=SESSION)
    assert service("SearchItems", "(a{ss})", {"only": "now"}) == ([item], []) and bytes(get(item, session)[2]) == b"in memory"
    assert create(session, {"only": "now"}, b"newer", collection=SESSION) == item and bytes(get(item, session)[2]) == b"newer"
    assert create(session, {"only": "now"}, b"second", collection=SESSION, replace=False) != item
    assert properties(SESSION, "Collection")["Locked"] is False and len(properties(SESSION, "Collection")["Items"]) == 2
    assert call(ROOT + "/aliases/session", S + "Collection", "SearchItems", "(a{ss})", {"only": "now"})[0][0] == item
    refused("org.freedesktop.DBus.Error.NotSupported", SESSION, S + "Collection", "Delete")
    for path in properties(SESSION, "Collection")["Items"]:
        call(path, S + "Item", "Delete")


def stores_in_session():
    """stores-in-session SECRET LABEL VALUE: stores an item in the collection `session`, changes it twice, and reads it."""
    secret, label, value = sys.argv[2:]
    session, attributes = plain(), {"session": "only", "word": value}
    item = create(session, {"session": "only"}, b"x", collection=SESSION)
    call(item, "org.freedesktop.DBus.Properties", "Set", "(ssv)", S + "Item", "Label", GLib.Variant("s", label))
    call(item, "org.freedesktop.DBus.Properties", "Set", "(ssv)", S + "Item", "Attributes", GLib.Variant("a{ss}", attributes))
    call(item, S + "Item", "SetSecret", "((oayays))", (session, b"", secret.encode(), "text/plain"))
    create(session, attributes, secret.encode(), label, collection=SESSION, replace=False)
    found = service("SearchItems", "(a{ss})", {"word": value})[0]
    assert len(found) == 2 and item in found, found
    assert {(bytes(get(path, session)[2]).decode(), properties(path, "Item")["Label"]) for path in found} == {(secret, label)}


def conflict():
    """Two clients change one item at the same time: one gives it a secret or stores it again, the other deletes it and stores it again.
    The result is one item with the whole secret of either, and neither gets an error except that the item is gone."""
    attributes, gone = {"service": "conflict", "username": "anna"}, S + "Error.NoSuchObject"
    values = {"text/x-first": b"1" * 5_000, "text/x-other": b"other" * 600}
    first, other = connect(), connect()
    sessions = {client: plain(on=client) for client in (first, other)}
    turns, session, problems, refusals, kept = 100, plain(), [], [], set()

    def store(client, kind):
        return create(sessions[client], attributes, values[kind], kind=kind, on=client)

    def sets(path):
        call(path, S + "Item", "SetSecret", "((oayays))", (sessions[first], b"", values["text/x-first"], "text/x-first"), on=first)

    def replaces(path, readings):
        # Reads come first, so that the other client comes before the deletion too. Each returns a whole value.
        for _ in range(readings):
            _, _, secret, kind = get(path, sessions[other], on=other)
            assert values.get(kind) == bytes(secret), (kind, len(secret))
        call(path, S + "Item", "Delete", on=other)
        store(other, "text/x-other")

    def attempt(ready, action, *arguments):
        ready.wait()
        try:
            action(*arguments)
        except GLib.Error as problem:
            (refusals if Gio.DBusError.get_remote_error(problem) == gone else problems).append(problem.message)
        except AssertionError as problem:
            problems.append(problem)

    for turn in range(turns):
        path, ready = store(other, "text/x-other"), threading.Barrier(2)
        # Every second time the first client finds the item by its attributes, which leaves no room for an error.
        mine = (ready, sets, path) if turn % 2 else (ready, store, first, "text/x-first")
        threads = [threading.Thread(target=attempt, args=args) for args in (mine, (ready, replaces, path, turn % 8 // 2))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = service("SearchItems", "(a{ss})", attributes)
        assert len(found[0]) == 1 and found[1] == [], (turn, found)
        _, _, secret, kind = get(found[0][0], session)
        assert values.get(kind) == bytes(secret), (turn, kind, len(secret), bytes(secret)[:20])
        kept.add(kind)
    assert not problems, problems
    call(only(attributes), S + "Item", "Delete")
    print(f"{turns} conflicts, {len(refusals)} refused as gone; kept: {sorted(kept)}")


def many_clients():
    def work(number, problems):
        try:
            mine = connect()
            session = plain(on=mine)
            for turn in range(20):
                # Four clients write one shared item, and each writes one of its own.
                create(session, {"shared": "one"}, b"any", on=mine)
                item = create(session, {"own": str(number)}, f"{number} {turn}".encode(), on=mine)
                assert bytes(get(item, session, on=mine)[2]) == f"{number} {turn}".encode()
            mine.close_sync(None)
        except BaseException as problem:
            problems.append(problem)

    problems = []
    threads = [threading.Thread(target=work, args=(number, problems)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems
    shared = service("SearchItems", "(a{ss})", {"shared": "one"})[0]
    assert len(shared) == 1, shared
    for number in range(4):
        shared += service("SearchItems", "(a{ss})", {"own": str(number)})[0]
    assert len(shared) == 5
    for path in shared:
        call(path, S + "Item", "Delete")
    # A client that disconnects during a call does not affect others.
    for _ in range(20):
        leaving = connect()
        leaving.call(NAME, ROOT, S + "Service", "SearchItems", GLib.Variant("(a{ss})", ({},)), None, 0, 1000, None, None)
        leaving.flush_sync(None)
        leaving.close_sync(None)
    assert service("ReadAlias", "(s)", "login") == (LOGIN,)
    # A session that is opened while its client disconnects ends with it.
    key = GLib.Variant("ay", (2**1000 + 1).to_bytes(128, "big"))
    for _ in range(600):
        leaving = connect()
        leaving.call(NAME, ROOT, S + "Service", "OpenSession", GLib.Variant("(sv)", ("dh-ietf1024-sha256-aes128-cbc-pkcs7", key)), None, 0,
                     60000, None, None)
        leaving.flush_sync(None)
        ended(leaving)
    plain()


def floods():
    """One process uses, over many connections, all that it can get. Then it prints `flooding`, and waits until its input ends."""
    isLocked = properties(LOGIN, "Collection")["Locked"]
    clients, limits = [connect() for _ in range(33)], "org.freedesktop.DBus.Error.LimitsExceeded"
    if isLocked:
        prompts = [prompt(on=client) for client in clients[:32]]
        refused(limits, ROOT, S + "Service", "Unlock", "(ao)", [LOGIN], on=clients[32])
        # One that ends makes room for another.
        call(prompts[0], S + "Prompt", "Dismiss", on=clients[0])
        prompt(on=clients[32])
    else:
        clients = clients[:16]
        sessions = {client: plain(on=client) for client in clients}
        items = [create(sessions[client], {"flood": str(number)}, bytes(255 << 10), collection=SESSION, on=client)
                 for number, client in enumerate(clients[:8])]
        new = {S + "Item.Attributes": GLib.Variant("a{ss}", {"flood": "more"})}
        for client in clients[8:]:
            refused(limits, SESSION, S + "Collection", "CreateItem", "(a{sv}(oayays)b)", new,
                    (sessions[client], b"", bytes(255 << 10), "text/plain"), True, on=client)
        # Neither a change nor a replacement adds to it.
        refused(limits, items[0], S + "Item", "SetSecret", "((oayays))", (sessions[clients[0]], b"", bytes(1 << 20), "text/plain"), on=clients[0])
        refused(limits, items[0], "org.freedesktop.DBus.Properties", "Set", "(ssv)", S + "Item", "Attributes",
                GLib.Variant("a{ss}", {"flood": "a" * (1 << 20)}), on=clients[0])
        refused(limits, SESSION, S + "Collection", "CreateItem", "(a{sv}(oayays)b)", {S + "Item.Attributes": GLib.Variant("a{ss}", {"flood": "0"})},
                (sessions[clients[0]], b"", bytes(1 << 20), "text/plain"), True, on=clients[0])
        for client in clients:
            for _ in range(64):
                try:
                    plain(on=client)
                except GLib.Error:
                    break
        refused(limits, ROOT, S + "Service", "OpenSession", "(sv)", "plain", GLib.Variant("s", ""), on=connect())
    print("flooding", flush=True)
    sys.stdin.read()
    for path in [] if isLocked else items:
        call(path, S + "Item", "Delete", on=clients[0])


def beside():
    """Another process stores an item in memory, and reads it again."""
    session = plain()
    item = create(session, {"beside": "a flood"}, bytes(1 << 20), collection=SESSION)
    assert bytes(get(item, session)[2]) == bytes(1 << 20)
    call(item, S + "Item", "Delete")


def answered_too_late():
    """Reads an item that requires approval, without an answer, and prints how the call ends."""
    try:
        print(bytes(bus.call_sync(NAME, only({"service": "approval"}), S + "Item", "GetSecret", GLib.Variant("(o)", (plain(),)), None, 0, 240000,
                                  None).unpack()[0][2]))
    except GLib.Error as problem:
        print(Gio.DBusError.get_remote_error(problem))


def waits_for_the_user():
    """Seventy connections of one process read an item that requires approval, and wait for it until they are killed."""
    clients = [connect() for _ in range(70)]
    path = only({"service": "approval"})
    # First, since the calls that wait for the user use all threads that one process gets.
    sessions = [plain(on=client) for client in clients]
    for client, session in zip(clients, sessions):
        client.call(NAME, path, S + "Item", "GetSecret", GLib.Variant("(o)", (session,)), None, 0, 240000, None, None)
        # A message that follows it at the bus was sent after it.
        client.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId", None, None, 0, 60000, None)
    print("waiting", flush=True)
    GLib.MainLoop().run()


def lock():
    assert service("Lock", "(ao)", [LOGIN]) == ([LOGIN], "/")


def locked():
    session = plain()
    assert properties(LOGIN, "Collection")["Locked"] is True
    unlocked, closed = service("SearchItems", "(a{ss})", {"service": "locked"})
    assert unlocked == [] and len(closed) == 1, (unlocked, closed)
    item = properties(closed[0], "Item")
    assert item["Locked"] is True and item["Label"] == "" and item["Attributes"] == {}
    assert service("SearchItems", "(a{ss})", {"service": "nothing"}) == ([], [])
    assert service("GetSecrets", "(aoo)", closed, session) == ({},)
    refused(S + "Error.IsLocked", closed[0], S + "Item", "GetSecret", "(o)", session)
    refused(S + "Error.IsLocked", LOGIN, S + "Collection", "CreateItem", "(a{sv}(oayays)b)", {}, (session, b"", b"x", "text/plain"), True)
    create(session, {"only": "now"}, collection=SESSION)
    # For a locked item only the index has its collection, and for one that was not stored over the bus there is none.
    refused(S + "Error.NoSuchObject", closed[0].replace("/login/", "/none/"), S + "Item", "Delete")
    for path in sys.argv[2:]:
        refused(S + "Error.IsLocked", path, S + "Item", "Delete")


def paths():
    """Prints the paths of an item that the command line set, and of one in another collection, as if it were in `login`."""
    session = plain()
    made = service("CreateCollection", "(a{sv}s)", {S + "Collection.Label": GLib.Variant("s", "Elsewhere")}, "")[0]
    elsewhere = create(session, {"service": "elsewhere"}, b"elsewhere", collection=made)
    print(only({"service": "wifi"}), LOGIN + elsewhere[len(made):])


def prompt(on=None):
    unlocked, path = service("Unlock", "(ao)", [LOGIN], on=on)
    assert unlocked == [] and path != "/"
    return path


def completed(path, then):
    """Waits until the prompt has completed; `then` runs once its completion is subscribed to."""
    results, loop = [], GLib.MainLoop()

    def heard(*signal):
        results.append(signal[5].unpack())
        loop.quit()

    subscription = bus.signal_subscribe(NAME, S + "Prompt", "Completed", path, None, 0, heard)
    then()
    loop.run()
    bus.signal_unsubscribe(subscription)
    return results[0]


def show(path):
    call(path, S + "Prompt", "Prompt", "(s)", "")


def begin_to_show(path, on=None):
    """Has a prompt shown without waiting for the reply, which comes when the prompt appears. The service has the call afterwards."""
    (on or bus).call(NAME, path, S + "Prompt", "Prompt", GLib.Variant("(s)", ("",)), None, 0, 60000, None, None)
    # Calls of one client are answered in their order.
    assert service("ReadAlias", "(s)", "login", on=on) == (LOGIN,)


def prompt_dismissed():
    path = prompt()
    stranger = connect()
    for member, signature, arguments in [("Prompt", "(s)", [""]), ("Dismiss", "()", [])]:
        refused(S + "Error.NoSuchObject", path, S + "Prompt", member, signature, *arguments, on=stranger)

    def then():
        begin_to_show(path)
        # Others are served while it waits.
        assert service("ReadAlias", "(s)", "login", on=stranger) == (LOGIN,)
        call(path, S + "Prompt", "Dismiss")

    assert completed(path, then)[0] is True
    refused(S + "Error.NoSuchObject", path, S + "Prompt", "Dismiss")
    path = prompt()
    assert completed(path, lambda: call(path, S + "Prompt", "Dismiss"))[0] is True


def dismissed_while_shown():
    """Shows a prompt, and dismisses it when a line of its input reports that it is on the screen."""
    path = prompt()

    def then():
        show(path)
        sys.stdin.readline()
        call(path, S + "Prompt", "Dismiss")

    dismissed, result = completed(path, then)
    print("dismissed" if dismissed and result == [] else (dismissed, result))


def prompts_of_one_client():
    """A client that creates more prompts than it may have loses the oldest that it does not show, and keeps the one that it shows."""
    shown, oldest = prompt(), prompt()
    begin_to_show(shown)
    more = []
    assert completed(oldest, lambda: more.extend(prompt() for _ in range(40))) == (True, [])
    refused(S + "Error.NoSuchObject", oldest, S + "Prompt", "Prompt", "(s)", "")
    for path in more[-30:] + [shown]:
        call(path, S + "Prompt", "Dismiss")


def prompt_of_a_client_that_leaves():
    # More than the limit: each ends with its client.
    for _ in range(70):
        leaving = connect()
        path = prompt(on=leaving)
        begin_to_show(path, on=leaving)
        leaving.close_sync(None)
        refused(S + "Error.NoSuchObject", path, S + "Prompt", "Dismiss")
    # Also those whose call is still running when the client disconnects.
    for _ in range(70):
        leaving = connect()
        leaving.call(NAME, ROOT, S + "Service", "Unlock", GLib.Variant("(ao)", ([LOGIN],)), None, 0, 60000, None, None)
        leaving.flush_sync(None)
        ended(leaving)
    call(prompt(), S + "Prompt", "Dismiss")


def prompt_answered():
    path = prompt()

    def then():
        begin_to_show(path)
        print("waiting", flush=True)

    dismissed, result = completed(path, then)
    assert dismissed is False and result == [LOGIN], (dismissed, result)
    assert properties(LOGIN, "Collection")["Locked"] is False


def collection_answered():
    """Creates a collection while the keychain is locked: only after the unlock, with which its prompt ends, the collection is there."""
    wanted, alias = {S + "Collection.Label": GLib.Variant("s", "While locked")}, "while locked"
    path, before = ROOT + "/collection/While_locked", properties(ROOT, "Service")["Collections"]

    def requested():
        made, shown = service("CreateCollection", "(a{sv}s)", wanted, alias)
        assert made == "/" and shown.startswith(ROOT + "/prompt/"), (made, shown)
        return shown

    def absent():
        return properties(ROOT, "Service")["Collections"] == before and service("ReadAlias", "(s)", alias) == ("/",)

    shown = requested()
    assert completed(shown, lambda: call(shown, S + "Prompt", "Dismiss")) == (True, "/") and absent()
    shown = requested()

    def then():
        begin_to_show(shown)
        assert absent()
        print("waiting", flush=True)

    assert completed(shown, then) == (False, path)
    refused(S + "Error.NoSuchObject", shown, S + "Prompt", "Dismiss")
    assert sorted(properties(ROOT, "Service")["Collections"]) == sorted(before + [path])
    found = properties(path, "Collection")
    assert found["Label"] == "While locked" and found["Items"] == [] and found["Locked"] is False, found
    assert service("ReadAlias", "(s)", alias) == (path,)
    # The same request finds it, without a prompt.
    assert service("CreateCollection", "(a{sv}s)", wanted, alias) == (path, "/")
    item = create(plain(), {"service": "while locked"}, collection=path)
    assert properties(path, "Collection")["Items"] == [item]
    call(path, S + "Collection", "Delete")
    assert absent()


def one_of_many():
    """One of many programs that need a secret at the first login: it says that it waits once its prompt is shown or waits behind another, and
    prints the secret after the unlock."""
    path = prompt()

    def then():
        begin_to_show(path)
        # In one write, since forty of them write to one pipe.
        os.write(1, b"waiting\n")

    assert completed(path, then) == (False, [LOGIN])
    os.write(1, bytes(get(only({"service": "locked"}), plain())[2]) + b"\n")


def prompt_without_agent():
    """If nothing can show a prompt, the call fails and says what to do before libsecret stops waiting for it, and the prompt completes."""
    path, problems = prompt(), []

    def then():
        try:
            bus.call_sync(NAME, path, S + "Prompt", "Prompt", GLib.Variant("(s)", ("",)), None, 0, 25000, None)
        except GLib.Error as problem:
            problems.append((Gio.DBusError.get_remote_error(problem), problem.message))

    assert completed(path, then) == (True, [])
    assert len(problems) == 1 and problems[0][0] == S + "Error.IsLocked" and "run in a terminal: vauban unlock" in problems[0][1], problems
    refused(S + "Error.NoSuchObject", path, S + "Prompt", "Dismiss")


def prompt_refused():
    path = prompt()
    dismissed, _ = completed(path, lambda: show(path))
    print("refused" if dismissed else "granted")


def before_first_unlock():
    session = plain()
    refused(S + "Error.IsLocked", ROOT, S + "Service", "SearchItems", "(a{ss})", {"service": "locked"})
    refused(S + "Error.IsLocked", LOGIN, S + "Collection", "CreateItem", "(a{sv}(oayays)b)", {}, (session, b"", b"x", "text/plain"), True)
    assert properties(LOGIN, "Collection")["Locked"] is True
    assert service("ReadAlias", "(s)", "default") == (LOGIN,)


def foreign_session():
    owner, session = connect(), plain()
    theirs = plain(on=owner)
    item = create(session, {"of": "a session"})
    refused(S + "Error.NoSession", item, S + "Item", "GetSecret", "(o)", theirs)
    refused(S + "Error.NoSession", ROOT, S + "Service", "GetSecrets", "(aoo)", [item], theirs)
    refused(S + "Error.NoSession", theirs, S + "Session", "Close")
    get(item, theirs, on=owner)
    call(item, S + "Item", "Delete")
    print("refused")


def only(attributes):
    unlocked, closed = service("SearchItems", "(a{ss})", attributes)
    assert len(unlocked) + len(closed) == 1, (unlocked, closed)
    return (unlocked + closed)[0]


def foreign_items():
    session = plain()
    unlocked, closed = service("SearchItems", "(a{ss})", {"service": "mail"})
    assert unlocked == [] and len(closed) == 1, (unlocked, closed)
    item = properties(closed[0], "Item")
    assert item["Locked"] is True and item["Label"] == "" and item["Attributes"] == {} and item["Created"] == 0, item
    assert service("GetSecrets", "(aoo)", closed, session) == ({},)
    refused(S + "Error.IsLocked", closed[0], S + "Item", "GetSecret", "(o)", session)
    # Among others it is left out, and their order is unchanged.
    own = [create(session, {"own": str(n)}, f"own {n}".encode()) for n in range(20)]
    asked = closed + own[:10] + closed + own[10:] + closed
    assert [(path, secret) for path, secret, _ in secrets_of(asked, session)] == [(path, f"own {n}".encode()) for n, path in enumerate(own)]
    for path in own:
        call(path, S + "Item", "Delete")
    assert service("SearchItems", "(a{ss})", {}) == ([], []) and properties(LOGIN, "Collection")["Items"] == []
    assert call(LOGIN, S + "Collection", "SearchItems", "(a{ss})", {})[0] == []
    assert Gio.DBusNodeInfo.new_for_xml(call(LOGIN, "org.freedesktop.DBus.Introspectable", "Introspect")[0]).nodes == []
    print("refused")


def foreign_changes():
    session, path = plain(), only({"service": "mail"})
    refused(S + "Error.IsLocked", path, S + "Item", "SetSecret", "((oayays))", (session, b"", b"planted", "text/plain"))
    refused(S + "Error.IsLocked", path, S + "Item", "Delete")
    for name, value in [("Label", GLib.Variant("s", "x")), ("Attributes", GLib.Variant("a{ss}", {"a": "b"}))]:
        refused(S + "Error.IsLocked", path, "org.freedesktop.DBus.Properties", "Set", "(ssv)", S + "Item", name, value)
    refused("org.freedesktop.DBus.Error.AccessDenied", LOGIN, "org.freedesktop.DBus.Properties", "Set", "(ssv)", S + "Collection", "Label",
            GLib.Variant("s", "x"))
    refused("org.freedesktop.DBus.Error.AccessDenied", ROOT, S + "Service", "SetAlias", "(so)", "default", SESSION)
    work = {S + "Collection.Label": GLib.Variant("s", "Work")}
    refused("org.freedesktop.DBus.Error.AccessDenied", ROOT, S + "Service", "CreateCollection", "(a{sv}s)", work, "work")
    assert service("CreateCollection", "(a{sv}s)", work, "default") == (LOGIN, "/") and service("ReadAlias", "(s)", "work") == ("/",)
    refused("org.freedesktop.DBus.Error.AccessDenied", LOGIN, S + "Collection", "Delete")
    # An item with the same attributes is a different one.
    own = create(session, {"service": "mail", "username": "anna", "xdg:schema": "org.freedesktop.Secret.Generic"}, b"planted")
    assert own != path and bytes(get(own, session)[2]) == b"planted"
    call(own, S + "Item", "Delete")
    print("refused")


def no_lock():
    """An application in a sandbox locks the keychain, its own item and a collection."""
    own = create(plain(), {"service": "no lock"})
    assert service("Lock", "(ao)", [own, LOGIN]) == ([], "/")
    assert properties(LOGIN, "Collection")["Locked"] is False
    call(own, S + "Item", "Delete")
    print("refused")


def trap():
    """An unidentified client stores an item, reports that, and reads it after a line of its input, when another has replaced it."""
    with open("/proc/self/comm", "w") as file:
        file.write("xdg-dbus-proxy")
    session = plain()
    item = create(session, {"service": "trap of an unknown", "xdg:schema": "org.freedesktop.Secret.Generic"}, b"planted", replace=False)
    assert bytes(get(item, session)[2]) == b"planted"
    print("stored", flush=True)
    sys.stdin.readline()
    refused(S + "Error.IsLocked", item, S + "Item", "GetSecret", "(o)", session)
    print("refused")


def stores_beside():
    """An item beside one with the same attributes."""
    create(plain(), {sys.argv[2]: sys.argv[3], "xdg:schema": "org.freedesktop.Secret.Generic"}, sys.argv[4].encode(), replace=False)


def plants():
    """plants COLLECTION VALUE: stores an item of this service, in whose place another program will store its own."""
    create(plain(), {"service": sys.argv[3]}, b"planted", "Trap", replace=False, collection=f"{ROOT}/collection/{sys.argv[2]}")


def looks_up():
    """looks-up VALUE: prints the secret of the item with this service, or that it is locked."""
    unlocked, closed = service("SearchItems", "(a{ss})", {"service": sys.argv[2]})
    print(bytes(get(unlocked[0], plain())[2]).decode() if unlocked else "locked" if closed else "none")


def sets():
    """sets secret|attributes VALUE: gives the item with this service another secret, or one more attribute."""
    path = only({"service": sys.argv[3]})
    if sys.argv[2] == "secret":
        call(path, S + "Item", "SetSecret", "((oayays))", (plain(), b"", b"of the user", "text/plain"))
    else:
        call(path, "org.freedesktop.DBus.Properties", "Set", "(ssv)", S + "Item", "Attributes",
             GLib.Variant("a{ss}", {"service": sys.argv[3], "more": "of the user"}))


def races():
    """races COLLECTION TURNS: in each turn it plants an item, says so, and reads and writes it over eight connections while `replaces` puts
    something in its place, until it is refused. Prints whether it ever read that."""
    collection, planted, locked = f"{ROOT}/collection/{sys.argv[2]}", b"planted", S + "Error.IsLocked"
    clients = [connect() for _ in range(8)]
    sessions = [plain(on=client) for client in clients]
    read, problems = [], []

    def attack(number, item):
        client, session = clients[number], sessions[number]
        for _ in range(3000):
            try:
                if number % 2:
                    read.append(bytes(get(item, session, on=client)[2]))
                else:
                    call(item, S + "Item", "SetSecret", "((oayays))", (session, b"", planted, "text/plain"), on=client)
            except GLib.Error as problem:
                if Gio.DBusError.get_remote_error(problem) != locked:
                    problems.append(problem.message)
                return

    for turn in range(int(sys.argv[3])):
        item = create(sessions[0], {"service": f"race {turn}"}, planted, replace=False, collection=collection, on=clients[0])
        attackers = [threading.Thread(target=attack, args=(number, item)) for number in range(8)]
        for attacker in attackers:
            attacker.start()
        print(f"planted {turn}", flush=True)
        for attacker in attackers:
            attacker.join()
        # The other has replaced it.
        assert sys.stdin.readline() == "replaced\n"
    print("refused" if set(read) == {planted} and not problems else (set(read), problems), flush=True)


def replaces():
    """replaces COLLECTION: replaces what `races` plants, as its input says, and repeats the end of that on the standard error, if all that it
    stored is as it was."""
    session, collection, stored = plain(), f"{ROOT}/collection/{sys.argv[2]}", {}
    for line in sys.stdin:
        word, _, turn = line.strip().partition(" ")
        if word != "planted":
            changed = [path for path, secret in stored.items() if bytes(get(path, session)[2]) != secret]
            print(f"{len(changed)} changed" if changed else line.strip(), file=sys.stderr)
            break
        secret = f"of the user {turn}".encode()
        stored[create(session, {"service": f"race {turn}"}, secret, collection=collection)] = secret
        print("replaced", flush=True)
    for path in stored:
        call(path, S + "Item", "Delete")


def churns():
    """Stores and deletes items with one service, many times."""
    session = plain()
    for turn in range(150):
        for path in [create(session, {"service": "churn", "number": str(n)}) for n in range(2)]:
            call(path, S + "Item", "Delete")


def searches():
    """Searches for these items as often, and reads the list of the collection."""
    for turn in range(300):
        service("SearchItems", "(a{ss})", {"service": "churn"})
        properties(LOGIN, "Collection")
    print("found")


def holds_prompts():
    """Requests prompts over many connections until it is refused, prints their number, and holds them until its input ends."""
    clients = []
    while len(clients) < 64:
        clients.append(connect())
        try:
            prompt(on=clients[-1])
        except GLib.Error as problem:
            assert Gio.DBusError.get_remote_error(problem) == "org.freedesktop.DBus.Error.LimitsExceeded", problem.message
            break
    print(len(clients) - 1, flush=True)
    sys.stdin.read()


def stores_many():
    """Six items with one service in a collection of their own, and one that is in memory only."""
    session = plain()
    made = service("CreateCollection", "(a{sv}s)", {S + "Collection.Label": GLib.Variant("s", "Many")}, "")[0]
    for number in range(1, 7):
        create(session, {"service": "many", "number": str(number)}, b"x", f"Many {number}", collection=made)
    create(session, {"service": "memory"}, b"in memory", "In memory", collection=SESSION)


def deletes_many():
    call(ROOT + "/collection/Many", S + "Collection", "Delete")


def unlocks():
    """unlocks SERVICE: unlocks all items with this service at once, and prints how many are unlocked then, and how many stay locked."""
    wanted = {"service": sys.argv[2]}
    path = service("Unlock", "(ao)", service("SearchItems", "(a{ss})", wanted)[1])[1]
    dismissed, opened = completed(path, lambda: show(path))
    unlocked, closed = service("SearchItems", "(a{ss})", wanted)
    assert not dismissed and sorted(opened) == sorted(unlocked), (dismissed, opened, unlocked)
    print(len(unlocked), len(closed))


def wallet_labels():
    """An application in a sandbox creates collections with the labels of KDE's default wallet and of an existing one."""
    for label in ["kdewallet", "Login", "secret plans"]:
        refused("org.freedesktop.DBus.Error.AccessDenied", ROOT, S + "Service", "CreateCollection", "(a{sv}s)",
                {S + "Collection.Label": GLib.Variant("s", label)}, "")
    made = service("CreateCollection", "(a{sv}s)", {S + "Collection.Label": GLib.Variant("s", "kdewallet of an app")}, "")[0]
    assert made.startswith(ROOT + "/collection/kdewallet_"), made
    print("refused")


def large_calls():
    """Calls that are too large are refused, and the largest permitted ones are not."""
    session, limits = plain(), "org.freedesktop.DBus.Error.LimitsExceeded"
    # The bus of these tests ends the connection of a client that sends more than 32 MiB.
    for size in 5 << 20, 30 << 20:
        refused(limits, ROOT, S + "Service", "SearchItems", "(a{ss})", {"large": "v" * size})
    refused(limits, ROOT, S + "Service", "SearchItems", "(a{ss})", {f"{n}": "v" * 1000 for n in range(5000)})
    item = create(session, {"service": "large"}, bytes(1 << 20))
    assert bytes(get(item, session)[2]) == bytes(1 << 20)
    call(item, S + "Item", "Delete")
    print("refused")


def many_collections():
    """An application in a sandbox creates collections until it is refused; prints their number."""
    for number in range(200):
        try:
            service("CreateCollection", "(a{sv}s)", {S + "Collection.Label": GLib.Variant("s", f"of a flood {number}")}, "")
        except GLib.Error as problem:
            assert Gio.DBusError.get_remote_error(problem) == "org.freedesktop.DBus.Error.LimitsExceeded", problem.message
            break
    # The connection of this process is one more.
    print(len(properties(ROOT, "Service")["Collections"]) - 1)


def deletes_collections():
    made = service("CreateCollection", "(a{sv}s)", {S + "Collection.Label": GLib.Variant("s", "one more")}, "")[0]
    for path in [made] + [path for path in properties(ROOT, "Service")["Collections"] if "/of_a_flood" in path]:
        call(path, S + "Collection", "Delete")
    print("made")


def finds_locked():
    unlocked, closed = service("SearchItems", "(a{ss})", {sys.argv[2]: sys.argv[3]})
    print("locked" if unlocked == [] and len(closed) == 1 else (unlocked, closed))


def rename():
    call(only({sys.argv[2]: sys.argv[3]}), "org.freedesktop.DBus.Properties", "Set", "(ssv)", S + "Item", "Attributes",
         GLib.Variant("a{ss}", {"service": "renamed"}))


def reads():
    session = plain()
    found = [path for path in properties(LOGIN, "Collection")["Items"] if properties(path, "Item")["Label"] == sys.argv[2]]
    print(" and ".join(bytes(get(path, session)[2]).decode() for path in found))


def lookups_while_killing():
    """Kills a room of the launcher during every few look-ups, at a random moment of one. Every second look-up is secret-tool's."""
    import random, subprocess
    launcher, count, killed = sys.argv[2], int(sys.argv[3]), {}
    took, seed = 0.01, random.randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    random.seed(seed)

    def rooms():
        for child in open(f"/proc/{launcher}/task/{launcher}/children").read().split():
            try:
                words = open(f"/proc/{child}/cmdline").read().split("\0")
            except OSError:
                continue
            # The program for tests contains several rooms, and its first argument names one.
            name = os.path.basename(words[0])
            if name == "rooms-testing":
                name = words[1]
            if name in ("keychaind", "enclaved", "authd"):
                yield int(child), name

    def kill():
        running = list(rooms())
        if running:
            process, name = random.choice(running)
            os.kill(process, 9)
            killed[name] = killed.get(name, 0) + 1

    session = plain()
    for turn in range(count):
        # At some time within the look-up, by the duration of the last one.
        killer = threading.Timer(random.random() * took, kill) if turn % 7 == 0 else None
        began = time.monotonic()
        if killer:
            killer.start()
        if turn % 2:
            told = subprocess.run(["secret-tool", "lookup", "service", "fault", "username", "anna"], capture_output=True)
            assert told.returncode == 0, (turn, told)
            secret = told.stdout
        elif turn % 4:
            secret = bytes(get(only({"service": "fault", "username": "anna"}), session)[2])
        else:
            path = only({"service": "fault", "username": "anna"})
            got = secrets_of([path] * 3 + [ROOT] + [path] * 20, session)
            assert len(got) == 23 and len(set(got)) == 1, (turn, got)
            secret = got[0][1]
        assert secret == b"kept through faults", (turn, secret)
        if killer:
            killer.join()
        else:
            took = time.monotonic() - began
    assert len(killed) == 3, killed
    print(f"{count} look-ups, killed: {killed}")


def unusual_sizes():
    session = plain()
    long = LOGIN + "/" + "a" * 60_000
    refused(S + "Error.NoSuchObject", long, S + "Item", "GetSecret", "(o)", session)
    refused(S + "Error.NoSuchObject", ROOT + "/collection/" + "b" * 60_000, S + "Collection", "SearchItems", "(a{ss})", {"a": "b"})
    assert service("GetSecrets", "(aoo)", [long] * 3 + [LOGIN + "/" + f"{n:032x}" for n in range(5_000)], session) == ({},)
    many = {f"name {n}": f"value {n}" for n in range(10_000)}
    limits = "org.freedesktop.DBus.Error.LimitsExceeded"
    refused(limits, ROOT, S + "Service", "SearchItems", "(a{ss})", many)
    assert service("SearchItems", "(a{ss})", {"service": "v" * 30_000}) == ([], [])
    # The largest permitted calls, and larger ones.
    path = create(session, many, bytes(1 << 20), collection=SESSION)
    assert bytes(get(path, session)[2]) == bytes(1 << 20) and properties(path, "Item")["Attributes"] == many
    call(path, S + "Item", "Delete")
    for size in 5 << 20, 30 << 20:
        refused(limits, ROOT, S + "Service", "SearchItems", "(a{ss})", {"large": "v" * size})
    refused(limits, ROOT, S + "Service", "Unlock", "(ao)", [LOGIN] * 100_000)
    refused(limits, ROOT, S + "Service", "Unlock", "(ao)", [LOGIN] * 16_385)
    assert service("Unlock", "(ao)", [LOGIN] * 16_384) == ([LOGIN], "/")
    for number in range(2):
        path = create(session, {}, b"", label="", replace=True)
        assert bytes(get(path, session)[2]) == b"" and properties(path, "Item")["Attributes"] == {}
    call(path, S + "Item", "Delete")


def killed_while_called():
    answers, loop = [], GLib.MainLoop()

    def answered(source, result):
        try:
            answers.append(source.call_finish(result).unpack())
        except GLib.Error as problem:
            answers.append(Gio.DBusError.get_remote_error(problem))
        if len(answers) == 50:
            loop.quit()

    for _ in range(50):
        bus.call(NAME, ROOT, S + "Service", "SearchItems", GLib.Variant("(a{ss})", ({},)), None, Gio.DBusCallFlags.NO_AUTO_START, 60000, None,
                 answered)
    bus.flush_sync(None)
    os.kill(int(sys.argv[2]), 9)
    loop.run()
    known = ["org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown"]
    assert all(not isinstance(answer, str) or answer in known for answer in answers), answers


def owns_the_name():
    loop = GLib.MainLoop()
    Gio.bus_own_name_on_connection(bus, NAME, 0, lambda *_: print("owned", flush=True), lambda *_: loop.quit())
    loop.run()


# Clients of another provider, whose items are imported.


def wait_for_owner():
    loop = GLib.MainLoop()
    Gio.bus_watch_name_on_connection(bus, sys.argv[2] if len(sys.argv) > 2 else NAME, 0, lambda *_: loop.quit(), None)
    loop.run()


KEYRING = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"


def fill_keyring():
    """Creates a collection through GNOME Keyring's own interface, without a window."""
    session = plain()
    login = service("ReadAlias", "(s)", "default")[0]
    create(session, {"application": "of a test", "Ünïcode": "ß" * 500, "empty": ""}, b"pa\0\xffssword", "Bytes ä", collection=login)
    create(session, {"service": "twice", "username": "anna"}, b"one", "One", replace=False, collection=login)
    create(session, {"service": "twice", "username": "anna"}, b"two", "Two", replace=False, collection=login)
    create(session, {}, b"without attributes", "Nothing", replace=False, collection=login)
    create(session, {"service": "large"}, os.urandom(20_000), "Large", collection=login)
    made = call(ROOT, KEYRING, "CreateWithMasterPassword", "(a{sv}(oayays))", {S + "Collection.Label": GLib.Variant("s", "Work things")},
                (session, b"", b"of work", "text/plain"))[0]
    create(session, {"service": "work", "username": "anna"}, b"at work", "At work", collection=made)
    print(made)


def replaced_without_schema():
    """A program that stored an item without a schema replaces it, although it has one by now."""
    session, attributes = plain(), {"application": "of a test", "Ünïcode": "ß" * 500, "empty": ""}
    path = create(session, attributes, b"replaced", "Bytes ä")
    assert service("SearchItems", "(a{ss})", attributes) == ([path], []), service("SearchItems", "(a{ss})", attributes)
    assert bytes(get(path, session)[2]) == b"replaced"


def lock_keyring():
    assert service("Lock", "(ao)", [sys.argv[2]]) == ([sys.argv[2]], "/")


def unlock_keyring():
    call(ROOT, KEYRING, "UnlockWithMasterPassword", "(o(oayays))", sys.argv[2], (plain(), b"", b"of work", "text/plain"))


def stored_for_export():
    """Items of all shapes, in two collections."""
    session = plain()
    made = service("CreateCollection", "(a{sv}s)", {S + "Collection.Label": GLib.Variant("s", "Wörk / things")}, "work")[0]
    create(session, {"service": "export", "ä": "ß\n", "empty": ""}, bytes(range(256)), "Bytes: ä", collection=made, kind="application/octet-stream")
    create(session, {"service": "export", "ä": "ß\n", "empty": ""}, b"", "", collection=made, replace=False, kind="image/png")
    create(session, {"service": "export"}, "wört".encode(), "Text")
    create(session, {}, b"no attributes", "None")


def dump():
    """Everything that a provider has, as lines that can be compared."""
    session, lines = plain(), []
    for path in properties(ROOT, "Service")["Collections"]:
        collection = properties(path, "Collection")
        for item in collection["Items"]:
            found = properties(item, "Item")
            # GNOME Keyring adds this one when it reads its files again.
            found["Attributes"].setdefault("xdg:schema", "org.freedesktop.Secret.Generic")
            _, _, secret, kind = get(item, session)
            lines.append((path.rsplit("/")[-1], found["Label"], sorted(found["Attributes"].items()), hashlib.sha256(bytes(secret)).hexdigest(), kind))
        if not path.endswith(("/login", "/session")):
            lines.append((path.rsplit("/")[-1], collection["Label"]))
    for line in sorted(lines, key=repr):
        print(repr(line))


# The Secret portal: its backend, and a real frontend.


PORTAL = "org.freedesktop.portal.Desktop"
PORTAL_PATH = "/org/freedesktop/portal/desktop"
BACKEND = "org.freedesktop.impl.portal.desktop.vauban"


def with_pipe(name, interface, variant):
    """Calls RetrieveSecret with the end of a pipe; returns its reply, and the data from the pipe."""
    reading, writing = os.pipe()
    files = Gio.UnixFDList.new()
    files.append(writing)
    os.close(writing)
    answer, _ = bus.call_with_unix_fd_list_sync(name, PORTAL_PATH, interface, "RetrieveSecret", variant, None, 0, 240000, files, None)
    return answer.unpack(), reading


def backend_key():
    """backend-key APP [waits | closes]: what the portal gets for an app. With a word, the user is waited for: it says `waits` once the
    service has the call, or ends the request then."""
    conduct, handle = (sys.argv[3:] + [""])[0], f"{PORTAL_PATH}/request/1_1/t{os.getpid()}"
    reading, writing = os.pipe()
    files, answers, loop = Gio.UnixFDList.new(), [], GLib.MainLoop()
    files.append(writing)
    os.close(writing)

    def answered(source, result):
        answers.append(source.call_with_unix_fd_list_finish(result)[0].unpack()[0])
        loop.quit()

    bus.call_with_unix_fd_list(
        BACKEND, PORTAL_PATH, "org.freedesktop.impl.portal.Secret", "RetrieveSecret",
        GLib.Variant("(osha{sv})", (handle, sys.argv[2], 0, {})), None, 0, 240000, files, None, answered)
    if conduct == "closes":
        bus.call_sync(BACKEND, handle, "org.freedesktop.impl.portal.Request", "Close", None, None, 0, 60000, None)
    elif conduct == "waits":
        # Calls of one client are answered in their order.
        backend_version()
        print("waits", flush=True)
    loop.run()
    print(os.read(reading, 1000).hex() if answers == [0] else f"response {answers[0]}", flush=True)


def backend_version():
    return bus.call_sync(
        BACKEND, PORTAL_PATH, "org.freedesktop.DBus.Properties", "Get", GLib.Variant("(ss)", ("org.freedesktop.impl.portal.Secret", "version")),
        None, 0, 60000, None).unpack()


def foreign_key():
    """An application in a sandbox calls the backend in the name of another."""
    try:
        with_pipe(BACKEND, "org.freedesktop.impl.portal.Secret",
                  GLib.Variant("(osha{sv})", (f"{PORTAL_PATH}/request/1_1/foreign", "org.example.Other", 0, {})))
        print("given")
    except GLib.Error as problem:
        assert Gio.DBusError.get_remote_error(problem) == "org.freedesktop.DBus.Error.AccessDenied", problem.message
        print("refused")


def portal_key():
    """The key that an application gets from a real xdg-desktop-portal."""
    token, loop, responses = f"t{os.getpid()}", GLib.MainLoop(), []
    path = f"{PORTAL_PATH}/request/{bus.get_unique_name()[1:].replace('.', '_')}/{token}"

    def responded(*arguments):
        responses.append(arguments[-1].unpack()[0])
        loop.quit()

    bus.signal_subscribe(PORTAL, "org.freedesktop.portal.Request", "Response", path, None, 0, responded)
    _, reading = with_pipe(
        PORTAL, "org.freedesktop.portal.Secret", GLib.Variant("(ha{sv})", (0, {"handle_token": GLib.Variant("s", token)})))
    loop.run()
    assert responses == [0], responses
    print(os.read(reading, 1000).hex())


def late_portal_key():
    """The key that an application gets if it does not name its request, and subscribes to the response some time after it got the handle."""
    for _ in range(5):
        loop, responses, subscriptions = GLib.MainLoop(), [], []

        def responded(*arguments):
            responses.append(arguments[-1].unpack()[0])
            loop.quit()

        def subscribe():
            subscriptions.append(bus.signal_subscribe(PORTAL, "org.freedesktop.portal.Request", "Response", path, None, 0, responded))

        (path,), reading = with_pipe(PORTAL, "org.freedesktop.portal.Secret", GLib.Variant("(ha{sv})", (0, {})))
        GLib.timeout_add(200, subscribe)
        # On a machine that was suspended it may still be too late, and it asks again.
        GLib.timeout_add_seconds(20, loop.quit)
        loop.run()
        bus.signal_unsubscribe(subscriptions[0])
        if responses:
            assert responses == [0], responses
            print(os.read(reading, 1000).hex())
            return
    raise AssertionError("the response comes before the application can subscribe to it")


def portal_refused():
    """A call without a file, with a long name, of another type, and the end of an unknown request."""
    secret = "org.freedesktop.impl.portal.Secret"
    for error, member, variant in [
            ("InvalidArgs", "RetrieveSecret", GLib.Variant("(os)", ("/a", "b"))),
            ("UnknownMethod", "Retrieve", None)]:
        try:
            bus.call_sync(BACKEND, PORTAL_PATH, secret, member, variant, None, 0, 60000, None)
            raise AssertionError(f"{member} is not refused")
        except GLib.Error as problem:
            got = Gio.DBusError.get_remote_error(problem)
            assert got == f"org.freedesktop.DBus.Error.{error}", got
    for application in ["a" * 256]:
        try:
            with_pipe(BACKEND, secret, GLib.Variant("(osha{sv})", (f"{PORTAL_PATH}/request/1_1/long", application, 0, {})))
            raise AssertionError("a long name is not refused")
        except GLib.Error as problem:
            assert Gio.DBusError.get_remote_error(problem) == "org.freedesktop.DBus.Error.InvalidArgs"
    try:
        bus.call_sync(BACKEND, f"{PORTAL_PATH}/request/1_1/none", "org.freedesktop.impl.portal.Request", "Close", None, None, 0, 60000, None)
        raise AssertionError("a request that is not there is closed")
    except GLib.Error as problem:
        assert Gio.DBusError.get_remote_error(problem) == S + "Error.NoSuchObject"
    version = backend_version()
    assert version == (1,), version


globals()[sys.argv[1].replace("-", "_")]()
