"""Connections (Specs/connections.md) and messages of every socket."""
from . import require
from .der import Fields, read_message


def frame(data, given):
    require(len(data) >= 8, 'ends in the lengths')
    header, secret = int.from_bytes(data[:4], 'big'), int.from_bytes(data[4:8], 'big')
    require(header <= 60_000, 'the header is too long')
    require(secret <= 1_048_576, 'the secret section is too long')
    require(header > 0, 'no header')
    require(len(data) >= 8 + header, 'ends in the header')
    require(len(data) >= 8 + header + secret, 'ends in the secret section')
    return {'header': data[8:8 + header].hex(), 'secret': data[8 + header:8 + header + secret].hex()}


def greeting(data, given):
    fields = Fields(read_message(data))
    fields.integer('version', 1, 1)
    found = {'nonce': fields.octets('nonce', 16).hex()}
    if given['message'] == 'Greeting':
        found['role'] = str(fields.integer('role', 0, 255))
    fields.end()
    return found
