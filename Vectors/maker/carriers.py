"""Writes the vectors of what carries the files of vauban sync: the messages of its program, and what etcd has at a file's key (sync.md)."""
import hashlib

from . import made_up, refusals, vector, write


def counted(content):
    content = content.encode() if isinstance(content, str) else content
    return bytes([len(content)]) + content


def request(operation, section='', name='', file=b'', other=()):
    return bytes([operation]) + counted(section) + counted(name) + b''.join(map(counted, other)) + file


def asked(operation, section='', name='', file=b'', other=()):
    fields = {'operation': str(operation), 'section': section, 'name': name, 'other': ' '.join(other), 'file': file.hex()}
    return request(operation, section, name, file, other), fields


def revision(cluster, number):
    return b'\x09' + cluster.to_bytes(8, 'big') + number.to_bytes(8, 'big')


DEVICE, FILE = made_up('carrier device', 16).hex(), made_up('carrier file', 40)
LONG = 'd' * 40
write('sync-carrier', 'sync', [
    vector('names of a section', *asked(1, 'circle'), message='request'),
    vector('the names of what a companion gets', *asked(1, f'companions/{DEVICE}/{DEVICE}'), message='request'),
    vector('a file', *asked(2, 'circle', '00000001'), message='request'),
    vector('a name with a dot', *asked(2, 'join', f'{DEVICE}.1'), message='request'),
    vector('the longest section and name', *asked(2, f'{LONG}/{LONG}/{"d" * 18}', 'n' * 64), message='request'),
    vector('a new file', *asked(3, f'devices/{DEVICE}', '00000007', FILE), message='request'),
    vector('an empty file', *asked(3, 'heads', DEVICE), message='request'),
    vector('another file', *asked(4, 'heads', DEVICE, FILE), message='request'),
    vector('a removal', *asked(5, 'join', f'{DEVICE}.1'), message='request'),
    vector('a watch', *asked(6), message='request'),
    vector('a file unless another is there', *asked(7, f'devices/{DEVICE}', '00000007', other=('circle', '00000003')), message='request'),
    vector('a new file unless another is there', *asked(8, f'devices/{DEVICE}', '00000007', FILE, ('circle', '00000003')), message='request'),
    vector('the revision', *asked(9), message='request'),
    *refusals([
        ('operation', b''), ('operation', request(0, 'circle')), ('operation', request(10, 'circle')),
        ('section', request(9, 'circle')), ('name', request(9, '', '1')), ('file', request(9, file=FILE)),
        ('other', request(7, 'circle', '1')), ('other', request(8, 'circle', '1', FILE)), ('other', request(7, 'circle', '1', other=('circle',))),
        ('other', request(7, 'circle', '1', other=('', '1'))), ('other', request(7, 'circle', '1', other=('join', ''))),
        ('other', request(7, 'circle', '1', other=('circle', '1'))), ('other', request(7, 'circle', '1', other=('join', '.1'))),
        ('file', request(7, 'circle', '1', FILE, ('join', '1'))),
        ('section', b'\1'), ('section', request(1)), ('section', b'\1' + bytes([9]) + b'circle'), ('section', request(1, 'Circle')),
        ('section', request(1, 'a//b')), ('section', request(1, '/circle')), ('section', request(1, 'a/b/c/d')), ('section', request(1, 'a.b')),
        ('section', request(1, f'{LONG}/{LONG}/{"d" * 19}')), ('section', b'\1' + counted(b'\xff') + b'\0'), ('section', request(6, 'circle')),
        ('name', request(2, 'circle')), ('name', b'\2' + counted('circle')), ('name', b'\2' + counted('circle') + bytes([9]) + b'00000001'),
        ('name', request(2, 'circle', '.1')), ('name', request(2, 'circle', 'A')), ('name', request(2, 'circle', 'a/b')),
        ('name', request(2, 'circle', 'n' * 65)), ('name', b'\2' + counted('circle') + counted(b'\xff')),
        ('name', request(1, 'circle', '00000001')), ('name', request(6, '', '00000001')),
        ('file', request(1, 'circle', file=FILE)), ('file', request(2, 'circle', '00000001', FILE)),
        ('file', request(5, 'circle', '00000001', FILE)), ('file', request(6, file=FILE))], message='request'),
    vector('ready', b'\0' + 'anna at https://etcd.example:2379'.encode(), {'kind': '0', 'text': 'anna at https://etcd.example:2379'}, message='reply'),
    vector('the longest text', b'\0' + b'e' * 1000, {'kind': '0', 'text': 'e' * 1000}, message='reply'),
    vector('done', b'\1', {'kind': '1'}, message='reply'),
    vector('no names', b'\2', {'kind': '2', 'names': ''}, message='reply'),
    vector('two names', b'\2' + counted('00000001') + counted(f'{DEVICE}.1'), {'kind': '2', 'names': f'00000001 {DEVICE}.1'}, message='reply'),
    vector('a file', b'\3' + FILE, {'kind': '3', 'file': FILE.hex()}, message='reply'),
    vector('an empty file', b'\3', {'kind': '3', 'file': ''}, message='reply'),
    vector('absent', b'\4', {'kind': '4'}, message='reply'),
    vector('taken', b'\5', {'kind': '5'}, message='reply'),
    *[vector(f'fault {fault}', bytes([6, fault]) + 'größer'.encode(), {'kind': '6', 'fault': str(fault), 'text': 'größer'}, message='reply')
      for fault in range(1, 6)],
    vector('anything may have changed', b'\7', {'kind': '7', 'sections': ''}, message='reply'),
    vector('two sections changed', b'\7' + counted('circle') + counted(f'devices/{DEVICE}'),
           {'kind': '7', 'sections': f'circle devices/{DEVICE}'}, message='reply'),
    vector('present', b'\x08', {'kind': '8'}, message='reply'),
    vector('the most sections', b'\7' + counted('circle') * 200, {'kind': '7', 'sections': ' '.join(['circle'] * 200)}, message='reply'),
    vector('a revision', revision(14841639068965178418, 7), {'kind': '9', 'cluster': '14841639068965178418', 'revision': '7'}, message='reply'),
    vector('the last revision', revision(0, (1 << 63) - 1), {'kind': '9', 'cluster': '0', 'revision': str((1 << 63) - 1)}, message='reply'),
    *refusals([
        ('kind', b''), ('kind', b'\x0a'), ('content', b'\x09'), ('content', revision(1, 1)[:-1]), ('content', revision(1, 1) + b'\0'),
        ('revision', revision(1, 0)), ('revision', revision(1, 1 << 63)), ('content', b'\x08\0'), ('text', b'\0' + b'e' * 1001), ('text', b'\0\xff'), ('content', b'\1\0'), ('content', b'\4\0'),
        ('content', b'\5\0'), ('name', b'\2\0'), ('name', b'\2' + bytes([9]) + b'00000001'), ('name', b'\2' + counted('.1')),
        ('name', b'\2' + counted('a/b')), ('name', b'\2' + counted(b'\xff')), ('fault', b'\6'), ('fault', b'\6\0'), ('fault', b'\6\6'),
        ('text', b'\6\1' + b'e' * 1001), ('text', b'\6\1\xff'), ('section', b'\7\0'), ('section', b'\7' + bytes([9]) + b'circle'),
        ('section', b'\7' + counted('.')), ('sections', b'\7' + counted('circle') * 201)], message='reply')])


def head(length, digest=hashlib.sha256(b'a long file').digest(), kind=1):
    return bytes([kind]) + length.to_bytes(4, 'big') + digest


def long_fields(length):
    return {'length': str(length), 'digest': hashlib.sha256(b'a long file').hexdigest()}


write('etcd-heads', 'sync', [
    vector('a file', b'\0' + FILE, {'file': FILE.hex()}), vector('an empty file', b'\0', {'file': ''}),
    vector('the shortest file in parts', head((256 << 10) + 1), long_fields((256 << 10) + 1)),
    vector('the longest file', head(9 << 20), long_fields(9 << 20)),
    *refusals([('kind', b''), ('kind', head(1 << 20, kind=2)), ('size', head(1 << 20)[:-1]), ('size', head(1 << 20) + b'\0'),
               ('length', head(256 << 10)), ('length', head(0)), ('length', head((9 << 20) + 1)), ('length', head((1 << 32) - 1))])])
