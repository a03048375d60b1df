"""Writes the vectors of the records that take the place of files of vauban sync (sync.md, "Compaction")."""
import hashlib
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from . import made_up, refusals, vector, write

MAGIC = b'VAUBAN SYNC 2\n'
circle, device = made_up('circle', 16), made_up('sync device', 16)
key = Ed25519PrivateKey.from_private_bytes(made_up('sync signing key'))
file_keys = [made_up('sync file key 1'), made_up('sync file key 2')]
chains = [made_up(f'chain {number}') for number in range(1, 5)]


def payload(last=4, end=6, listed=chains, count=None):
    return struct.pack('>qqI', last, end, len(listed) if count is None else count) + b''.join(listed)


def record(content, epoch=2, magic=MAGIC, size=4096, padding=b'\0', sealing=None, of=device, named=b'sync record'):
    plain = struct.pack('>I', len(content)) + content
    plain += padding * (size - len(plain))
    nonce = made_up('record nonce', 12)
    sealed = nonce + AESGCM(sealing or file_keys[min(epoch, 2) - 1]).encrypt(nonce, plain, named + of)
    covered = MAGIC + circle + of + struct.pack('>I', epoch) + hashlib.sha256(sealed).digest()
    signature = key.sign(b'vauban sync file v1\0' + circle + device + hashlib.sha256(covered).digest())
    return magic + struct.pack('>I', epoch) + signature + sealed


GIVEN = {
    'circle': circle.hex(), 'device': device.hex(), 'keys': ' '.join(one.hex() for one in file_keys),
    'verification': key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()}


def fields(last, end, listed):
    return {'last': str(last), 'end': str(end), 'chains': ' '.join(one.hex() for one in listed)}


whole = record(payload())
write('sync-compaction-records', 'sync', [
    vector('all chains', whole, fields(4, 6, chains), **GIVEN),
    vector('the last chains, under an earlier key', record(payload(70_000, 70_001, chains[2:]), epoch=1), fields(70_000, 70_001, chains[2:]), **GIVEN),
    *refusals([
        ('magic', b'VAUBAN SYNC 1\n' + whole[14:]), ('magic', b'VAUBAN SYNC 3\n' + whole[14:]), ('length', whole[:82]),
        ('signature', whole[:-1]), ('signature', whole[:30] + bytes([whole[30] ^ 1]) + whole[31:]),
        ('signature', record(payload(), of=made_up('other sync device', 16))), ('epoch', record(payload(), epoch=3)),
        ('seal', record(payload(), sealing=made_up('another key'))), ('seal', record(payload(), named=b'sync file')),
        ('size', record(payload(), size=4095)), ('size', record(payload(listed=[]), size=2048)), ('padding', record(payload(), padding=b'\1')),
        ('payload', record(payload()[:-1])), ('payload', record(payload() + b'\0')), ('payload', record(payload(end=4))),
        ('payload', record(payload(last=3))), ('payload', record(payload(last=-1))), ('payload', record(payload(listed=[]))),
        ('payload', record(payload(end=100_000_000))), ('payload', record(payload(70_000, 70_001, count=65_537)))], **GIVEN)])
