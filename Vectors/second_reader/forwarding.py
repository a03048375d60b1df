"""Reads forwarded prompts (Specs/forwarded-prompts.md)."""
import hashlib
import struct

from . import Refused, require
from .der import element, read_message
from .state import derive


def forwarded_prompt(data, given):
    """One of the three files: given are which, the circle, the device and its key, the file keys by epoch and, but for the first, the forwarder's key."""
    return {'forwarder': forwarder, 'prompt': prompt, 'answer': answer}[given['kind']](data, given)


def verify(key, signature, signed):
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed)
    except InvalidSignature:
        raise Refused('signature')


def forwarder(data, given):
    circle, device = bytes.fromhex(given['circle']), bytes.fromhex(given['device'])
    require(data.startswith(b'VAUBAN FORWARDER '), 'magic')
    require(data.startswith(b'VAUBAN FORWARDER 1\n'), 'version')
    require(len(data) == 19 + 4 + 8 + 32 + 32 + 64, 'length')
    card, own = data[31:63], data[63:95]
    digest = hashlib.sha256(data[:19] + circle + device + data[19:31] + own).digest()
    verify(bytes.fromhex(given['verification']), data[95:], b'vauban sync key card v1\0' + circle + device + card + digest)
    epoch, time = struct.unpack('>Iq', data[19:31])
    require(epoch == len(given['keys'].split()), 'epoch')
    return {'epoch': str(epoch), 'time': str(time), 'card': card.hex(), 'verification': own.hex()}


def opened(sealed, name, given):
    """The content of what is sealed under the prompts key of the newest epoch."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    circle, device = bytes.fromhex(given['circle']), bytes.fromhex(given['device'])
    key = derive(bytes.fromhex(given['keys'].split()[-1]), 'vauban forwarded prompts v1', circle + device + bytes.fromhex(given['forwarder']))
    try:
        plain = AESGCM(key).decrypt(sealed[:12], sealed[12:], name + device)
    except InvalidTag:
        raise Refused('seal')
    require(len(plain) >= 4096 and len(plain) & (len(plain) - 1) == 0, 'size')
    count = struct.unpack('>I', plain[:4])[0]
    require(4 + count <= len(plain) and not any(plain[4 + count:]), 'padding')
    try:
        return elements(read_message(plain[4:4 + count]))
    except Refused:
        raise Refused('content')


def elements(content):
    """The tags and contents of elements, one after the other."""
    found, position = [], 0
    while position < len(content):
        tag, part, position = element(content, position)
        found.append((tag, part))
    return found


def number(field):
    require(field[0] == 2, 'content')
    return int.from_bytes(field[1], 'big', signed=True)


def prompt(data, given):
    require(data.startswith(b'VAUBAN FORWARDED PROMPT 1\n') and len(data) > 90, 'magic')
    signature, sealed = data[26:90], data[90:]
    signed = b'vauban forwarded prompt v1\0' + bytes.fromhex(given['circle']) + bytes.fromhex(given['device']) + hashlib.sha256(sealed).digest()
    verify(bytes.fromhex(given['forwarder']), signature, signed)
    fields = opened(sealed, b'forwarded prompt', given)
    require(len(fields) == 4 and number(fields[0]) == 1 and number(fields[1]) > 0 and 0 <= number(fields[2]) <= 2 ** 53 and fields[3][0] in (0xA0, 0xA1), 'content')
    told = {'number': str(number(fields[1])), 'time': str(number(fields[2]))}
    tag, content = fields[3]
    if tag == 0xA1:
        outcome = number(elements(content)[0])
        require(0 <= outcome <= 4, 'content')
        return {**told, 'ended': str(outcome)}
    # The prompt, the user, and the challenge with its purpose, which must be that of a prompt.
    parts = elements(elements(content)[0][1])
    require(number(elements(parts[2][1])[1]) == 4, 'content')
    return {**told, 'asked': content.hex()}


def answer(data, given):
    require(data.startswith(b'VAUBAN FORWARDED ANSWER 1\n'), 'magic')
    fields = opened(data[26:], b'forwarded answer', given)
    require(len(fields) == 3 and number(fields[0]) == 1 and fields[1][0] == 4 and len(fields[1][1]) == 32, 'content')
    names = {0xA0: 'passcode', 0xA1: 'cancelled', 0xA2: 'fallback', 0xA4: 'consent'}
    require(fields[2][0] in names, 'content')
    return {'challenge': fields[1][1].hex(), 'answer': names[fields[2][0]]}
