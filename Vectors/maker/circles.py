"""Writes the vectors of what devices write for each other about a circle: commitment, answer, join request and statement (sync.md)."""
import hashlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from . import integer, made_up, octets, refusals, sequence, spoiled, text, tlv, vector, write

circle, member, newcomer = made_up('circle', 16), made_up('member device', 16), made_up('newcomer device', 16)
member_key, newcomer_key = (Ed25519PrivateKey.from_private_bytes(made_up(name)) for name in ('member signing key', 'newcomer signing key'))
nonce = made_up('newcomer nonce')
MORE = ('a field that the type does not have', integer(1))


def public(key):
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def device(of, name, key, encapsulation=1216):
    return sequence(octets(of), text(name), octets(made_up(f'encapsulation of {name}', encapsulation)), octets(public(key)))


JOINING = device(newcomer, 'laptop', newcomer_key)


def committed(by=JOINING, nonce=nonce):
    return hashlib.sha256(b'vauban sync commitment v1\0' + nonce + by).digest()


def commitment(of=newcomer, digest=committed(), version=1, more=b''):
    return sequence(integer(version), octets(of), octets(digest), more)


def answer(digest=committed(), of=circle, name='desk', version=1, nonce=made_up('member nonce'), encapsulation=1216, more=b''):
    return sequence(integer(version), octets(of), octets(digest), device(member, name, member_key, encapsulation), octets(nonce), more)


ANSWER = answer()


def reveal(shown=JOINING, nonce=nonce, key=newcomer_key, version=1, label=b'vauban sync reveal v1', over=ANSWER, size=64, more=b''):
    signature = key.sign(label + b'\0' + hashlib.sha256(over).digest() + nonce + shown)
    return sequence(integer(version), shown, octets(nonce), octets(signature[:size]), more)


def codes():
    digest = hashlib.sha256(b'vauban sync codes v1\0' + hashlib.sha256(ANSWER).digest() + nonce + JOINING).digest()
    return ' '.join(f'{int.from_bytes(digest[start:start + 8], "big") % 1_000_000:06}' for start in (0, 8))


def share(of=member, encapsulated=1120, sealed=48):
    return sequence(octets(of), octets(made_up('encapsulated', encapsulated)), octets(made_up('sealed', sealed)))


def part():
    return sequence(share(newcomer), octets(made_up('roster', 60)))


def content(version=1, of=circle, number=3, previous=32, epoch=1, signer=member, shares=None, members=90, more=b''):
    return sequence(integer(version), octets(of), integer(number), octets(made_up('previous', previous)), integer(epoch), octets(signer),
                    shares or sequence(share()), octets(made_up('members', members)), more)


def statement(key=member_key, label=b'vauban sync statement v1', size=64, **fields):
    signed = content(**fields)
    return sequence(octets(signed), octets(key.sign(label + b'\0' + signed)[:size]))


STATEMENT = {
    'circle': circle.hex(), 'number': '3', 'previous': made_up('previous').hex(), 'epoch': '1', 'signer': member.hex(), 'shares': member.hex(),
    'members': made_up('members', 90).hex(), 'earlier': ''}
EARLIER = made_up('earlier keys', 60)
WITNESS = {'message': 'statement', 'verification': public(member_key).hex()}
write('sync-documents', 'sync', [
    vector('a commitment', commitment(), {'device': newcomer.hex(), 'digest': committed().hex()}, message='commitment'),
    *refusals([
        *spoiled(commitment()), ('version', commitment(version=2)), ('device', commitment(newcomer[:-1])), ('digest', commitment(digest=committed()[:-1])),
        (MORE[0], commitment(more=MORE[1]))], message='commitment'),
    vector('an answer', ANSWER, {
        'circle': circle.hex(), 'digest': committed().hex(), 'member': member.hex(), 'name': 'desk', 'verification': public(member_key).hex(),
        'nonce': made_up('member nonce').hex()}, message='answer'),
    *refusals([
        ('DER: the last byte is missing', ANSWER[:-1]), ('version', answer(version=2)), ('circle', answer(of=circle + b'\0')),
        ('digest', answer(committed() + b'\0')), ('name', answer(name='x' * 65)), ('encapsulation key', answer(encapsulation=1215)),
        ('nonce', answer(nonce=made_up('short', 31))), (MORE[0], answer(more=MORE[1]))], message='answer'),
    vector('a join request', reveal(), {
        'device': newcomer.hex(), 'name': 'laptop', 'verification': public(newcomer_key).hex(), 'codes': codes()}, message='reveal', answer=ANSWER.hex()),
    *refusals([
        ('version', reveal(version=2)), ('digest', reveal(nonce=made_up('another nonce'))), ('digest', reveal(device(newcomer, 'others', newcomer_key))),
        ('digest', reveal(device(newcomer, 'laptop', member_key))), ('signature', reveal(key=member_key)),
        ('signature', reveal(label=b'vauban sync token v1')), ('signature', reveal(over=answer(nonce=made_up('another nonce')))),
        ('signature', reveal(size=63)), ('nonce', reveal(nonce=nonce[:-1])), (MORE[0], reveal(more=MORE[1]))], message='reveal', answer=ANSWER.hex()),
    vector('a statement', statement(), STATEMENT, **WITNESS),
    vector('a statement of the second epoch', statement(epoch=2, more=tlv(0xA0, octets(EARLIER))), {**STATEMENT, 'epoch': '2', 'earlier': EARLIER.hex()}, **WITNESS),
    vector('a statement with a companion', statement(more=tlv(0xA1, part())), STATEMENT, **WITNESS),
    vector('a statement with the share of a recovery key', statement(more=tlv(0xA2, sequence(share(newcomer)))), STATEMENT, **WITNESS),
    *refusals([
        ('version', statement(version=2)), ('circle', statement(of=circle[:-1])), ('number', statement(number=0)),
        ('number', statement(number=100_000_000)), ('previous', statement(previous=31)), ('epoch', statement(epoch=0)), ('epoch', statement(epoch=65)),
        ('signer', statement(signer=member + b'\0')), ('device', statement(shares=sequence(share(member[:-1])))),
        ('encapsulated key', statement(shares=sequence(share(encapsulated=1119)))), ('sealed key', statement(shares=sequence(share(sealed=49)))),
        ('members', statement(members=28)), ('earlier keys', statement(more=tlv(0xA0, octets(EARLIER[:-1])))), ('companions', statement(more=tlv(0xA1, part() * 5))),
        ('signature', statement(key=newcomer_key)), ('signature', statement(label=b'vauban sync file v1')), ('signature', statement(size=63)),
        (MORE[0], statement(more=MORE[1])), ('DER: the last byte is missing', statement()[:-1])], **WITNESS)])
