"""The encrypted backup (backup.md)."""
import base64
import hashlib
import struct

from . import Refused, require, xwing
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
        require(position <= len(plain), 'items')
        read_message(parts[0])
        item = [part for _, part in fields(fields(parts[0])[0][1])]
        yield name, item, item[3] + parts[1]


def read_manifest(plain):
    position, segments = 8, []
    require(len(plain) >= 8, 'manifest')
    while position < len(plain):
        require(len(plain) >= position + 44, 'manifest')
        size, total, count = struct.unpack('>III', plain[position + 32:position + 44])
        require(len(plain) >= position + 44 + 32 * count, 'manifest')
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


def read_header(data):
    """The keybag, and what follows it."""
    if not data.startswith(b'VAUBAN BACKUP '):
        raise Refused('header')
    if data[14:16] != b'1\n':
        raise Refused('version')
    count = int.from_bytes(data[16:20], 'big')
    keybag = data[20:20 + count]
    if len(keybag) < count or not 1 <= count <= 4096:
        raise Refused('end')
    return keybag, data[20 + count:]


def backup(data, passphrase, text=None):
    """Returns the number of items that open on every device."""
    keybag, frames = read_header(data)
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


def read_memory(plain):
    """The date of the last run, and each segment with the date when it was last read."""
    position = 0

    def take(count):
        nonlocal position
        position += count
        require(position <= len(plain), 'memory')
        return plain[position - count:position]

    def numbers(size):
        return [take(size) for _ in range(int.from_bytes(take(4), 'big'))]

    require(int.from_bytes(take(8), 'big', signed=True) == -2, 'memory')
    date = take(8)
    numbers(32), numbers(16), numbers(24)
    for _ in range(int.from_bytes(take(4), 'big')):
        take(32), numbers(16)
    checked = {}
    while position < len(plain):
        segment = take(32)
        checked[segment] = take(8)
    return date, checked


def folder(files, passphrase, text=None):
    """Returns the number of items that open on every device, of a backup in a folder: the content of each file by its name."""
    require('keybag' in files, 'no keybag')
    keybag, _ = read_header(files['keybag'])
    identifier, keys = read_keybag(keybag, passphrase, text)
    key = hkdf(keys[1], b'vauban backup frames v1')
    require('manifest' in files, 'no manifest')
    count = 0
    for digest, size, total, names in read_manifest(opened(key, files['manifest'], b'manifest', 'frame')):
        sealed = files.get('segments/' + digest.hex())
        require(sealed is not None, 'no segment')
        require(len(sealed) == size and hashlib.sha256(sealed).digest() == digest, 'segment')
        found = list(read_segment(opened(key, sealed, b'segment', 'frame')))
        require(len(found) == total and set(names) <= {name for name, _, _ in found}, 'manifest')
        count += sum(read_item(identifier, keys, item, secret) for name, item, secret in found if name in names)
    # A backup restores without these two, and with them if they were altered.
    for name, kind, read in ('manifest.previous', b'manifest', read_manifest), ('memory', b'memory', read_memory):
        try:
            plain = opened(key, files.get(name, bytes(28)), kind, name)
        except Refused:
            continue
        read(plain)
    return count
