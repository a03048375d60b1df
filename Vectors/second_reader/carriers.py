"""What carries the files of vauban sync (sync.md): the messages of its program, and what etcd has at a file's key."""
import re

from . import require

FILE_MAX = 9 << 20


def part(data, failure, form, longest):
    """The first text of the data, and what follows it."""
    require(data and len(data) > data[0], failure)
    content, rest = data[1:1 + data[0]], data[1 + data[0]:]
    require(len(content) <= longest and re.fullmatch(form, content), failure)
    return content.decode(), rest


def section(data, failure='section'):
    return part(data, failure, rb'[a-z0-9]+(/[a-z0-9]+){0,2}', 100)


def name(data, failure='name'):
    return part(data, failure, rb'[a-z0-9][a-z0-9.]*', 64)


def absent(data, failure):
    require(data[:1] == b'\0', failure)
    return '', data[1:]


def request(data):
    require(data and 1 <= data[0] <= 9, 'operation')
    operation = data[0]
    place, rest = absent(data[1:], 'section') if operation in (6, 9) else section(data[1:])
    called, file = absent(rest, 'name') if operation in (1, 6, 9) else name(rest)
    other = ''
    if operation in (7, 8):
        there, rest = section(file, 'other')
        named, file = name(rest, 'other')
        require((there, named) != (place, called), 'other')
        other = f'{there} {named}'
    require(len(file) <= FILE_MAX and (operation in (3, 4, 8) or not file), 'file')
    return {'operation': str(operation), 'section': place, 'name': called, 'other': other, 'file': file.hex()}


def words(data):
    require(len(data) <= 1000, 'text')
    try:
        return data.decode()
    except UnicodeDecodeError:
        require(False, 'text')


def listed(data, read):
    found = []
    while data:
        item, data = read(data)
        found.append(item)
    return found


def reply(data):
    require(data and data[0] <= 9, 'kind')
    kind, content = data[0], data[1:]
    if kind == 0:
        rest = {'text': words(content)}
    elif kind == 2:
        rest = {'names': ' '.join(listed(content, name))}
    elif kind == 3:
        require(len(content) <= FILE_MAX, 'content')
        rest = {'file': content.hex()}
    elif kind == 6:
        require(content and 1 <= content[0] <= 5, 'fault')
        rest = {'fault': str(content[0]), 'text': words(content[1:])}
    elif kind == 7:
        sections = listed(content, section)
        require(len(sections) <= 200, 'sections')
        rest = {'sections': ' '.join(sections)}
    elif kind == 9:
        require(len(content) == 16, 'content')
        cluster, revision = int.from_bytes(content[:8], 'big'), int.from_bytes(content[8:], 'big')
        require(1 <= revision < 1 << 63, 'revision')
        rest = {'cluster': str(cluster), 'revision': str(revision)}
    else:
        require(not content, 'content')
        rest = {}
    return {'kind': str(kind), **rest}


def carrier_message(data, given):
    return {'request': request, 'reply': reply}[given['message']](data)


def etcd_head(data, given):
    require(data and data[0] <= 1, 'kind')
    if data[0] == 0:
        require(len(data) <= 1 + (256 << 10), 'size')
        return {'file': data[1:].hex()}
    require(len(data) == 37, 'size')
    length = int.from_bytes(data[1:5], 'big')
    require(256 << 10 < length <= FILE_MAX, 'length')
    return {'length': str(length), 'digest': data[5:].hex()}
