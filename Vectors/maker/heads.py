"""Writes the vectors of signed ends of access logs (access-log.md) and of the files that carry them between devices (sync.md)."""
import base64
import hashlib
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from . import made_up, refusals, vector, write

device, other = made_up('head device', 16), made_up('other head device', 16)
chain = made_up('head chain')
TIME = 1_700_000_000


class Key:
    """A key that signs notes in a name: kind 1 the text, kind 4 the text with a time."""

    def __init__(self, of, kind, seed):
        self.name, self.kind, self.private = f'vauban-access-log-v1/{of.hex()}/1000', kind, Ed25519PrivateKey.from_private_bytes(made_up(seed))
        self.public = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.identifier = hashlib.sha256(self.name.encode() + b'\n' + bytes([kind]) + self.public).digest()[:4]
        self.text = f'{self.name}+{self.identifier.hex()}+{base64.b64encode(bytes([kind]) + self.public).decode()}'

    def line(self, text, time=TIME, name=None):
        signed, stamp = text.encode(), b''
        if self.kind == 4:
            signed, stamp = f'cosignature/v1\ntime {time}\n{text}'.encode(), time.to_bytes(8, 'big')
        encoded = base64.b64encode(self.identifier + stamp + self.private.sign(signed)).decode()
        return f'\u2014 {name or self.name} {encoded}\n'


head_key, cosigning_key = Key(device, 1, 'head key'), Key(other, 4, 'cosigning key')
another = Key(device, 1, 'another head key')


def head(number='500', origin=None, digest=chain, more=''):
    return f'{origin or head_key.name}\n{number}\n{base64.b64encode(digest).decode()}\n{more}'


def note(text=None, lines=None, blank='\n'):
    text = text or head()
    return text + blank + ''.join(lines if lines is not None else [head_key.line(text)])


FIELDS = {'device': device.hex(), 'user': '1000', 'number': '500', 'chain': chain.hex()}
both = note(lines=[head_key.line(head()), cosigning_key.line(head())])
text = head()
write('log-heads', 'access-log', [
    vector('a head', note(), FIELDS, key=head_key.text),
    vector('a head with a cosignature', both, FIELDS, key=head_key.text),
    vector('a cosignature', both, {**FIELDS, 'time': str(TIME)}, key=cosigning_key.text),
    vector('a log without records', note(head('0', digest=bytes(32))), {**FIELDS, 'number': '0', 'chain': bytes(32).hex()}, key=head_key.text),
    vector('the last number', note(head(str(1 << 48))), {**FIELDS, 'number': str(1 << 48)}, key=head_key.text),
    *refusals([
        ('note', text), ('note', note()[:-1]), ('note', note(blank='')), ('note', note(lines=['\u2014 a b\n'])), ('note', note(lines=[head_key.line(text)[2:]])),
        ('note', note(lines=[head_key.line(text, name='a b')])), ('note', note(lines=[head_key.line(text, name='a+b')])),
        ('note', note(lines=[head_key.line(text)] * 17)), ('note', note().replace('\n', '\r\n')), ('note', ''),
        ('head', note(head(more='more\n'))), ('head', note(head('0500'))), ('head', note(head('-1'))), ('head', note(head(str((1 << 48) + 1)))),
        ('head', note(head(digest=chain[:-1]))), ('head', note(head(origin=head_key.name.upper()))), ('head', note(head(origin='example.com/log'))),
        ('head', note(head(origin=head_key.name.replace('/1000', '/4294967296')))),
        ('signature', note(lines=[cosigning_key.line(text)])), ('signature', note(lines=[another.line(text)])),
        ('signature', note(lines=[head_key.line(head('501'))])), ('signature', note(lines=[head_key.line(text)] * 2))], key=head_key.text),
    *refusals([
        ('signature', note()), ('signature', note(lines=[cosigning_key.line(text, time=TIME).replace('AAAAA', 'AAAAB', 1)]))], key=cosigning_key.text),
    *refusals([('key', note())], key=head_key.text.replace('+', '+0', 1)),
    *refusals([('key', note())], key=head_key.text[:-4])])


# sync.md, "The ends of the access logs"
circle, circle_key = made_up('circle', 16), Ed25519PrivateKey.from_private_bytes(made_up('sync signing key'))
file_keys = [made_up('file key 1'), made_up('file key 2')]
MAGIC = b'VAUBAN LOG HEAD 1\n'


def counted(content):
    return struct.pack('>I', len(content)) + content


def payload(seen=True, time=700_000_000_000_000, signed=None):
    cosigned = note(text=head(origin=f'vauban-access-log-v1/{other.hex()}/1000'), lines=['\u2014 x AAAAAAA=\n'])
    rest = struct.pack('>I', 1) + made_up('companion', 16) + counted(cosigned.encode()) if seen else struct.pack('>I', 0)
    cosigner = Key(device, 4, 'own cosigning key')
    return struct.pack('>q', time) + counted((signed or note()).encode()) + counted(head_key.text.encode()) + counted(cosigner.text.encode()) + rest


def head_file(content, epoch=2, key=None, of=None, size=4096, padding=b'\0', magic=MAGIC):
    of = of or made_up('sync device', 16)
    plain = counted(content)
    plain += padding * (size - len(plain))
    nonce = made_up('head nonce', 12)
    sealed = nonce + AESGCM(key or file_keys[epoch - 1]).encrypt(nonce, plain, b'log head' + of)
    bound = MAGIC + circle + of + struct.pack('>I', epoch) + hashlib.sha256(sealed).digest()
    signature = circle_key.sign(b'vauban sync file v1\0' + circle + made_up('sync device', 16) + hashlib.sha256(bound).digest())
    return magic + struct.pack('>I', epoch) + signature + sealed


GIVEN = {
    'circle': circle.hex(), 'device': made_up('sync device', 16).hex(), 'keys': ' '.join(key.hex() for key in file_keys),
    'verification': circle_key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()}
HEAD_FIELDS = {'time': '700000000000000', 'number': '500', 'chain': chain.hex(), 'seen': f"{made_up('companion', 16).hex()} 500"}
whole = head_file(payload())
write('sync-log-heads', 'sync', [
    vector('a head, and one that was seen', whole, HEAD_FIELDS, **GIVEN),
    vector('a head alone, under an earlier key', head_file(payload(seen=False), epoch=1), {**HEAD_FIELDS, 'seen': ''}, **GIVEN),
    *refusals([
        ('magic', b'VAUBAN SYNC 1\n' + whole[18:]), ('version', head_file(payload(), magic=b'VAUBAN LOG HEAD 2\n')), ('length', whole[:86]),
        ('signature', whole[:-1]), ('signature', whole[:30] + bytes([whole[30] ^ 1]) + whole[31:]), ('signature', head_file(payload(), of=other)),
        ('seal', head_file(payload(), key=made_up('another key'))), ('size', head_file(payload(), size=4095)), ('size', head_file(payload(), size=2048)),
        ('padding', head_file(payload(), padding=b'\1')), ('payload', head_file(payload()[:-1])), ('payload', head_file(payload() + b'\0')),
        ('payload', head_file(payload(signed=note(lines=[another.line(text)])))), ('payload', head_file(payload(signed=note(head('0500'))))),
        ('payload', head_file(payload(seen=False)[:-4]))], **GIVEN)])
