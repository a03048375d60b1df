"""Reads a record of the access log, and the last uses in a series (Specs/access-log.md)."""
import hashlib
import hmac
import struct

from . import Refused, require
from .der import Fields, read_message


def code(key, label):
    return hmac.new(key, label, hashlib.sha256).digest()


def access_record(data, given):
    """A sealed record: given are the first key of its series, the number of the series' first record, its own, and the chain before."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    key, series, number = bytes.fromhex(given['key']), int(given['series']), int(given['number'])
    for _ in range(number - series):
        key = code(key, b'vauban access log next v1')
    place = struct.pack('>QQ', number, series)
    try:
        plain = AESGCM(code(key, b'vauban access log record v1')).decrypt(data[:12], data[12:], b'access log' + place)
    except (InvalidTag, ValueError):
        raise Refused('seal')
    require(len(plain) >= 256 and len(plain) & (len(plain) - 1) == 0, 'size')
    count = struct.unpack('>I', plain[:4])[0]
    require(4 + count <= len(plain) and not any(plain[4 + count:]), 'padding')
    chain = hashlib.sha256(bytes.fromhex(given['chain']) + place + hashlib.sha256(data).digest()).hexdigest()
    return {**record(plain[4:4 + count]), 'chain': chain}


def record(data):
    fields = Fields(read_message(data))
    fields.integer('version', 1, 1)
    dates = [fields.integer(name, -2**63, 2**63 - 1) for name in ('began', 'ended')]
    found = {'began': str(dates[0]), 'ended': str(dates[1]), 'action': str(fields.integer('action', 1, 8)),
             'outcome': str(fields.integer('outcome', 1, 4)), 'unrecorded': str(fields.integer('unrecorded', 0, 2**63 - 1))}
    if fields.content[fields.position:fields.position + 1] == b'\xa0':
        inner = Fields(fields.next(0xA0, 'program'))
        program = inner.sequence('program')
        inner.end()
        found |= {'application': program.text('application', 256), 'path': program.text('path', 1024),
                  'throughCommandLine': 'yes' if program.next(1, 'through the command line') == b'\xff' else 'no'}
        commands, links = program.sequence('commands'), []
        while not commands.is_at_end:
            links.append(commands.sequence('command').text('path', 256))
        program.end()
        found['commands'] = ' '.join(links)
    if fields.content[fields.position:fields.position + 1] == b'\xa1':
        inner, paths = Fields(fields.next(0xA1, 'parents')), []
        parents = inner.sequence('parents')
        inner.end()
        while not parents.is_at_end:
            parent = parents.sequence('parent')
            paths.append(parent.text('path', 256))
            parent.end()
        require(0 < len(paths) <= 8, 'parents')
        found['parents'] = ', '.join(paths)
    items, shown = fields.sequence('items'), []
    while not items.is_at_end:
        entry = items.sequence('item')
        item, kind, count = entry.octets('item'), entry.integer('kind', 0, 2**63 - 1), entry.integer('count', 1, 2**63 - 1)
        words = f"{item.hex()} {kind} {count} {entry.text('owner', 128)} {entry.text('name', 128)}"
        if not entry.is_at_end:
            require(entry.next(0xA0, 'canary') == b'', 'canary')
            words += ' canary'
        shown.append(words)
        entry.end()
    fields.end()
    return {**found, 'items': ', '.join(shown)}


def series_uses(data, given):
    """The sealed last uses in a series: given are its first key and the number of its first record."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    key = code(bytes.fromhex(given['key']), b'vauban access log uses v1')
    try:
        plain = AESGCM(key).decrypt(data[:12], data[12:], b'access log uses' + struct.pack('>Q', int(given['series'])))
    except (InvalidTag, ValueError):
        raise Refused('seal')
    require(len(plain) >= 256 and len(plain) & (len(plain) - 1) == 0, 'size')
    count = struct.unpack('>I', plain[:4])[0]
    require(4 + count <= len(plain) and not any(plain[4 + count:]), 'padding')
    require(count % 22 == 0, 'length')
    shown = []
    for start in range(4, 4 + count, 22):
        distances = struct.unpack('>HHH', plain[start + 16:start + 22])
        numbers = [str(int(given['series']) + distance - 1) if distance else '-' for distance in distances]
        shown.append(' '.join([plain[start:start + 16].hex(), *numbers]))
    return {'items': ', '.join(shown)}
