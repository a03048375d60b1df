"""Messages that no honest client sends, and many at once, at the agent's socket: ssh-frames.py SOCKET PUBLIC-KEY ADDED-KEY. The agent goes
on between them. ADDED-KEY is the file of an Ed25519 key without a passphrase, which is in the agent neither before nor afterwards."""
import base64, os, socket, struct, subprocess, sys

path, blob = sys.argv[1], base64.b64decode(open(sys.argv[2]).read().split()[1])


def string(value): return struct.pack(">I", len(value)) + value


def connect():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(60)
    client.connect(path)
    return client


def whole(client, count):
    data = b""
    while len(data) < count:
        part = client.recv(count - len(data))
        if not part: return None
        data += part
    return data


def reply(client):
    head = whole(client, 4)
    return None if head is None else whole(client, struct.unpack(">I", head)[0])


def ask(client, message):
    client.sendall(struct.pack(">I", len(message)) + message)
    return reply(client)


def check(what, found, wanted):
    if found != wanted: sys.exit(f"FAILED: {what}: {found!r}, not {wanted!r}")


def alive(): check("another client", ask(connect(), b"\x0b")[:1], b"\x0c")


FAILURE = b"\x05"
# Bodies that are too short, too long, or empty: each is refused, and the connection stays open.
client = connect()
sign = b"\x0d" + string(blob) + string(b"data") + struct.pack(">I", 0)
check("a signature", ask(client, sign)[:1], b"\x0e")
for cut in range(1, len(sign)): check(f"a request cut at {cut}", ask(client, sign[:cut]), FAILURE)
check("a request that goes on", ask(client, sign + b"x"), FAILURE)
check("a key with another length", ask(client, b"\x0d" + string(blob[:-1]) + string(b"") + bytes(4)), FAILURE)
check("a string that is longer than everything", ask(client, b"\x0d" + b"\xff" * 4 + blob), FAILURE)
for number in set(range(256)) - {11, 13, 17, 18, 19, 22, 23, 25, 27}: check(f"message {number}", ask(client, bytes([number])), FAILURE)
check("an extension", ask(client, b"\x1b" + string(b"query@example.org")), FAILURE)
check("the connection", ask(client, b"\x0b")[:1], b"\x0c")

# Lengths: zero, too large, and the largest that is accepted.
for length in (0, (256 << 10) + 1, 0xFFFFFFFF):
    client = connect()
    client.sendall(struct.pack(">I", length))
    check(f"a length of {length}", reply(client), None)
check("the largest message", ask(connect(), b"\x0d" + bytes((256 << 10) - 1)), FAILURE)
client = connect()
client.sendall(struct.pack(">I", 256 << 10) + b"\x0d")
client.close()
alive()

# One byte at a time, and two messages at once: each is answered, in order.
client = connect()
for byte in struct.pack(">I", 1) + b"\x0b": client.sendall(bytes([byte]))
check("a byte at a time", reply(client)[:1], b"\x0c")
client.sendall(b"\0\0\0\1\x0b" + struct.pack(">I", len(sign)) + sign + b"\0\0\0\1\x63")
check("the first of three", reply(client)[:1], b"\x0c")
check("the second of three", reply(client)[:1], b"\x0e")
check("the third of three", reply(client), FAILURE)

# Invalid keys.
ed25519 = b"\x11" + string(b"ssh-ed25519")
check("a short Ed25519 key", ask(client, ed25519 + string(bytes(31)) + string(bytes(64)) + string(b"")), FAILURE)
check("an Ed25519 key with another public half", ask(client, ed25519 + string(bytes(32)) + string(bytes(64)) + string(b"")), FAILURE)
check("halves that differ", ask(client, ed25519 + string(bytes(32)) + string(bytes(32) + bytes([1]) * 32) + string(b"")), FAILURE)
curve = b"\x11" + string(b"ecdsa-sha2-nistp256")
check("a key of another curve", ask(client, curve + string(b"nistp384") + string(bytes(97)) + string(b"\1") + string(b"")), FAILURE)
check("a point that is none", ask(client, curve + string(b"nistp256") + string(b"\4" + bytes(64)) + string(b"\1") + string(b"")), FAILURE)
check("a negative number", ask(client, curve + string(b"nistp256") + string(blob[-65:]) + string(b"\xff") + string(b"")), FAILURE)
check("another's public half", ask(client, curve + string(b"nistp256") + string(blob[-65:]) + string(b"\1") + string(b"")), FAILURE)
check("a small RSA key", ask(client, b"\x11" + string(b"ssh-rsa") + (string(b"\1" * 64)) * 6 + string(b"")), FAILURE)
check("a type that is not known", ask(client, b"\x11" + string(b"ssh-dss") + string(b"x") * 6), FAILURE)

# Constraints that this agent cannot meet, or that are malformed: the key is not added, and the connection stays open.
text = "".join(line for line in open(sys.argv[3]).read().splitlines() if "-----" not in line)
added, body = base64.b64decode(open(sys.argv[3] + ".pub").read().split()[1]), base64.b64decode(text)
point = added[-32:]
# The seed and the point follow each other in the private part.
pair = body[body.rindex(point) - 32:body.rindex(point)] + point
constrained = b"\x19" + string(b"ssh-ed25519") + string(point) + string(pair) + string(b"constrained")
lifetime, destinations = b"\x01" + struct.pack(">I", 1000), b"\xff" + string(b"restrict-destination-v00@openssh.com")


def listed(): return string(added) in ask(connect(), b"\x0b")


client = connect()
for what, constraints in {
        "a constraint with an unknown number": b"\x04",
        "a number of signatures": b"\x03" + struct.pack(">I", 5),
        "a constraint with an unknown name": b"\xff" + string(b"weekdays@example.org") + string(b""),
        "a provider for security keys": b"\xff" + string(b"sk-provider@openssh.com") + string(b"internal"),
        "an unknown constraint after a known one": lifetime + b"\x02" + b"\x04",
        "a lifetime of nothing": b"\x01" + bytes(4),
        "two lifetimes": lifetime + lifetime,
        "a lifetime that is cut": lifetime[:-1],
        "destinations that are cut": destinations + string(b"\0\0\0\1")[:-1],
        "a destination that is none": destinations + string(string(b"x")),
        "a name that is cut": b"\xff" + string(b"weekdays@example.org")[:-1],
}.items():
    check(what, ask(client, constrained + constraints), FAILURE)
    check(f"{what}: the key in the list", listed(), False)
check("constraints that can be met", ask(client, constrained + lifetime + b"\x02"), b"\x06")
check("the key with these in the list", listed(), True)
check("the key's removal", ask(client, b"\x12" + string(added)), b"\x06")
check("a removed key in the list", listed(), False)

# Sessions without a server's signature, and a login in another session than the bound one.
bind = b"\x1b" + string(b"session-bind@openssh.com") + string(blob) + string(bytes(32))
algorithm = string(b"ecdsa-sha2-nistp256")
for forged in (b"", string(b"x"), algorithm + string(b""), algorithm + string(string(b"\1") + string(b"\1"))):
    check("a forged session", ask(connect(), bind + string(forged) + b"\0"), FAILURE)
# A server's signature: here by the agent's own key, which any client can have sign a session identifier.
session, other = os.urandom(32), os.urandom(32)
signed = ask(connect(), b"\x0d" + string(blob) + string(session) + bytes(4))[5:]
bound = b"\x1b" + string(b"session-bind@openssh.com") + string(blob) + string(session) + string(signed)


def login(number, user=b"git", host=None):
    method = b"publickey" if host is None else b"publickey-hostbound-v00@openssh.com"
    body = string(number) + b"\x32" + string(user) + string(b"ssh-connection") + string(method) + b"\1" + string(b"ecdsa-sha2-nistp256") + string(blob)
    body += b"" if host is None else string(host)
    return b"\x0d" + string(blob) + string(body) + bytes(4)


client = connect()
check("a bound session", ask(client, bound + b"\0"), b"\x06")
check("the same once more", ask(client, bound + b"\0"), FAILURE)
check("a login in that session", ask(client, login(session))[:1], b"\x0e")
check("a login at that server", ask(client, login(session, host=blob))[:1], b"\x0e")
check("a login in another session", ask(client, login(other)), FAILURE)
check("a login at another server", ask(client, login(session, host=blob[:-1] + bytes([blob[-1] ^ 1]))), FAILURE)
check("a Boolean that is none", ask(connect(), bound + b"\2"), FAILURE)
wrong_key = login(session).replace(string(b"ecdsa-sha2-nistp256") + string(blob), string(b"ecdsa-sha2-nistp256") + string(blob[:-1] + bytes([blob[-1] ^ 1])), 1)
check("a login with another key", ask(connect(), wrong_key), FAILURE)

# A thousand connections that send nothing, and a hundred that send half a message.
silent = [connect() for _ in range(1000)]
for client in silent[:100]: client.sendall(b"\0\0\1")
alive()
subprocess.run(["ssh-add", "-T", sys.argv[2]], check=True, env={**os.environ, "SSH_AUTH_SOCK": path})
for client in silent: client.close()
alive()

# Thirty-two requests of one process at once, of which eight are served at a time: each is answered in turn, and another process meanwhile.
crowd = [connect() for _ in range(32)]
for turn in range(3):
    for client in crowd: client.sendall(struct.pack(">I", len(sign)) + sign)
    subprocess.run(["ssh-add", "-T", sys.argv[2]], check=True, env={**os.environ, "SSH_AUTH_SOCK": path})
    for number, client in enumerate(crowd): check(f"signature {number} of turn {turn}", (reply(client) or b"")[:1], b"\x0e")
print("ok")
