"""The files and tokens of vauban sync (sync.md)."""
import base64
import binascii
import hashlib
import struct

from . import Refused, require
from .der import Fields, read_message
from .state import derive

MAGIC = b'VAUBAN SYNC 1\n'


def sync_file(data, given):
    """A device's file: given are the circle, the device and its key, where the file before ended, the file keys by epoch,
    and the companion that it is for, if it is for one."""
    from cryptography.exceptions import InvalidSignature, InvalidTag
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    circle, device, chain = (bytes.fromhex(given[name]) for name in ('circle', 'device', 'chain'))
    number, keys = int(given['number']) + 1, [bytes.fromhex(key) for key in given['keys'].split()]
    require(data.startswith(b'VAUBAN SYNC '), 'magic')
    require(data.startswith(MAGIC), 'version')
    require(len(data) > 82, 'length')
    epoch, signature, sealed = struct.unpack('>I', data[14:18])[0], data[18:82], data[82:]
    bound = MAGIC + circle + device + struct.pack('>Q', number) + chain + data[14:18] + hashlib.sha256(sealed).digest()
    bound += bytes.fromhex(given.get('companion', ''))
    signed = b'vauban sync file v1\0' + circle + device + hashlib.sha256(bound).digest()
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(given['verification'])).verify(signature, signed)
    except InvalidSignature:
        raise Refused('signature')
    require(1 <= epoch <= len(keys), 'epoch')
    try:
        plain = AESGCM(keys[epoch - 1]).decrypt(sealed[:12], sealed[12:], b'sync file' + device + struct.pack('>Q', number))
    except InvalidTag:
        raise Refused('seal')
    require(len(plain) >= 4096 and len(plain) & (len(plain) - 1) == 0, 'size')
    count = struct.unpack('>I', plain[:4])[0]
    require(4 + count <= len(plain) and not any(plain[4 + count:]), 'padding')
    seen, statement, records = payload(Bytes(plain[4:4 + count]), circle)
    after = hashlib.sha256(chain + hashlib.sha256(data).digest()).hexdigest()
    return {'epoch': str(epoch), 'chain': after, 'seen': ', '.join(sorted(seen)), 'records': ', '.join(records), **statement}


def compaction_record(data, given):
    """What takes the place of a device's first file: given are the circle, the device and its key, and the file keys by epoch."""
    from cryptography.exceptions import InvalidSignature, InvalidTag
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    circle, device, keys = bytes.fromhex(given['circle']), bytes.fromhex(given['device']), [bytes.fromhex(key) for key in given['keys'].split()]
    require(data.startswith(b'VAUBAN SYNC 2\n'), 'magic')
    require(len(data) > 82, 'length')
    epoch, signature, sealed = struct.unpack('>I', data[14:18])[0], data[18:82], data[82:]
    bound = data[:14] + circle + device + data[14:18] + hashlib.sha256(sealed).digest()
    signed = b'vauban sync file v1\0' + circle + device + hashlib.sha256(bound).digest()
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(given['verification'])).verify(signature, signed)
    except InvalidSignature:
        raise Refused('signature')
    require(1 <= epoch <= len(keys), 'epoch')
    try:
        plain = AESGCM(keys[epoch - 1]).decrypt(sealed[:12], sealed[12:], b'sync record' + device)
    except InvalidTag:
        raise Refused('seal')
    require(len(plain) >= 4096 and len(plain) & (len(plain) - 1) == 0, 'size')
    count = struct.unpack('>I', plain[:4])[0]
    require(4 + count <= len(plain) and not any(plain[4 + count:]), 'padding')
    content = Bytes(plain[4:4 + count])
    last, end, number = content.date(), content.date(), content.number()
    require(1 <= last < end <= 99_999_999 and 1 <= number <= min(last, 65_536), 'payload')
    chains = [content.take(32).hex() for _ in range(number)]
    require(not content.content, 'payload')
    return {'last': str(last), 'end': str(end), 'chains': ' '.join(chains)}


class Bytes:
    def __init__(self, content):
        self.content = content

    def take(self, count):
        require(count <= len(self.content), 'payload')
        part, self.content = self.content[:count], self.content[count:]
        return part

    def number(self):
        return struct.unpack('>I', self.take(4))[0]

    def date(self):
        return struct.unpack('>q', self.take(8))[0]


def payload(data, circle):
    seen, statement, records = [], {}, []
    for _ in range(data.number()):
        device, number, digest = data.take(16), data.date(), data.take(32)
        if device == circle:
            statement = {'statement': f'{number} {digest.hex()}'}
        else:
            seen.append(f'{device.hex()} {number}')
    while data.content:
        kind = data.take(1)[0]
        name, time, device, changed = data.take(16), data.date(), data.take(16), data.date()
        words = f'{name.hex()} {time} {device.hex()} {changed}'
        require(kind in (1, 2), 'payload')
        if kind == 1:
            item = data.take(data.number())
            try:
                read_message(item)
            except Refused:
                raise Refused('payload')
            records.append(f'put {words} {data.take(data.number()).hex()}')
        else:
            records.append(f'deleted {words}')
    return seen, statement, records


def tlv(tag, content):
    count = len(content)
    digits = count.to_bytes((count.bit_length() + 7) // 8, 'big')
    return bytes([tag]) + (bytes([count]) if count < 0x80 else bytes([0x80 | len(digits)]) + digits) + content


def version(fields):
    require(int.from_bytes(fields.next(0x02, 'version'), 'big') == 1, 'version')


def join_token(data, given):
    """A token as text."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    words = data.decode().removesuffix('\n').split(' ')
    require(words[:3] == ['VAUBAN', 'JOIN', 'TOKEN'], 'heading')
    require(words[3] == '1', 'version')
    require(len(words) == 6 and len(words[5]) == 44 and words[5].endswith('=') and not words[5].endswith('=='), 'parts')
    try:
        content, seed = (base64.b64decode(word, validate=True) for word in words[4:])
    except binascii.Error:
        raise Refused('base64')
    fields = Fields(read_message(content))
    version(fields)
    circle, member = fields.octets('circle', 16), fields.sequence('member')
    device, member_name, verification = member.octets('device', 16), member.text('name', 64), member.octets('verification key', 32)
    member.end()
    token, name = fields.octets('token', 32), fields.text('name', 64)
    expires = fields.integer('expires', -1 << 63, (1 << 63) - 1)
    fields.end()
    own = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    require(own == token, 'seed')
    return {'circle': circle.hex(), 'member': device.hex(), 'memberName': member_name, 'memberVerification': verification.hex(),
            'token': token.hex(), 'name': name, 'expires': str(expires), 'seed': seed.hex()}


def join_request(data, given):
    """A join request by a token, given the circle of the member that it is for."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    fields = Fields(read_message(data))
    version(fields)
    member, token = fields.octets('member', 16), fields.octets('token', 32)
    start = fields.position
    device = fields.sequence('newcomer')
    newcomer = fields.content[start:fields.position]
    device.octets('device', 16)
    name = device.text('name', 64)
    device.octets('encapsulation key', 1216)
    device.octets('verification key', 32)
    device.end()
    proof = fields.octets('proof', 64)
    fields.end()
    try:
        Ed25519PublicKey.from_public_bytes(token).verify(proof, b'vauban sync token v1\0' + bytes.fromhex(given['circle']) + member + newcomer)
    except InvalidSignature:
        raise Refused('proof')
    return {'member': member.hex(), 'token': token.hex(), 'name': name}


def recovery_statement(data, given):
    """The statement that makes the recovery key of a circle, given the key."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    signed = Fields(read_message(data))
    content = signed.octets('statement')
    signed.octets('signature', 64)
    signed.end()
    fields = Fields(read_message(content))
    version(fields)
    circle, number = fields.octets('circle', 16), fields.integer('number', 1, 99_999_999)
    fields.octets('previous', 32)
    epoch = fields.integer('epoch', 1, 64)
    fields.octets('signer', 16)
    fields.sequence('shares')
    fields.octets('members')
    start = fields.position
    require(not fields.is_at_end, 'no recovery key')
    part = Fields(fields.next(0xA2, 'recovery'))
    fields.end()
    recovery = part.sequence('recovery')
    part.end()
    share = recovery.sequence('share')
    share_bytes = recovery.content[:recovery.position]
    device = share.octets('device', 16)
    proof = None if recovery.is_at_end else Fields(recovery.next(0xA0, 'proof')).octets('proof', 64)
    recovery.end()
    key = bytes.fromhex(given['key'])
    derived = {what: derive(key, f'vauban sync recovery {what} v1', circle) for what in ('signing', 'identifier')}
    require(device == derived['identifier'][:16], 'device')
    require(proof is not None, 'proof')
    unproven = tlv(0x30, fields.content[:start] + tlv(0xA2, tlv(0x30, share_bytes)))
    signer = Ed25519PrivateKey.from_private_bytes(derived['signing']).public_key()
    try:
        signer.verify(proof, b'vauban sync recovery v1\0' + unproven)
    except InvalidSignature:
        raise Refused('proof')
    return {'number': str(number), 'epoch': str(epoch), 'device': device.hex(),
            'verification': signer.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()}
