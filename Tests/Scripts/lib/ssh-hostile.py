"""What a program asks of an agent, hostile or not: ssh-hostile.py SOCKET PUBLIC-KEY REQUEST [NAMESPACE]. The requests are sign, bound, forged, forwarded
and forwarded-long, whose user name would fill a prompt; with a namespace message, message-forged and message-forwarded, and login. With a private key's
file: comments, connections, empty-lock and guesses. Says what came of it."""
import base64, os, resource, socket, struct, subprocess, sys, time

path, request = sys.argv[1], sys.argv[3]
blob = base64.b64decode(open(sys.argv[2]).read().split()[1])


def string(value): return struct.pack(">I", len(value)) + value


client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
try: client.connect(path)
except OSError: sys.exit(print("no connection"))


def ask(message):
    try: client.sendall(struct.pack(">I", len(message)) + message)
    except OSError: return b""
    data = b""
    while len(data) < 4 or len(data) < 4 + struct.unpack(">I", data[:4])[0]:
        try: part = client.recv(65536)
        except OSError: part = b""
        if not part: return b""
        data += part
    return data[4:]


def sign(key, data): return ask(b"\x0d" + string(key) + string(data) + bytes(4))


def tell(answer): print("signed" if answer[:1] in (b"\x0e", b"\x06") else "refused")


def bind(session, signature, forwarding):
    return ask(b"\x1b" + string(b"session-bind@openssh.com") + string(host) + string(session) + string(signature) + bytes([forwarding]))


# A key of the agent that signs without a prompt represents the forwarding machine.
def message(): return b"SSHSIG" + string(sys.argv[4].encode()) + string(b"") + string(b"sha512") + string(os.urandom(64))


def login(user=b"root"):
    start = string(os.urandom(32)) + b"\x32" + string(user) + string(b"ssh-connection") + string(b"publickey") + b"\1"
    return start + string(b"ecdsa-sha2-nistp256") + string(blob)


keys = ask(b"\x0b")
session, host = os.urandom(32), b""
if keys[:1] == b"\x0c":
    offset = 5
    for _ in range(struct.unpack(">I", keys[1:5])[0]):
        for part in range(2):
            count = struct.unpack(">I", keys[offset:offset + 4])[0]
            value, offset = keys[offset + 4:offset + 4 + count], offset + 4 + count
            if part == 0: found = value
            elif value in (b"free",): host = found
if request == "sign": tell(sign(blob, b"whatever"))
elif request == "bound": tell(bind(session, sign(host, session)[5:], 0))
elif request == "forged": tell(bind(session, sign(host, os.urandom(32))[5:], 0))
elif request in ("forwarded", "forwarded-long"):
    if bind(session, sign(host, session)[5:], 1) != b"\x06": sys.exit(print("no session"))
    tell(sign(blob, login() if request == "forwarded" else login(b"anna" + "”, with the key free, for git (process 1)".encode() * 9)))
elif request == "message": tell(sign(blob, message()))
elif request == "message-forged":
    bind(session, sign(host, os.urandom(32))[5:], 0)
    tell(sign(blob, message()))
elif request == "message-forwarded":
    if bind(session, sign(host, session)[5:], 1) != b"\x06": sys.exit(print("no session"))
    tell(sign(blob, message()))
elif request == "login": tell(sign(blob, login()))


def private_key():
    """The fields of an Ed25519 key in a file without a passphrase (OpenSSH's PROTOCOL.key), without its comment, and its public half."""
    data = base64.b64decode("".join(open(sys.argv[4]).read().split("\n")[1:-2]))
    at, parts = len(b"openssh-key-v1\0"), []
    while len(parts) < 5:
        if len(parts) == 3: at += 4
        count = struct.unpack(">I", data[at:at + 4])[0]
        parts.append(data[at + 4:at + 4 + count])
        at += 4 + count
    inner, at, fields = parts[4], 8, []
    while len(fields) < 3:
        count = struct.unpack(">I", inner[at:at + 4])[0]
        fields.append(inner[at:at + 4 + count])
        at += 4 + count
    return b"".join(fields), fields[0] + fields[1]


def another_lists():
    """Whether the agent lists the key to another process."""
    shown = subprocess.run(["ssh-add", "-L"], capture_output=True, text=True)
    return sys.argv[2] and open(sys.argv[2]).read().split()[1] in shown.stdout


if request == "comments":
    # A key that fits is accepted. One that makes the list too long for clients is refused, alone and beside the other.
    fields, public = private_key()
    took = [ask(b"\x11" + fields + string(b"c" * count)) == b"\6" for count in (1000, 200 << 10, 100 << 10)]
    print("refused" if took == [True, False, True] and another_lists() else took)
    ask(b"\x12" + string(public))
elif request == "connections":
    resource.setrlimit(resource.RLIMIT_NOFILE, (4000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    clients = []
    for _ in range(3000):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.connect(path)
        clients.append(client)
    last = ask(b"\x0b")
    client = clients[0]
    print("refused" if last == b"" and ask(b"\x0b")[:1] == b"\x0c" and another_lists() else "succeeds")
elif request == "empty-lock":
    print("refused" if ask(b"\x16" + string(b"")) == b"\5" and another_lists() else "locked")
elif request == "guesses":
    # Each wrong passphrase takes longer. Only the minimum duration is checked.
    if ask(b"\x16" + string(b"right")) != b"\6": sys.exit(print("it does not lock"))
    start = time.monotonic()
    wrong = [ask(b"\x17" + string(b"wrong")) for _ in range(5)]
    took = time.monotonic() - start
    print("slow" if wrong == [b"\5"] * 5 and took >= 1.5 and ask(b"\x17" + string(b"right")) == b"\6" else (wrong, took))
