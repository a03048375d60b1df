"""How make.py writes vectors: data that are hashes of their names, files of Vectors/formats, and DER."""
import hashlib
import json
import os

here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def made_up(name, count=32):
    return hashlib.shake_256(b'vauban vector ' + name.encode()).digest(count)


def vector(name, data, fields=None, failure=None, **given):
    content = {'text': data} if isinstance(data, str) else {'bytes': data.hex()}
    return {'name': name, **content, **({'given': given} if given else {}), **({'fields': fields} if failure is None else {'failure': failure})}


def write(name, specification, vectors):
    with open(f'{here}/formats/{name}.json', 'w', encoding='utf-8') as file:
        json.dump({'specification': f'Specs/{specification}.md', 'vectors': vectors}, file, indent=2, sort_keys=True, ensure_ascii=False)
        file.write('\n')


def refusals(failures, **given):
    """Vectors from (failure, data), named after their failures."""
    return [vector(failure, data, failure=failure, **given) for failure, data in failures]


# DER.
def tlv(tag, content):
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    digits = len(content).to_bytes((len(content).bit_length() + 7) // 8, 'big')
    return bytes([tag, 0x80 | len(digits)]) + digits + content


def integer(value):
    return tlv(2, value.to_bytes(value.bit_length() // 8 + 1, 'big'))


def octets(value):
    return tlv(4, value)


def text(value):
    return tlv(12, value.encode())


def sequence(*fields):
    return tlv(0x30, b''.join(fields))


def spoiled(message):
    """What is wrong with the encoding of any message shorter than 128 bytes."""
    return [('DER: a byte after the message', message + b'\0'), ('DER: the last byte is missing', message[:-1]),
            ('DER: a length in a longer form than needed', b'\x30\x81' + message[1:]),
            ('DER: a length without end', b'\x30\x80' + message[2:] + b'\0\0'), ('DER: a SET in place of the SEQUENCE', b'\x31' + message[1:])]
