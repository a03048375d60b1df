"""Signed programs: code-signing.md."""
import base64
import hashlib
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from . import require
from .der import Fields, read_message

AREA, MARK, KEY_BEGINNING = 16_384, b'vauban signed 1\n', bytes.fromhex('3059301306072a8648ce3d020106082a8648ce3d03010703420004')
PAYLOAD_TYPE = b'application/vnd.vauban.code+der'
DATE_MAX = 253_402_300_799


def message(description):
    """The pre-authentication encoding of DSSE."""
    return b'DSSEv1 %d %s %d %s' % (len(PAYLOAD_TYPE), PAYLOAD_TYPE, len(description), description)


def team(key):
    return base64.b32encode(hashlib.sha256(key).digest()[:20]).decode()


def optional(fields, number):
    """Returns the fields inside a context tag, or None if the next field is not that."""
    if fields.is_at_end or fields.content[fields.position] != 0xA0 | number:
        return None
    return Fields(fields.next(0xA0 | number, 'a tag'))


def sized(content, high, name):
    require(1 <= len(content) <= high, name)
    return content


def described(data):
    fields = Fields(read_message(data))
    fields.integer('version', 1, 1)
    found = {'signature': 'valid', 'identifier': fields.text('identifier', 128)}
    require(re.fullmatch('[A-Za-z0-9_-][A-Za-z0-9._-]*', found['identifier']), 'identifier')
    size, digest = fields.integer('size', 0, (1 << 63) - 1), fields.octets('digest', 32)
    found['signed'] = str(fields.integer('signed', 0, DATE_MAX))
    if (expires := optional(fields, 0)) is not None:
        found['expires'] = str(expires.integer('expires', 0, DATE_MAX))
        expires.end()
    if (entitlements := optional(fields, 1)) is not None:
        found['entitlements'] = sized(entitlements.octets('entitlements'), 8192, 'entitlements').decode()
        require(found['entitlements'].startswith('<'), 'entitlements')
        entitlements.end()
    fields.end()
    return found, size, digest


def public_key(key):
    require(len(key) == 91 and key.startswith(KEY_BEGINNING), 'key')
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key[26:])
    except ValueError:
        require(False, 'key')


def code_signature(data, given):
    """`zeros` zero bytes of the file are left out in the vector, after its first `at` bytes."""
    at, zeros = int(given['at']), int(given['zeros'])
    data = data[:at] + bytes(zeros) + data[at:]
    if len(data) < AREA or not data.endswith(MARK):
        return {'signature': 'none'}
    content, area, end = data[:-AREA], data[-AREA:], AREA - len(MARK) - 4
    length = int.from_bytes(area[end:end + 4], 'big')
    require(length <= end, 'length')
    require(not any(area[length:end]), 'zeros')
    fields = Fields(read_message(area[:length]))
    fields.integer('version', 1, 1)
    key, description = fields.octets('key'), sized(fields.octets('description'), 12_288, 'description')
    signature = fields.octets('signature')
    fields.end()
    require(8 <= len(signature) <= 72, 'signature')
    try:
        public_key(key).verify(signature, message(description), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        require(False, 'signature')
    found, size, digest = described(description)
    require(size == len(content), 'size of the content')
    require(digest == hashlib.sha256(content).digest(), 'content')
    return {**found, 'team': team(key)}
