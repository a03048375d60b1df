"""Reads signed ends of access logs (Specs/access-log.md) and the files that carry them between devices (Specs/sync.md)."""
import base64
import binascii
import hashlib
import re
import struct

from . import Refused, require
from .syncs import Bytes

MAGIC = b'VAUBAN LOG HEAD 1\n'


def decoded(text, failure):
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Refused(failure)
    require(base64.b64encode(content).decode() == text, failure)
    return content


def split(data):
    """The text of a note, and the name and the bytes of each signature."""
    require(len(data) <= 8192 and data.endswith(b'\n') and all(byte >= 0x20 or byte == 0x0A for byte in data), 'note')
    try:
        text, blank, below = data.decode().rpartition('\n\n')
    except UnicodeDecodeError:
        raise Refused('note')
    lines = below[:-1].split('\n')
    require(blank and 1 <= len(lines) <= 16, 'note')
    signatures = []
    for line in lines:
        words = line.split(' ')
        require(len(words) == 3 and words[0] == '\u2014' and words[1] and '+' not in words[1], 'note')
        content = decoded(words[2], 'note')
        require(len(content) > 4, 'note')
        signatures.append((words[1], content))
    return text + '\n', signatures


def head(text):
    lines = text.split('\n')
    require(len(lines) == 4 and not lines[3], 'head')
    origin = re.fullmatch(r'vauban-access-log-v1/([0-9a-f]{32})/(0|[1-9][0-9]*)', lines[0])
    require(origin and int(origin[2]) < 1 << 32 and re.fullmatch('0|[1-9][0-9]*', lines[1]) and int(lines[1]) <= 1 << 48, 'head')
    chain = decoded(lines[2], 'head')
    require(len(chain) == 32, 'head')
    return {'device': origin[1], 'user': origin[2], 'number': lines[1], 'chain': chain.hex()}


def verified(text, signatures, key):
    """What the signature of this key says besides: its time, for a cosignature."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    name, identifier, content = (key.split('+', 2) + ['', ''])[:3]
    content = decoded(content, 'key')
    require(len(content) == 33 and content[0] in (1, 4), 'key')
    known = hashlib.sha256(name.encode() + b'\n' + content).digest()[:4]
    require(known.hex() == identifier, 'key')
    own = [signature[4:] for signer, signature in signatures if signer == name and signature[:4] == known]
    require(len(own) == 1, 'signature')
    stamp = 8 if content[0] == 4 else 0
    require(len(own[0]) == stamp + 64, 'signature')
    time = int.from_bytes(own[0][:stamp], 'big')
    signed = f'cosignature/v1\ntime {time}\n{text}' if stamp else text
    try:
        Ed25519PublicKey.from_public_bytes(content[1:]).verify(own[0][stamp:], signed.encode())
    except InvalidSignature:
        raise Refused('signature')
    return {'time': str(time)} if stamp else {}


def log_head(data, given):
    """A note: given is the key that must have signed it."""
    text, signatures = split(data)
    return {**head(text), **verified(text, signatures, given['key'])}


def sync_log_head(data, given):
    """A device's file: given are the circle, the device and its key, and the file keys by epoch."""
    from cryptography.exceptions import InvalidSignature, InvalidTag
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    circle, device = bytes.fromhex(given['circle']), bytes.fromhex(given['device'])
    keys = [bytes.fromhex(key) for key in given['keys'].split()]
    require(data.startswith(b'VAUBAN LOG HEAD '), 'magic')
    require(data.startswith(MAGIC), 'version')
    require(len(data) > 86, 'length')
    epoch, signature, sealed = struct.unpack('>I', data[18:22])[0], data[22:86], data[86:]
    bound = hashlib.sha256(MAGIC + circle + device + data[18:22] + hashlib.sha256(sealed).digest()).digest()
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(given['verification']))
        key.verify(signature, b'vauban sync file v1\0' + circle + device + bound)
    except InvalidSignature:
        raise Refused('signature')
    require(1 <= epoch <= len(keys), 'epoch')
    try:
        plain = AESGCM(keys[epoch - 1]).decrypt(sealed[:12], sealed[12:], b'log head' + device)
    except InvalidTag:
        raise Refused('seal')
    require(len(plain) >= 4096 and len(plain) & (len(plain) - 1) == 0, 'size')
    count = struct.unpack('>I', plain[:4])[0]
    require(4 + count <= len(plain) and not any(plain[4 + count:]), 'padding')
    try:
        return content(Bytes(plain[4:4 + count]))
    except (Refused, UnicodeDecodeError):
        raise Refused('payload')


def content(payload):
    time = payload.date()
    note, key, cosigning = (payload.take(payload.number()) for _ in range(3))
    text, signatures = split(note)
    verified(text, signatures, key.decode())
    require(cosigning.decode().count('+') >= 2, 'payload')
    found, seen = head(text), []
    for _ in range(payload.number()):
        device = payload.take(16)
        seen.append(f"{device.hex()} {head(split(payload.take(payload.number()))[0])['number']}")
    require(not payload.content, 'payload')
    return {'time': str(time), 'number': found['number'], 'chain': found['chain'], 'seen': ', '.join(seen)}
