"""What devices write for each other about a circle (sync.md): commitment, answer, join request and statement."""
import hashlib

from . import Refused, require
from .der import Fields, read_message
from .syncs import version


def check_signature(key, signature, label, content):
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, label + b'\0' + content)
    except InvalidSignature:
        raise Refused('signature')


def device(fields, field):
    """The identifier, the name and the key for signatures of a CircleDevice, and its bytes."""
    start = fields.position
    inner = fields.sequence(field)
    identifier, name = inner.octets('device', 16), inner.text('name', 64)
    inner.octets('encapsulation key', 1216)
    key = inner.octets('verification key', 32)
    inner.end()
    return identifier, name, key, fields.content[start:fields.position]


def commitment(fields, given):
    identifier, digest = fields.octets('device', 16), fields.octets('digest', 32)
    fields.end()
    return {'device': identifier.hex(), 'digest': digest.hex()}


def answer(fields, given):
    circle, digest = fields.octets('circle', 16), fields.octets('digest', 32)
    member, name, key, _ = device(fields, 'member')
    nonce = fields.octets('nonce', 32)
    fields.end()
    return {'circle': circle.hex(), 'digest': digest.hex(), 'member': member.hex(), 'name': name, 'verification': key.hex(), 'nonce': nonce.hex()}


def reveal(fields, given):
    newcomer, name, key, shown = device(fields, 'newcomer')
    nonce, signature = fields.octets('nonce', 32), fields.octets('signature', 64)
    fields.end()
    answered = hashlib.sha256(bytes.fromhex(given['answer'])).digest()
    committed = document(bytes.fromhex(given['answer']), {'message': 'answer'})['digest']
    require(hashlib.sha256(b'vauban sync commitment v1\0' + nonce + shown).hexdigest() == committed, 'digest')
    check_signature(key, signature, b'vauban sync reveal v1', answered + nonce + shown)
    digest = hashlib.sha256(b'vauban sync codes v1\0' + answered + nonce + shown).digest()
    codes = [int.from_bytes(digest[start:start + 8], 'big') % 1_000_000 for start in (0, 8)]
    return {'device': newcomer.hex(), 'name': name, 'verification': key.hex(), 'codes': ' '.join(f'{code:06}' for code in codes)}


def share(fields):
    inner = fields.sequence('share')
    identifier = inner.octets('device', 16)
    inner.octets('encapsulated key', 1120)
    inner.octets('sealed key', 48)
    inner.end()
    return identifier


def earlier_keys(fields):
    inner = Fields(fields.next(0xA0, 'earlier keys'))
    keys = inner.octets('earlier keys')
    inner.end()
    require(60 <= len(keys) <= 4096, 'earlier keys')
    return keys


def companion(fields):
    inner = fields.sequence('companion')
    share(inner)
    require(29 <= len(inner.octets('roster')) <= 20_000, 'roster')
    if not inner.is_at_end:
        earlier_keys(inner)
    inner.end()


def recovery(fields):
    inner = fields.sequence('recovery')
    share(inner)
    if not inner.is_at_end:
        proof = Fields(inner.next(0xA0, 'proof'))
        proof.octets('proof', 64)
        proof.end()
    inner.end()


def at(fields, tag):
    return not fields.is_at_end and fields.content[fields.position] == tag


def statement(signed, given):
    content, signature = signed.octets('statement'), signed.octets('signature', 64)
    signed.end()
    fields = Fields(read_message(content))
    version(fields)
    circle, number, previous = fields.octets('circle', 16), fields.integer('number', 1, 99_999_999), fields.octets('previous', 32)
    epoch, signer, inner = fields.integer('epoch', 1, 64), fields.octets('signer', 16), fields.sequence('shares')
    shares = []
    while not inner.is_at_end:
        shares.append(share(inner).hex())
    members = fields.octets('members')
    require(len(shares) <= 10, 'shares')
    require(29 <= len(members) <= 30_000, 'members')
    earlier = earlier_keys(fields) if at(fields, 0xA0) else b''
    if at(fields, 0xA1):
        inner, count = Fields(fields.next(0xA1, 'companions')), 0
        while count == 0 or not inner.is_at_end:
            companion(inner)
            count += 1
            require(count <= 4, 'companions')
    if at(fields, 0xA2):
        inner = Fields(fields.next(0xA2, 'recovery'))
        recovery(inner)
        inner.end()
    fields.end()
    check_signature(bytes.fromhex(given['verification']), signature, b'vauban sync statement v1', content)
    return {'circle': circle.hex(), 'number': str(number), 'previous': previous.hex(), 'epoch': str(epoch), 'signer': signer.hex(),
            'shares': ' '.join(shares), 'members': members.hex(), 'earlier': earlier.hex()}


def document(data, given):
    """One of the documents, given which, the answer that a join request is over, and the key of a statement's signer."""
    fields = Fields(read_message(data))
    if given['message'] == 'statement':
        return statement(fields, given)
    version(fields)
    return {'commitment': commitment, 'answer': answer, 'reveal': reveal}[given['message']](fields, given)
