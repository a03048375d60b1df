"""State files (key-hierarchy.md), rows (keychain-database.md), and what the reader keeps and reports (reader.md)."""
import hashlib
import hmac

from . import Refused, require
from .der import Fields, read_message


def derive(key, label, context=b''):
    """HKDF-SHA256 (RFC 5869) with an empty salt."""
    extracted = hmac.new(bytes(32), key, hashlib.sha256).digest()
    return hmac.new(extracted, label.encode() + b'\0' + context + b'\x01', hashlib.sha256).digest()


def envelope(data, given):
    secret = bytes.fromhex(given['deviceSecret'])
    fields = Fields(read_message(data))
    fields.integer('version', 1, 1)
    device, content, code = fields.octets('device', 16), fields.octets('content'), fields.octets('code', 32)
    fields.end()
    require(device == derive(secret, 'vauban device identifier v1')[:16], 'another device')
    covered = given['file'].encode() + b'\0' + int(given['user']).to_bytes(4, 'big') + content
    key = derive(secret, 'vauban state authentication v1')
    require(hmac.compare_digest(hmac.new(key, covered, hashlib.sha256).digest(), code), 'authentication code')
    return {'content': content.hex()}


def half(data, given):
    """A half of a row: given are its key, its binding, and which half it is."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    which = {'metadata': b'\x01', 'secret': b'\x02'}[given['half']]
    try:
        plain = AESGCM(bytes.fromhex(given['key'])).decrypt(data[:12], data[12:], bytes.fromhex(given['binding']) + which)
    except (InvalidTag, ValueError):
        raise Refused('seal')
    end = len(plain.rstrip(b'\0')) - 1
    require(len(plain) % 32 == 0 and end >= 0 and plain[end] == 0x80, 'padding')
    require(len(plain) - end <= 32, 'padding in a longer form than needed')
    plain = plain[:end]
    if given['half'] == 'metadata':
        return {'plaintext': plain.hex()}
    require(plain and plain[0] in (0, 1), 'first byte')
    require(plain[0] == 1 or len(plain) == 1, 'a value after 00')
    return {'hasValue': 'yes' if plain[0] else 'no', 'value': plain[1:].hex()}


def verdict(data, given):
    """The message's fields with the code of the pairing key."""
    fields = Fields(read_message(data))
    outcome, user = fields.integer('outcome', 1, 5), fields.integer('user')
    nonce, fingers, code = fields.octets('nonce', 32), fields.octets('fingers', 32), fields.octets('code', 32)
    fields.end()
    covered = b'vauban reader verdict v1\0' + bytes([outcome]) + user.to_bytes(4, 'big') + nonce + fingers
    expected = hmac.new(bytes.fromhex(given['pairingKey']), covered, hashlib.sha256).digest()
    require(hmac.compare_digest(expected, code), 'authentication code')
    return {'outcome': str(outcome), 'user': str(user)}
