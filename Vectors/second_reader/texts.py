"""Files of lines: state-files.md, owners.md, service.md, access-groups.md, and the names of programs in caller-identity.md."""
import hashlib
import plistlib
import re
import unicodedata

from . import Refused, require

UID_MAX = (1 << 32) - 1


def number(text, failure, high=UID_MAX):
    require(re.fullmatch('[0-9]+', text) and int(text) <= high, failure)
    return int(text)


def machine(data, given):
    """The state file `machine` beside a device secret, compared with /etc/machine-id."""
    lines = data.decode().split('\n')
    require(lines[0] == 'vauban machine 1', 'heading')
    require(len(lines) >= 2 and len(lines[1]) == 64, 'length')
    require(re.fullmatch('[0-9a-f]{64}', lines[1]), 'digit')
    require(len(lines) >= 3, 'end')
    require(lines[2:] == [''], 'a line after the end')
    same = hashlib.sha256(b'vauban machine-id v1\0' + given['machineID'].encode()).hexdigest() == lines[1]
    return {'machine': 'the same' if same else 'another'}


def adopted_items(data, given):
    version, *lines = data.decode(errors='replace').split('\n')
    require(version == 'version 1', 'version')
    require(lines[-1:] == [''], 'end')
    for index, line in enumerate(lines[:-1]):
        known = re.fullmatch('[1-5] [0-9a-f]{32} (0|-?[1-9][0-9]*) [0-9a-f]{32}', line)
        require(known and -2**63 <= int(known[1]) < 2**63, f'line {index + 2}')
    return {'items': ', '.join(lines[:-1])}


def holder(data, given):
    lines = data.decode().split('\n')
    require(lines[0] == 'vauban holder 1', 'heading')
    require(len(lines) > 1 and lines[1], 'no holder')
    words = lines[1].split(' ', 1)
    uid = number(words[0], 'number')
    require(len(words) == 2 and words[1], 'name')
    require(len(lines) > 2, 'end')
    require(lines[2:] == [''], 'a line after the end')
    return {'uid': str(uid), 'name': words[1]}


def uids(data, given):
    """A line of root's list; users are named as in the vectors' passwd(5): anna is 1000."""
    words = data.decode().split('#')[0].split()
    require(1 <= len(words) <= 2, 'words')
    ends = words[0].split('-')
    require(len(ends) <= 2, 'range')
    first, last = number(ends[0], 'number'), number(ends[-1], 'number')
    require(first <= last, 'order')
    require(last < UID_MAX, 'the shared owner')
    if len(words) == 1:
        owner = str(first)
    elif words[1] == 'each':
        owner = 'each'
    else:
        owner = '1000' if words[1] == 'anna' else str(number(words[1], 'owner'))
    return {'first': str(first), 'last': str(last), 'owner': owner}


def rooms(data, given):
    found = {}
    for line in data.decode().split('\n'):
        if not line or line.startswith('#'):
            continue
        words = line.split()
        require(len(words) == 2, 'words')
        require(re.fullmatch('[a-z0-9-]+', words[0]), 'room')
        if words[0] not in ('enclaved', 'keychaind', 'authd', 'witness', 'watcher', 'reader', 'fetcher'):
            continue
        found[words[0]] = '0' if words[1] == 'root' else str(number(words[1], 'user'))
    return found


def integrity(data, given):
    """The manifest of an installation."""
    lines = data.decode().split('\n')
    require(lines[0] == 'vauban integrity 1', 'version')
    require(lines[-1] == '' and len(lines) >= 3 and lines[-2] == f'end {len(lines) - 3}', 'end')
    found = {}
    for line in lines[1:-2]:
        kind = line.split(' ')[0]
        require(kind in ('file', 'folder', 'link'), 'kind')
        count = {'file': 6, 'folder': 5, 'link': 3}[kind]
        words = line.split(' ', count - 1)
        require(len(words) == count and all(words), 'words')
        if kind != 'link':
            require(re.fullmatch('[0-7]{4}', words[1]), 'mode')
        if kind == 'file':
            require(re.fullmatch('[0-9a-f]{64}', words[4]), 'digest')
        path = words[-1]
        require(path.startswith('/') and not {'', '.', '..'} & set(path[1:].split('/')), 'path')
        require(path not in found, 'twice')
        found[path] = ' '.join(words[:-1])
    return found


def service_file(data, given):
    lines = data.decode().split('\n')
    require(lines[0] == 'version 1', 'version')
    launchers = [line[len('launcher '):] for line in lines if line.startswith('launcher ')]
    require(launchers, 'launcher')
    return {'launcher': launchers[0]}


def launcher_record(data, given):
    lines = [line for line in data.decode().split('\n') if line]
    words = lines[0].split(' ') if lines else []
    require(len(words) == 3 and words[0] == 'launcher', 'launcher')
    pid = number(words[1], 'pid', (1 << 31) - 1)
    require(pid > 0, 'pid')
    number(words[2], 'start', (1 << 64) - 1)
    require(len(lines) > 1 and lines[1].startswith('sockets '), 'sockets')
    require(lines[2:] in ([], ['ready']), 'ready')
    return {'pid': words[1], 'start': words[2], 'sockets': lines[1][len('sockets '):], 'ready': 'yes' if lines[2:] else 'no'}


def entitlements(data, given):
    """A file of grants, for the application that is given."""
    try:
        grants = plistlib.loads(data)
    except Exception:
        raise Refused('no property list')
    require(isinstance(grants, dict), 'no dictionary')

    def strings(value):
        return value if isinstance(value, list) and all(isinstance(each, str) for each in value) else []

    applications, named = grants.get('vauban-applications'), grants.get('vauban-teams')
    hasApplications = isinstance(applications, list) and strings(applications) == applications
    hasTeams = isinstance(named, dict) and all(isinstance(name, str) for name in named.values())
    require(hasApplications or hasTeams, 'applications')
    teams = ', '.join(sorted(f'{team} {name}' for team, name in (named if hasTeams else {}).items()
                             if re.fullmatch('[A-Z2-7]{32}', team) and is_team_name(name)))
    if not hasApplications or given['application'] not in applications:
        return {'applies': 'no', 'teams': teams}
    own = [grants.get(key) for key in ('application-identifier', 'com.apple.application-identifier')]
    own = [value for value in own if isinstance(value, str)][:1]
    identifiers = strings(grants.get('com.apple.developer.associated-application-identifier')) + own
    groups = []
    for group in (strings(grants.get('keychain-access-groups')) + (identifiers or [given['application']])
                  + strings(grants.get('com.apple.security.application-groups'))):
        if group not in groups + ['*', 'cli', 'unsigned', 'vauban.permissions', '']:
            groups.append(group)
    if 'com.apple.token' in groups:
        groups.remove('com.apple.token')
        groups.append('com.apple.token')
    denies = grants.get('com.apple.private.keychain.deny') is True
    return {'applies': 'yes', 'groups': ' '.join(groups), 'denies': 'yes' if denies else 'no', 'teams': teams}


def is_team_name(name):
    """One line of at most 64 bytes without invisible characters and doubled spaces."""
    return (0 < len(name.encode()) <= 64 and ' '.join(name.split()) == name
            and not any(unicodedata.category(sign) in ('Cc', 'Cf') for sign in name))


def application_name(data, given):
    kind, _, name = data.decode().partition(':')
    if kind == 'program':
        require(name.startswith('/'), 'a path that is not absolute')
        require(len(name.encode()) <= 1024, 'a path that is too long')
        require(name != '/' and '' not in name.split('/')[1:], 'a path with an empty name')
        require(not {'.', '..'} & set(name.split('/')), 'a path that is not plain')
        require(not any(unicodedata.category(sign) in ('Cc', 'Cf') for sign in name), 'an invisible character')
    elif kind in ('flatpak', 'snap'):
        require(name, 'an empty name')
        require(not name.startswith('.'), 'a name that begins with a dot')
        require(re.fullmatch('[A-Za-z0-9._-]+', name), 'a character that no package has')
        require(len(name) <= 255, 'a name that is too long')
    elif kind == 'build':
        require(len(name) == 64, 'a digest of another length')
        require(re.fullmatch('[0-9a-f]+', name), 'a digit that is not lowercase hexadecimal')
    else:
        raise Refused('an unknown kind')
    return {'kind': kind, 'name': name}
