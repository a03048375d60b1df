"""Writes the vectors of forwarded prompts (forwarded-prompts.md)."""
import hashlib
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from second_reader.state import derive

from . import integer, made_up, octets, refusals, sequence, tlv, vector, write

circle, device, other = made_up('circle', 16), made_up('sync device', 16), made_up('other head device', 16)
file_keys = [made_up('file key 1'), made_up('file key 2')]
device_key, forwarder_key = (Ed25519PrivateKey.from_private_bytes(made_up(name)) for name in ('sync signing key', 'forwarder key'))
card = made_up('key card')
TIME = 700_000_000_000_000


def public(key):
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def forwarder(epoch=2, of=device, signer=device_key, said=None, magic=b'VAUBAN FORWARDER 1\n', label=b'vauban sync key card v1\0'):
    said = said or card
    number, time = struct.pack('>I', epoch), struct.pack('>q', TIME)
    digest = hashlib.sha256(magic + circle + of + number + time + public(forwarder_key)).digest()
    return magic + number + time + said + public(forwarder_key) + signer.sign(label + circle + of + card + digest)


def prompts_key(epoch=2, of=device):
    return derive(file_keys[epoch - 1], 'vauban forwarded prompts v1', circle + of + public(forwarder_key))


def padded(content, size=4096, padding=b'\0'):
    return struct.pack('>I', len(content)) + content + padding * (size - 4 - len(content))


def sealed(plain, name, key=None, of=device):
    nonce = made_up('forwarding nonce', 12)
    return nonce + AESGCM(key or prompts_key()).encrypt(nonce, plain, name + of)


def prompt_file(content, signer=forwarder_key, of=device, plain=None, magic=b'VAUBAN FORWARDED PROMPT 1\n', **how):
    rest = sealed(plain or padded(content), b'forwarded prompt', of=of, **how)
    return magic + signer.sign(b'vauban forwarded prompt v1\0' + circle + of + hashlib.sha256(rest).digest()) + rest


def answer_file(content, of=device, plain=None, magic=b'VAUBAN FORWARDED ANSWER 1\n', **how):
    return magic + sealed(plain or padded(content), b'forwarded answer', of=of, **how)


def request(purpose=4):
    caller = sequence(integer(42))
    return sequence(
        octets(made_up('prompt', 16)), integer(1000), sequence(octets(made_up('challenge')), integer(purpose)), caller, integer(1), integer(1),
        integer(5), integer(1), sequence(integer(0), integer(0), integer(0)))


def state(kind=0, content=None, number=7, version=1, time=TIME):
    return sequence(integer(version), integer(number), integer(time), tlv(0xA0 + kind, request() if content is None else content))


def answer(kind=0, content=None, version=1, challenge=None):
    passcode = sequence(octets(made_up('encapsulated')), octets(made_up('sealed passcode', 40)))
    return sequence(integer(version), octets(challenge or made_up('challenge')), tlv(0xA0 + kind, passcode if content is None else content))


GIVEN = {
    'circle': circle.hex(), 'device': device.hex(), 'keys': ' '.join(key.hex() for key in file_keys), 'verification': public(device_key).hex()}
KEYS = {**GIVEN, 'forwarder': public(forwarder_key).hex()}
whole, asked, answered = forwarder(), prompt_file(state()), answer_file(answer())
ANSWER_FIELDS = {'challenge': made_up('challenge').hex()}
write('forwarded-prompts', 'forwarded-prompts', [
    vector('a forwarder', whole, {'epoch': '2', 'time': str(TIME), 'card': card.hex(), 'verification': public(forwarder_key).hex()}, kind='forwarder', **GIVEN),
    *refusals([
        ('magic', b'VAUBAN FORWARDED 1\n' + whole[19:]), ('version', forwarder(magic=b'VAUBAN FORWARDER 2\n')), ('length', whole[:-1]),
        ('length', whole + b'\0'), ('signature', whole[:-1] + bytes([whole[-1] ^ 1])), ('signature', forwarder(of=other)),
        ('signature', forwarder(signer=forwarder_key)), ('signature', forwarder(said=made_up('another card'))),
        ('signature', forwarder(label=b'vauban sync file v1\0')), ('signature', whole[:22] + b'\1' + whole[23:]), ('epoch', forwarder(epoch=1)),
        ('epoch', forwarder(epoch=3))], kind='forwarder', **GIVEN),
    vector('a prompt', asked, {'number': '7', 'time': str(TIME), 'asked': request().hex()}, kind='prompt', **KEYS),
    vector('the end of a prompt', prompt_file(state(1, integer(2))), {'number': '7', 'time': str(TIME), 'ended': '2'}, kind='prompt', **KEYS),
    *refusals([
        ('magic', b'VAUBAN FORWARDED ANSWER 1\n' + asked[26:]), ('signature', asked[:-1]), ('signature', asked[:30] + bytes([asked[30] ^ 1]) + asked[31:]),
        ('signature', prompt_file(state(), of=other)), ('signature', prompt_file(state(), signer=device_key)),
        ('seal', prompt_file(state(), key=prompts_key(1))), ('seal', prompt_file(state(), key=file_keys[1])),
        ('size', prompt_file(b'', plain=padded(state(), 4095))), ('padding', prompt_file(b'', plain=padded(state(), padding=b'\1'))),
        ('content', prompt_file(state(version=2))), ('content', prompt_file(state(number=0))), ('content', prompt_file(state(time=2 ** 53 + 1))), ('content', prompt_file(state(2, b''))),
        ('content', prompt_file(state(1, integer(5)))), ('content', prompt_file(state() + b'\0')),
        # A passcode that is sealed for another purpose than a prompt would authorize something that none shows.
        ('content', prompt_file(state(content=request(purpose=1))))], kind='prompt', **KEYS),
    vector('an answer', answered, {**ANSWER_FIELDS, 'answer': 'passcode'}, kind='answer', **KEYS),
    vector('a refusal', answer_file(answer(1, b'')), {**ANSWER_FIELDS, 'answer': 'cancelled'}, kind='answer', **KEYS),
    *refusals([
        ('magic', b'VAUBAN FORWARDED PROMPT 1\n' + answered[26:]), ('seal', answered[:-1]), ('seal', answer_file(answer(), of=other)),
        ('seal', answer_file(answer(), key=prompts_key(1))), ('size', answer_file(b'', plain=padded(answer(), 2048))),
        ('content', answer_file(answer(version=2))), ('content', answer_file(answer(challenge=bytes(31)))), ('content', answer_file(answer(9, b''))),
        ('content', answer_file(answer() + b'\0'))], kind='answer', **KEYS)])
