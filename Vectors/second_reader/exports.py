"""The encrypted export (export.md) and the recovery key on paper (key-hierarchy.md)."""
import struct

from . import Refused, require
from .der import read_message


def groups(text, count):
    """Groups of six digits, each two bytes times eleven."""
    digits = text.replace(' ', '').replace('-', '')
    require(len(digits) == 6 * count, 'length')
    require(all(sign in '0123456789' for sign in digits), 'digit')
    key = b''
    for group in range(count):
        number = int(digits[group * 6:group * 6 + 6])
        require(number % 11 == 0 and number // 11 <= 0xFFFF, f'group {group + 1}')
        key += struct.pack('>H', number // 11)
    return key


def recovery_key(text):
    return groups(text, 8).hex()


def export(data, passphrase):
    """Returns the number of items."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
    header, frames = data[:35], data[35:]
    require(len(header) == 35 and header[:16] == b'VAUBAN EXPORT 1\n', 'header')
    log2, r, p = header[32:35]
    require(14 <= log2 <= 20 and r == 8 and 1 <= p <= 4, 'cost')
    cipher = AESGCM(Scrypt(salt=header[16:32], length=32, n=1 << log2, r=r, p=p).derive(passphrase))
    items, number = 0, 0
    while True:
        require(len(frames) >= 4, 'end')
        length = int.from_bytes(frames[:4], 'big')
        sealed, frames = frames[4:4 + length], frames[4 + length:]
        require(length <= 4 << 20 and len(sealed) == length, 'frame')
        last = not frames
        try:
            plain = cipher.decrypt(number.to_bytes(11, 'big') + bytes([last]), sealed, header)
        except InvalidTag:
            raise Refused('passphrase or first frame' if number == 0 else 'frame')
        number += 1
        if last:
            require(plain == items.to_bytes(4, 'big'), 'count')
            return items
        count = int.from_bytes(plain[:4], 'big')
        read_message(plain[4:4 + count])
        items += 1
