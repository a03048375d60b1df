"""What the browser's extension sends to its host (Specs/browser.md)."""
import json
import re

from . import Refused, require
from .sites import once

LABEL = re.compile('[a-z0-9_-]{1,63}')
KEYS = {
    'find': ['origin'], 'password': ['origin', 'item'], 'code': ['origin', 'item'],
    'generate': ['origin', 'rules', 'minlength', 'maxlength'], 'save': ['origin', 'account', 'password'],
    'replace': ['origin', 'item', 'password', 'mayLose'], 'compare': ['origin', 'account', 'password'], 'unlock': [],
}
# Fields that need not be there, and those that came with a later version.
OPTIONAL = ['minlength', 'maxlength', 'mayLose']
SINCE = {'mayLose': 3}


def integer(text):
    require(re.fullmatch('-?[0-9]+', text) and -2**63 <= int(text) < 2**63, 'json')
    return int(text)


def no_fraction(text):
    raise Refused('json')


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return 1 + max(map(depth, inner), default=0)


def documents(text):
    """All values of the text, one after the other."""
    decoder = json.JSONDecoder(object_pairs_hook=once, parse_int=integer, parse_float=no_fraction, parse_constant=no_fraction)
    found, position = [], 0
    while (text := text[position:].lstrip(' \t\r\n')):
        try:
            value, position = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            raise Refused('json')
        require(depth(value) <= 8, 'json')
        found.append(value)
    return found


def line(value, most, failure):
    require(isinstance(value, str) and len(value.encode()) <= most, failure)
    require(not any(ord(character) < 0x20 or ord(character) == 0x7f for character in value), failure)
    return value


def origin(value):
    found = re.fullmatch(r'https://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([1-9][0-9]*))?', line(value, 512, 'origin'))
    require(found, 'origin')
    host, port = found.groups()
    require(host.startswith('[') or len(host) <= 253 and all(LABEL.fullmatch(label) for label in host.split('.')), 'origin')
    require(port is None or int(port) <= 65535 and int(port) != 443, 'origin')
    return value


def length(value):
    require(type(value) is int and 1 <= value <= 1_000_000, 'length')
    return str(value)


def password(value):
    require(isinstance(value, str) and 1 <= len(value.encode()) <= 16384, 'password')
    return value.encode().hex()


def flag(value):
    require(isinstance(value, bool), 'mayLose')
    return json.dumps(value)


def item(value):
    require(isinstance(value, str) and len(value.encode()) == 32, 'item')
    return value


FIELDS = {
    'origin': origin, 'item': item, 'rules': lambda value: line(value, 4096, 'rules'), 'minlength': length, 'maxlength': length,
    'account': lambda value: line(value, 1024, 'account'), 'password': password,
    'mayLose': flag,
}


def browser_message(data, given):
    try:
        values = documents(data.decode())
    except UnicodeDecodeError:
        raise Refused('json')
    require(len(values) > 0, 'json')
    require(len(values) == 1 and isinstance(values[0], dict), 'object')
    message = values[0]
    require(type(message.get('id')) is int and message['id'] > 0, 'id')
    version = message.get('version', 1)
    require(type(version) is int and version in (1, 2, 3), 'version')
    request = message.get('request')
    require(request in KEYS and (request != 'compare' or version >= 2), 'request')
    found = {'id': str(message['id']), 'request': request}
    keys = [key for key in KEYS[request] if SINCE.get(key, 1) <= version]
    for key in keys:
        if key in message or key not in OPTIONAL:
            found[key] = FIELDS[key](message.get(key))
    require(set(message) <= {'id', 'request', 'version', *keys}, 'surplus')
    return found
