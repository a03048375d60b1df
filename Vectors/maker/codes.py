"""Vectors of code-signing.md: whole files, of which the zeros between a signature and the end of its area are left out."""
import hashlib

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from second_reader.codes import AREA, MARK, message, team

from . import integer, made_up, octets, sequence, text, tlv, vector, write

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
LIST = b'<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0"><dict/></plist>\n'


def number(name):
    return int.from_bytes(made_up(name), 'big') % (ORDER - 1) + 1


def private(name):
    return ec.derive_private_key(number(name), ec.SECP256R1())


def public(name):
    return private(name).public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def sign(name, signed):
    """ECDSA with SHA-256 whose nonce is a hash, so that each run writes the same."""
    nonce = number(f'nonce {signed.hex()}')
    r = ec.derive_private_key(nonce, ec.SECP256R1()).public_key().public_numbers().x % ORDER
    digest = int.from_bytes(hashlib.sha256(signed).digest(), 'big')
    return encode_dss_signature(r, pow(nonce, -1, ORDER) * (digest + r * number(name)) % ORDER)


ACME, RIVAL, CONTENT = 'the key of a team', 'the key of another team', b'\x7fELF and what follows'


def description(content=CONTENT, version=1, identifier=b'com.acme.tool', size=None, digest=None, signed=integer(1_767_225_600), expires=None,
                entitlements=None, more=b''):
    return sequence(integer(version), tlv(12, identifier), integer(len(content)) if size is None else size,
                    octets(hashlib.sha256(content).digest() if digest is None else digest), signed,
                    b'' if expires is None else tlv(0xA0, expires), b'' if entitlements is None else tlv(0xA1, octets(entitlements)), more)


def code(described=None, version=1, key=None, signature=None, signer=ACME, more=b''):
    described = description() if described is None else described
    return sequence(integer(version), octets(public(ACME) if key is None else key), octets(described),
                    octets(sign(signer, message(described)) if signature is None else signature), more)


def file(name, coded, fields=None, failure=None, content=CONTENT, length=None, mark=MARK, spot=b'', after=b''):
    """The vector of a content and its area. `spot` is what follows the signature in place of zeros."""
    end = (len(coded) if length is None else length).to_bytes(4, 'big') + mark
    beginning = content + coded + spot
    return vector(name, beginning + end + after, fields, failure, at=str(len(beginning)),
                  zeros=str(AREA - len(coded) - len(spot) - len(end)))


def valid(**more):
    return {'signature': 'valid', 'identifier': 'com.acme.tool', 'signed': '1767225600', 'team': team(public(ACME)), **more}


def bare(name, data):
    return vector(name, data, {'signature': 'none'}, at='0', zeros='0')


def refused(failure, coded, **more):
    return file(failure, coded, failure=failure, **more)


def described(failure, **more):
    return refused(failure, code(description(**more)))


NEGATIVE, LATE = b'\x02\x01\xff', integer(253_402_300_800)
SIGNED, LONGEST = code(), b'<' + b' ' * 8191
write('code-signatures', 'code-signing', [
    file('a signed file', code(), valid()),
    file('expires', code(description(expires=integer(1_800_000_000))), valid(expires='1800000000')),
    file('entitlements', code(description(entitlements=LIST)), valid(entitlements=LIST.decode())),
    file('entitlements of the greatest length', code(description(entitlements=LONGEST)), valid(entitlements=LONGEST.decode())),
    file('every field', code(description(expires=integer(0), entitlements=b'<')), valid(expires='0', entitlements='<')),
    file('an identifier of the greatest length', code(description(identifier=b'a' * 128)), valid(identifier='a' * 128)),
    file('no content', code(description(b'')), valid(), content=b''),
    file('a content that ends in zeros', code(description(CONTENT + bytes(3))), valid(), content=CONTENT + bytes(3)),
    bare('a small file', CONTENT), bare('an empty file', b''), bare('the mark alone', MARK),
    file('a mark of another version', SIGNED, {'signature': 'none'}, mark=b'vauban signed 2\n'),
    file('a byte after the mark', SIGNED, {'signature': 'none'}, after=b'\0'),
    refused('length', SIGNED, length=AREA - 19), refused('length', SIGNED, length=(1 << 32) - 1),
    refused('zeros', SIGNED, spot=b'\x01'), refused('zeros', SIGNED, length=len(SIGNED) - 1),
    refused('DER: an element is cut off', SIGNED[:1], length=1), refused('DER: an element is cut off', b''),
    refused('DER: a byte after the message', SIGNED, length=len(SIGNED) + 1),
    refused('DER: the last byte is missing', SIGNED[:-1]), refused('DER: a SET in place of the SEQUENCE', b'\x31' + SIGNED[1:]),
    refused('DER: a length in a longer form than needed', b'\x30\x83\0' + SIGNED[2:]),
    refused('version', code(version=2)), refused('a field that the type does not have', code(more=integer(1))),
    refused('key', code(key=public(ACME)[:-1])), refused('key', code(key=public(ACME) + b'\0')),
    refused('key', code(key=public(ACME)[:-1] + bytes([public(ACME)[-1] ^ 1]))),
    refused('key', code(key=public(ACME).replace(bytes.fromhex('2a8648ce3d030107'), bytes.fromhex('2a8648ce3d030106')))),
    refused('signature', code(signer=RIVAL)), refused('signature', code(signature=sign(ACME, description()))),
    refused('signature', code(signature=sign(ACME, message(description(b''))))),
    refused('signature', code(signature=sign(ACME, message(description()).replace(b'vnd.vauban.code', b'vnd.vauban.kode')))),
    refused('signature', code(signature=sign(ACME, message(description())) + b'\0')), refused('signature', code(signature=bytes(7))),
    refused('signature', code(signature=bytes(73))), refused('description', code(b'')), refused('description', code(bytes(12_289))),
    described('version', version=2), described('a field that the type does not have', more=integer(1)),
    described('identifier', identifier=b''), described('identifier', identifier=b'.tool'), described('identifier', identifier=b'a/b'),
    described('identifier', identifier=b'a' * 129), described('DER: a text that is not UTF-8', identifier=b'a\xff'),
    described('size', size=NEGATIVE), described('size', size=integer(1 << 63)), described('digest', digest=bytes(31)),
    described('digest', digest=bytes(33)), described('signed', signed=NEGATIVE), described('signed', signed=LATE),
    described('expires', expires=NEGATIVE), described('expires', expires=LATE), described('entitlements', entitlements=b''),
    described('entitlements', entitlements=b'<' + bytes(8192)), described('entitlements', entitlements=b'bplist00'),
    described('size of the content', size=integer(len(CONTENT) + 1)), described('content', digest=made_up('another digest')),
    refused('content', SIGNED, content=CONTENT[:-1] + b'W'), refused('size of the content', SIGNED, content=CONTENT + b'\0'),
    refused('size of the content', SIGNED, content=CONTENT[1:]), refused('size of the content', code(description(b'another')))])
