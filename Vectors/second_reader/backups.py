"""The encrypted backup (backup.md)."""
import base64
import hashlib
import struct

from . import Refused, xwing
from .der import element, read_message


def fields(content):
    """The elements of a SEQUENCE or tag, each as tag and content."""
    position, parts = 0, []
    while position < len(content):
        tag, part, position = element(content, position)
        parts.append((tag, part))
    return parts


def hkdf(key, label, context=b''):
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=label + b'\0' + context).derive(key)


def opened(key, sealed, bound, why):
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    try:
        return AESGCM(key).decrypt(sealed[:12], sealed[12:], bound)
    except InvalidTag:
        raise Refused(why)


def stretched(cost, passphrase):
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
    salt, log2, r, p = (part for _, part in fields(cost))
    log2, r, p = (int.from_bytes(number, 'big') for number in (log2, r, p))
    if log2 > 18 or r > 16 or r * p > 64:
        raise Refused('cost')
    return Scrypt(salt=salt, length=32, n=1 << log2, r=r, p=p).derive(passphrase)


def restore_key(text, passphrase):
    """The key of a text of vauban backup --new-recipient, whose passphrase is for an encrypted one."""
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
    from .exports import groups
    lines = text.splitlines()
    if len(lines) < 3 or lines[0] != 'VAUBAN RESTORE KEY 1' or not lines[1].startswith('recipient '):
        raise Refused('restore key')
    digest = bytes.fromhex(lines[1].removeprefix('recipient '))
    if lines[2].startswith('scrypt '):
        _, log2, r, p, data = lines[2].split()
        data = base64.b64decode(data)
        key = Scrypt(salt=data[:16], length=32, n=1 << int(log2), r=int(r), p=int(p)).derive(passphrase)
        seed = opened(key, data[16:], b'vauban restore key v1\0' + digest, 'passphrase')
    else:
        seed = groups(' '.join(lines[2:]), 16)
    if hashlib.sha256(xwing.public_key(seed)).digest() != digest:
        raise Refused('restore key')
    return seed


def recipient_key(text, identifier, device, recipient, passphrase):
    """The opening key of a backup for a recipient, by the restore key."""
    from cryptography.exceptions import InvalidTag
    seed = restore_key(text, passphrase)
    digest, encapsulated, sealed = (part for _, part in fields(recipient))
    if hashlib.sha256(xwing.public_key(seed)).digest() != digest:
        raise Refused('recipient')
    try:
        return xwing.hpke_opened(seed, encapsulated, sealed, b'vauban backup recipient v1\0' + identifier + device)
    except (InvalidTag, ValueError):
        raise Refused('keybag')


def whole(content):
    """A SEQUENCE with its tag and length, as fields have it without."""
    length = len(content)
    if length < 0x80:
        return bytes([0x30, length]) + content
    digits = length.to_bytes((length.bit_length() + 7) // 8, 'big')
    return bytes([0x30, 0x80 | len(digits)]) + digits + content


def opening_key(version, identifier, device, opener, more, passphrase, text):
    if version == b'\x01':
        if text:
            raise Refused('recipient')
        return stretched(opener, passphrase)
    if [len(part) for _, part in fields(opener)] != [32, 1120, 48]:
        raise Refused('keybag')
    if text:
        return recipient_key(text, identifier, device, opener, passphrase)
    besides = [part for tag, part in more if tag == 0xA1]
    if not besides:
        raise Refused('no passphrase')
    (_, cost), (_, wrapped) = fields(fields(besides[0])[0][1])
    bound = b'vauban backup passphrase v1\0' + identifier + device + hashlib.sha256(whole(opener)).digest()
    return opened(stretched(cost, passphrase), wrapped, bound, 'passphrase')


def read_keybag(keybag, passphrase, text=None):
    """The identifier, and the keys by purpose. The text is that of a restore key."""
    try:
        read_message(keybag)
        (_, version), (_, identifier), (_, device), (_, opener), (_, slots), *more = fields(fields(keybag)[0][1])
    except (Refused, ValueError):
        raise Refused('keybag')
    if version not in (b'\x01', b'\x02'):
        raise Refused('version')
    key = opening_key(version, identifier, device, opener, more, passphrase, text)
    keys = {}
    for _, slot in fields(slots):
        (_, purpose), (_, wrapped) = fields(slot)
        bound = b'vauban backup slot v1\0' + identifier + device + purpose
        keys[purpose[0]] = opened(key, wrapped, bound, 'keybag' if keys or version != b'\x01' else 'passphrase')
    if list(keys) != [1, 6, 7, 8, 9, 10, 11]:
        raise Refused('keybag')
    return identifier, keys


def read_segment(plain):
    """Each item's identity and mark, its fields, and its secret half."""
    position = 0
    while position < len(plain):
        name, position = plain[position:position + 32], position + 32
        parts = []
        for _ in range(2):
            count = int.from_bytes(plain[position:position + 4], 'big')
            parts.append(plain[position + 4:position + 4 + count])
            position += 4 + count
        read_message(parts[0])
        item = [part for _, part in fields(fields(parts[0])[0][1])]
        yield name, item, item[3] + parts[1]


def read_manifest(plain):
    position, segments = 8, []
    while position < len(plain):
        size, total, count = struct.unpack('>III', plain[position + 32:position + 44])
        items = plain[position + 44:position + 44 + 32 * count]
        segments.append((plain[position:position + 32], size, total, [items[i:i + 32] for i in range(0, len(items), 32)]))
        position += 44 + 32 * count
    return segments


def read_item(identifier, keys, item, secret):
    """Whether the item opens here: one that stays on a device opens on that alone."""
    binding, wrapped, attributes, _ = item
    protection = fields(fields(binding)[0][1])[2][1][0]
    inner = opened(keys[protection], wrapped, b'vauban backup item key v1\0' + identifier + binding, 'item')
    bound = binding + hashlib.sha256(wrapped).digest() + hashlib.sha256(secret).digest()
    padded = opened(hkdf(keys[protection], b'vauban backup attributes v1', binding), attributes, bound, 'item')
    read_message(padded.rstrip(b'\0')[:-1])
    if protection >= 9:
        return False
    opened(inner, secret, binding + b'\x02', 'item')
    return True


def backup(data, passphrase, text=None):
    """Returns the number of items that open on every device."""
    if not data.startswith(b'VAUBAN BACKUP '):
        raise Refused('header')
    if data[14:16] != b'1\n':
        raise Refused('version')
    count = int.from_bytes(data[16:20], 'big')
    keybag, frames = data[20:20 + count], data[20 + count:]
    if len(keybag) < count or not 1 <= count <= 4096:
        raise Refused('end')
    identifier, keys = read_keybag(keybag, passphrase, text)
    key, number, segments, items = hkdf(keys[1], b'vauban backup frames v1'), 0, [], []
    while True:
        length = int.from_bytes(frames[:4], 'big')
        sealed, frames = frames[4:4 + length], frames[4 + length:]
        if not length or len(sealed) < length:
            raise Refused('end')
        name = b'frame' + number.to_bytes(8, 'big')
        try:
            plain = opened(key, sealed, name + b'\0', 'frame')
        except Refused:
            plain = opened(key, sealed, name + b'\1', 'frame')
            break
        found = list(read_segment(plain))
        segments.append((hashlib.sha256(sealed).digest(), len(sealed), len(found), [name for name, _, _ in found]))
        items += found
        number += 1
    if frames:
        raise Refused('after the end')
    if read_manifest(plain) != segments:
        raise Refused('manifest')
    return sum(read_item(identifier, keys, item, secret) for _, item, secret in items)
