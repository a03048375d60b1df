"""What items hold: secret-service.md, kwallet.md, import.md (one-time codes, CSV) and rights.md."""
import base64
import hashlib
import hmac
import re
import urllib.parse

from . import Refused, require
from .der import Fields, read_message


# The attribute `ssat`.

def secret_service(data, given):
    fields = Fields(read_message(data))
    collection = fields.text('collection', 64)
    instance = fields.octets('instance', 0, 8)
    pairs = fields.sequence('attributes')
    fields.end()
    names, attributes = [], []
    while not pairs.is_at_end:
        pair = pairs.sequence('attribute')
        names.append(pair.text('name', 65_536).encode())
        attributes.append(f"{names[-1].decode()}={pair.text('value', 65_536)}")
        pair.end()
    require(len(set(names)) == len(names), 'a name twice')
    require(names == sorted(names), 'names out of order')
    return {'collection': collection, 'instance': instance.hex(), 'attributes': '\n'.join(attributes)}


# One-time codes: an otpauth:// URI, and the code of a moment (RFC 4226, RFC 6238).

def whole(parameters, name, low, high, default):
    text = parameters.get(name, default)
    require(re.fullmatch('[0-9]+', text) and low <= int(text) <= high, name)
    return int(text)


def decoded(text, name):
    require(not re.search('%(?![0-9A-Fa-f]{2})', text), name)
    try:
        # What is not UTF-8 came as surrogates.
        text = urllib.parse.unquote_to_bytes(text.encode('utf-8', 'surrogateescape')).decode()
    except UnicodeDecodeError:
        raise Refused(name)
    require(not any(ord(sign) < 0x20 or ord(sign) == 0x7F for sign in text), name)
    return text


def one_time_code(data, given):
    require(len(data) <= 4096, 'length')
    require(data.lower().startswith(b'otpauth://'), 'address')
    require(all(byte >= 0x20 and byte != 0x7F for byte in data), 'a control character')
    kind, _, rest = data.decode('utf-8', 'surrogateescape')[len('otpauth://'):].partition('/')
    require(kind.lower() in ('totp', 'hotp'), 'type')
    label, _, query = rest.partition('?')
    parameters = {}
    for pair in filter(None, query.split('&')):
        name, _, value = pair.partition('=')
        require(name.lower() not in parameters, 'a parameter twice')
        parameters[name.lower()] = value
    label = decoded(label, 'label').split(':')
    require(len(label) <= 2, 'label')
    issuer = decoded(parameters.get('issuer', '').replace('+', ' '), 'issuer') or (label[0] if len(label) == 2 else '')
    require('secret' in parameters, 'no secret')
    signs = re.sub('[-= ]', '', parameters['secret']).upper()
    try:
        secret = base64.b32decode(signs + '=' * (-len(signs) % 8))
        require(secret and base64.b32encode(secret).decode().rstrip('=') == signs, 'secret')
    except ValueError:
        raise Refused('secret')
    algorithm = parameters.get('algorithm', 'SHA1').upper().replace('SHA-', 'SHA')
    require(algorithm in ('SHA1', 'SHA256', 'SHA512'), 'algorithm')
    digits = whole(parameters, 'digits', 6, 8, '6')
    if kind.lower() == 'totp':
        counter = int(given['time']) // whole(parameters, 'period', 1, 86_400, '30')
    else:
        require('counter' in parameters, 'no counter')
        counter = whole(parameters, 'counter', 0, (1 << 63) - 1, '')
    code = hmac.new(secret, counter.to_bytes(8, 'big'), algorithm.lower()).digest()
    offset = code[-1] & 15
    number = int.from_bytes(code[offset:offset + 4], 'big') & 0x7FFFFFFF
    return {'issuer': issuer, 'account': label[-1].lstrip(' ') if len(label) == 2 else label[0], 'code': str(number)[-digits:].zfill(digits)}


# A kept right's record.

def right(data, given):
    require(data, 'no byte')
    require(data[0] in (0, 1), 'first byte')
    require(data[0] == 1 or len(data) == 1, 'a byte after 00')
    require(data[0] == 0 or len(data) > 1, 'no secret after 01')
    tag = re.fullmatch('tag (0|-?[1-9][0-9]*)', given['comment'])
    require(tag, 'comment')
    return {'tag': tag[1], 'secret': data[1:].hex()}


# The CSV of another password manager: the first record, by the columns that import.md names.

COLUMNS = {'title': ('name', 'title'), 'url': ('url', 'website', 'login_uri'), 'username': ('username', 'login_username'),
           'password': ('password', 'login_password'), 'notes': ('note', 'notes', 'extra')}


# KWallet's maps: Qt's QMap<QString, QString> as the JSON of an item.

def wallet_map(data, given):
    position = 0

    def take(count, failure):
        nonlocal position
        require(position + count <= len(data), failure)
        position += count
        return data[position - count:position]

    def json_text():
        length = int.from_bytes(take(4, 'a text is missing'), 'big')
        if length == 0xFFFFFFFF:
            return None
        require(length % 2 == 0, 'half a unit')
        text = ''
        for sign in take(length, 'a text is cut off').decode('utf-16-be', 'surrogatepass'):
            if sign in '"\\':
                text += '\\' + sign
            elif ord(sign) < 0x20 or ord(sign) == 0x7F or 0xD800 <= ord(sign) < 0xE000:
                text += f'\\u{ord(sign):04x}'
            else:
                text += sign
        return f'"{text}"'

    if not data:
        return {'json': '{}'}
    pairs = []
    for _ in range(int.from_bytes(take(4, 'a number of pairs is cut off'), 'big')):
        name, value = json_text(), json_text()
        pairs.append((name or '""') + ':' + (value or 'null'))
    require(position == len(data), 'bytes after the last pair')
    return {'json': '{' + ','.join(pairs) + '}'}


def csv_rows(text):
    rows, row, field, is_quoted, position = [], [], '', False, 0
    while position < len(text):
        sign = text[position]
        if is_quoted:
            if sign != '"':
                field += sign
            elif text[position + 1:position + 2] == '"':
                field, position = field + '"', position + 1
            else:
                is_quoted = False
        elif sign == '"':
            is_quoted = True
        elif sign in ',\n':
            row, field = row + [field], ''
            if sign == '\n':
                rows, row = rows + [row], []
        elif sign != '\r':
            field += sign
        position += 1
    require(not is_quoted, 'a quote is never closed')
    return [row for row in rows + ([row + [field]] if row or field else []) if row != ['']]


def csv(data, given):
    try:
        rows = csv_rows(data.decode('utf-8-sig'))
    except UnicodeDecodeError:
        raise Refused('not UTF-8')
    require(rows, 'an empty file')
    names = [name.strip().lower() for name in rows[0]]
    require(len(set(names)) == len(names), 'a column twice')
    columns = {part: next((names.index(name) for name in names if name in known), None) for part, known in COLUMNS.items()}
    require(columns['username'] is not None, 'no column username')
    require(columns['password'] is not None, 'no column password')
    require(columns['url'] is not None or columns['title'] is not None, 'no column url or title')
    require(all(len(row) == len(names) for row in rows), 'a record with another number of fields')
    found = {part: rows[1][column] for part, column in columns.items() if column is not None and rows[1][column]}
    return {'records': str(len(rows) - 1), **found}
