#!/usr/bin/env python3
"""A second reader of the vectors, written from the documents in Specs and not from the Swift sources: what is right is read, and what has
a failure is refused in the layer that the failure names. `check.py` reads all files beside it and ends with 1 if one is not as it says."""
import glob
import json
import os
import struct
import sys

here = os.path.dirname(os.path.abspath(__file__))


class Refused(Exception):
    pass


# DER (ITU-T X.690, as far as the wires use it; Specs/enclave-wire.md).

def element(data, position):
    """The tag, the content and the end of the element that begins at the position."""
    if position + 2 > len(data):
        raise Refused('an element is cut off')
    tag, length = data[position], data[position + 1]
    if tag & 0x1F == 0x1F:
        raise Refused('a tag of several bytes')
    start = position + 2
    if length == 0x80:
        raise Refused('a length without end')
    if length > 0x80:
        count = length & 0x7F
        digits = data[start:start + count]
        if count > 4 or len(digits) < count:
            raise Refused('a length of too many bytes')
        length = int.from_bytes(digits, 'big')
        if length < 0x80 or digits[0] == 0:
            raise Refused('a length in a longer form than needed')
        start += count
    if start + length > len(data):
        raise Refused('a length beyond the end')
    return tag, data[start:start + length], start + length


def check_content(tag, content):
    if tag == 0x02:
        if not content or len(content) > 1 and (content[0] == 0 and content[1] < 0x80 or content[0] == 0xFF and content[1] >= 0x80):
            raise Refused('an INTEGER in a longer form than needed')
    elif tag == 0x01:
        if content not in (b'\x00', b'\xff'):
            raise Refused('a BOOLEAN that is neither 00 nor FF')
    elif tag == 0x0C:
        try:
            content.decode('utf-8')
        except UnicodeDecodeError:
            raise Refused('a text that is not UTF-8')
    elif tag & 0x20:
        position = 0
        while position < len(content):
            inner, part, position = element(content, position)
            check_content(inner, part)


def read_message(data):
    tag, content, end = element(data, 0)
    if tag != 0x30:
        raise Refused('not a SEQUENCE')
    if end != len(data):
        raise Refused('bytes after the message')
    check_content(tag, content)


def check_wire(path):
    file = json.load(open(path, encoding='utf-8'))
    for vector in file['vectors']:
        failure = vector.get('failure', '')
        try:
            read_message(bytes.fromhex(vector['bytes']))
            refused = None
        except Refused as why:
            refused = str(why)
        # What is wrong with a message alone is good DER.
        if (refused is not None) != failure.startswith('DER: '):
            yield f"{vector['message']} ({failure or 'right'}): {refused or 'read'}"


# The recovery key on paper (Specs/key-hierarchy.md): eight groups of six digits, each two bytes times eleven.

def read_recovery_key(text):
    digits = text.replace(' ', '').replace('-', '')
    if len(digits) != 48:
        raise Refused('length')
    if not all(sign in '0123456789' for sign in digits):
        raise Refused('digit')
    key = b''
    for group in range(8):
        number = int(digits[group * 6:group * 6 + 6])
        if number % 11 or number // 11 > 0xFFFF:
            raise Refused(f'group {group + 1}')
        key += struct.pack('>H', number // 11)
    return key.hex()


def check_recovery_keys(path):
    for vector in json.load(open(path, encoding='utf-8'))['vectors']:
        try:
            key, failure = read_recovery_key(vector['digits']), None
        except Refused as why:
            key, failure = None, str(why)
        if key != vector.get('key') or failure != vector.get('failure'):
            yield f"{vector['digits']}: {key or failure}"


# The encrypted export (Specs/export.md).

def read_export(data, passphrase):
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
    header, frames = data[:35], data[35:]
    if len(header) < 35 or header[:16] != b'VAUBAN EXPORT 1\n':
        raise Refused('header')
    log2, r, p = header[32:35]
    if not 14 <= log2 <= 20 or r != 8 or not 1 <= p <= 4:
        raise Refused('cost')
    cipher = AESGCM(Scrypt(salt=header[16:32], length=32, n=1 << log2, r=r, p=p).derive(passphrase))
    items, number = 0, 0
    while True:
        if len(frames) < 4:
            raise Refused('end')
        length = int.from_bytes(frames[:4], 'big')
        sealed, frames = frames[4:4 + length], frames[4 + length:]
        if length > 4 << 20 or len(sealed) < length:
            raise Refused('frame')
        last = not frames
        try:
            plain = cipher.decrypt(number.to_bytes(11, 'big') + bytes([last]), sealed, header)
        except InvalidTag:
            raise Refused('passphrase or first frame' if number == 0 else 'frame')
        number += 1
        if last:
            if plain != items.to_bytes(4, 'big'):
                raise Refused('count')
            return items
        count = int.from_bytes(plain[:4], 'big')
        read_message(plain[4:4 + count])
        items += 1


def check_exports(path):
    for vector in json.load(open(path, encoding='utf-8'))['vectors']:
        data = bytes.fromhex(vector['bytes'])
        try:
            items, failure = read_export(data, vector['passphrase'].encode()), None
        except Refused as why:
            items, failure = None, str(why)
        if items != vector.get('items') or failure != vector.get('failure'):
            yield f"{vector['name']}: {failure or items}"


checks = [(f'wire/{os.path.basename(path)}', check_wire) for path in sorted(glob.glob(f'{here}/wire/*.json'))]
checks += [('recovery-key.json', check_recovery_keys), ('export.json', check_exports)]
faults = 0
for name, check in checks:
    found = list(check(f'{here}/{name}'))
    faults += len(found)
    for fault in found:
        print(f'FAILED: {name}: {fault}')
    if not found:
        print(f'ok: {name}')
sys.exit(1 if faults else 0)
