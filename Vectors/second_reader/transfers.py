"""The entries in which the reader of another provider reports its items (secret-service.md)."""
from . import Refused, require
from .der import Fields, element, read_message


def check_record(content):
    """Reads an ItemRecord (keychain-wire.md), as far as its own fields."""
    try:
        tag, inner, end = element(content, 0)
        require(tag == 0x30 and end == len(content), 'record')
        fields = Fields(inner)
        require(fields.integer('kind') in (1, 2, 3, 4, 5), 'record')
        attributes, before = fields.sequence('attributes'), ''
        while not attributes.is_at_end:
            attribute = attributes.sequence('attribute')
            name = attribute.text('name', 4)
            require(len(name) == 4 and name > before, 'record')
            before = name
            require(attribute.next(attribute.content[attribute.position], 'value'), 'record')
            attribute.end()
        fields.integer('protection', 6, 12)
        fields.end()
    except Refused:
        raise Refused('record')


def transfer_entry(data, given):
    fields = Fields(read_message(data))
    kind, text, reason = fields.integer('kind', 1, 9), fields.text('text', 1024), fields.text('reason', 1024)
    number, record = fields.integer('number', 0, 10_000_000), b''
    if not fields.is_at_end and fields.content[fields.position] == 0xA0:
        record = fields.next(0xA0, 'record')
        check_record(record)
    fields.end()
    require(bool(record) == (kind in (4, 5)), 'parts')
    return {'kind': str(kind), 'text': text, 'reason': reason, 'number': str(number), 'record': record.hex()}
