"""Writes the vectors of a backup in a folder (backup.md), from the backup file of version-1.json: its keybag and items in segments of their own."""
import hashlib
import json

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from second_reader.backups import hkdf, opened, read_keybag

from . import here, made_up

with open(f'{here}/backup/version-1.json', encoding='utf-8') as source:
    WHOLE = next(vector for vector in json.load(source)['vectors'] if vector['name'] == 'whole')
FILE, PASSPHRASE = bytes.fromhex(WHOLE['bytes']), WHOLE['passphrase']
END = 20 + int.from_bytes(FILE[16:20], 'big')
_, KEYS = read_keybag(FILE[20:END], PASSPHRASE.encode())
KEY = hkdf(KEYS[1], b'vauban backup frames v1')
FRAME = FILE[END + 4:END + 4 + int.from_bytes(FILE[END:END + 4], 'big')]
# Microseconds since 2001-01-01.
DATE = 817_000_000_000_000


def number(value, count=4):
    return value.to_bytes(count, 'big')


def split(plain):
    """The items of a segment, each as its bytes there."""
    position, items = 0, []
    while position < len(plain):
        end = position + 32
        for _ in range(2):
            end += 4 + int.from_bytes(plain[end:end + 4], 'big')
        items.append(plain[position:end])
        position = end
    return items


def sealed(name, kind, plain):
    nonce = made_up(f'backup folder {name}', 12)
    return nonce + AESGCM(KEY).encrypt(nonce, plain, kind)


def manifest(date, *segments):
    """Segments as sealed bytes, number of items, and the items that belong to the backup."""
    return number(date, 8) + b''.join(
        hashlib.sha256(part).digest() + number(len(part)) + number(total) + number(len(items)) + b''.join(item[:32] for item in items)
        for part, total, items in segments)


def memory(plain_lists, *segments):
    lists = number(len(plain_lists)) + b''.join(hashlib.sha256(plain).digest() for plain in plain_lists)
    checked = b''.join(hashlib.sha256(part).digest() + number(DATE, 8) for part in segments)
    return number(2**64 - 2, 8) + number(DATE, 8) + lists + number(0) + number(0) + number(0) + checked


def segment_name(part):
    return 'segments/' + hashlib.sha256(part).hexdigest()


def altered(data, position=-1):
    data = bytearray(data)
    data[position] ^= 1
    return bytes(data)


GITHUB, EXAMPLE, EMPTY, HERE = split(opened(KEY, FRAME, b'frame' + bytes(8) + b'\0', 'frame'))
# The first run wrote three items, one of which was written again before the second run.
EARLIER = EMPTY[:16] + made_up('backup folder mark', 16) + EMPTY[32:]
FIRST, SECOND = sealed('first', b'segment', GITHUB + EXAMPLE + EARLIER), sealed('second', b'segment', EMPTY + HERE)
UNFINISHED = sealed('unfinished', b'segment', EXAMPLE)
BEFORE = manifest(DATE - 86_400_000_000, (FIRST, 3, [GITHUB, EXAMPLE, EARLIER]))
NOW = manifest(DATE, (FIRST, 3, [GITHUB, EXAMPLE]), (SECOND, 2, [EMPTY, HERE]))
FOLDER = {
    'keybag': FILE[:END], 'manifest': sealed('manifest', b'manifest', NOW), 'manifest.previous': sealed('before', b'manifest', BEFORE),
    'memory': sealed('memory', b'memory', memory([NOW, BEFORE], FIRST, SECOND)), segment_name(FIRST): FIRST, segment_name(SECOND): SECOND}


def folder(title, failure=None, passphrase=PASSPHRASE, **changes):
    """FOLDER with changed files; None removes one. Keys are the names with `_` for a dot."""
    files = dict(FOLDER)
    for name, data in changes.items():
        names = {'first': segment_name(FIRST), 'second': segment_name(SECOND), 'unfinished': segment_name(UNFINISHED)}
        files[names.get(name, name.replace('_', '.'))] = data
    outcome = {'items': 3, 'contains': WHOLE['contains']} if failure is None else {'failure': failure}
    return {'name': title, 'files': {name: data.hex() for name, data in files.items() if data is not None}, 'passphrase': passphrase, **outcome}


def listing(title, plain):
    return sealed(title, b'manifest', plain)


def replaced(title, failure, part, items=(EMPTY, HERE)):
    """The second segment is another one, which the manifest names."""
    listed = listing(title, manifest(DATE, (FIRST, 3, [GITHUB, EXAMPLE]), (part, 2, items)))
    return folder(title, failure, second=None, manifest=listed, **{segment_name(part): part})


vectors = [
    folder('two segments'), folder('neither memory nor an earlier manifest', memory=None, manifest_previous=None),
    folder('an altered memory', memory=altered(FOLDER['memory'])), folder('a segment that no manifest names', unfinished=UNFINISHED),
    folder('no keybag', 'no keybag', keybag=None), folder('not a backup', 'header', keybag=altered(FILE[:END], 0)),
    folder('a later version', 'version', keybag=altered(FILE[:END], 14)), folder('a keybag that is cut off', 'end', keybag=FILE[:END - 1]),
    folder('another passphrase', 'passphrase', 'another passphrase'),
    folder('no manifest', 'no manifest', manifest=None), folder('an altered manifest', 'frame', manifest=altered(FOLDER['manifest'])),
    folder('the memory as manifest', 'frame', manifest=FOLDER['memory']),
    folder('the manifest of a file', 'frame', manifest=sealed('of a file', b'frame' + number(1, 8) + b'\1', NOW)),
    folder('a manifest that ends in a segment', 'manifest', manifest=listing('cut off', NOW[:-1])),
    folder('a manifest that ends in the date', 'manifest', manifest=listing('date', NOW[:7])),
    folder('the manifest before the last run, after its segment was removed', 'no segment', manifest=FOLDER['manifest.previous'], first=None),
    folder('a segment is missing', 'no segment', second=None), folder('an altered segment', 'segment', second=altered(SECOND)),
    folder('half a segment', 'segment', second=SECOND[:len(SECOND) // 2]), folder('segments exchanged', 'segment', first=SECOND, second=FIRST),
    replaced('a manifest as segment', 'frame', sealed('as segment', b'manifest', EMPTY + HERE)),
    replaced('the segment of a file', 'frame', sealed('in a file', b'frame' + number(0, 8) + b'\0', EMPTY + HERE)),
    replaced('a segment that ends in an item', 'items', sealed('items', b'segment', (EMPTY + HERE)[:-1])),
    replaced('an item that its segment does not have', 'manifest', SECOND, [EMPTY, GITHUB]),
]
with open(f'{here}/backup/folder-1.json', 'w', encoding='utf-8') as file:
    json.dump({'specification': 'Specs/backup.md', 'vectors': vectors}, file, indent=1, ensure_ascii=False)
    file.write('\n')
