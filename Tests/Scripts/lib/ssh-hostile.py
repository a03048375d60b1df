"""What a program asks of an agent, hostile or not: ssh-hostile.py SOCKET PUBLIC-KEY REQUEST [NAMESPACE]. The requests are sign, bound, forged, forwarded;
with a namespace message, message-forged and message-forwarded, and login. Says what came of it."""
import base64, os, socket, struct, sys

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


# The machine of the forwarding is played by any key of the agent that signs without a prompt.
def message(): return b"SSHSIG" + string(sys.argv[4].encode()) + string(b"") + string(b"sha512") + string(os.urandom(64))


def login():
    start = string(os.urandom(32)) + b"\x32" + string(b"root") + string(b"ssh-connection") + string(b"publickey") + b"\1"
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
elif request == "forwarded":
    if bind(session, sign(host, session)[5:], 1) != b"\x06": sys.exit(print("no session"))
    tell(sign(blob, login()))
elif request == "message": tell(sign(blob, message()))
elif request == "message-forged":
    bind(session, sign(host, os.urandom(32))[5:], 0)
    tell(sign(blob, message()))
elif request == "message-forwarded":
    if bind(session, sign(host, session)[5:], 1) != b"\x06": sys.exit(print("no session"))
    tell(sign(blob, message()))
elif request == "login": tell(sign(blob, login()))
