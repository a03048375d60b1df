#!/usr/bin/env python3
"""Writes the files of Vectors/formats: for each format valid data with the fields that a reader finds in it, and data with one failure each.
Everything random is a hash of its name, so each run writes the same bytes."""
import base64
import hashlib
import hmac
import json
import plistlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from maker import integer, made_up, octets, refusals, sequence, spoiled, text, tlv, vector, write
# These write the vectors of backup.md, sync.md, forwarded-prompts.md, code-signing.md, access-log.md, ssh-agent.md and secret-service.md.
from maker import backups, carriers, circles, codes, compaction, forwarding, heads, ssh, transfers  # noqa: F401
from second_reader.state import derive

# connections.md
def frame(header, secret=b'', lengths=None):
    return b''.join(part.to_bytes(4, 'big') for part in lengths or (len(header), len(secret))) + header + secret


write('frames', 'connections', [
    vector('a header', frame(b'\x30\0'), {'header': '3000', 'secret': ''}),
    vector('a header and a secret section', frame(b'\x30\0', b'\xde\xad'), {'header': '3000', 'secret': 'dead'}),
    *refusals([('ends in the lengths', frame(b'')[:7]), ('no header', frame(b'', b'\x01')),
               ('the header is too long', frame(b'\x30\0', lengths=(60_001, 0))),
               ('the secret section is too long', frame(b'\x30\0', lengths=(2, 1_048_577))),
               ('ends in the header', frame(b'\x30', lengths=(2, 0))), ('ends in the secret section', frame(b'\x30\0', b'\x01', lengths=(2, 2)))])])


def greeting(nonce=bytes(range(16)), version=1, role=None, more=b''):
    return sequence(integer(version), octets(nonce), b'' if role is None else integer(role), more)


NONCE = bytes(range(16)).hex()
write('greetings', 'connections', [
    vector('hello', greeting(), {'nonce': NONCE}, message='Hello'),
    *refusals(spoiled(greeting()) + [('version', greeting(version=2)), ('nonce', greeting(bytes(15))),
                                     ('a field that the type does not have', greeting(role=1))], message='Hello'),
    vector('greeting', greeting(role=1), {'nonce': NONCE, 'role': '1'}, message='Greeting'),
    vector('the highest role', greeting(role=255), {'nonce': NONCE, 'role': '255'}, message='Greeting'),
    *refusals(spoiled(greeting(role=1)) + [
        ('version', greeting(role=1, version=0)), ('nonce', greeting(bytes(17), role=1)), ('role', greeting(role=256)),
        ('role is missing', greeting()), ('a field that the type does not have', greeting(role=1, more=integer(1)))], message='Greeting')])

# state-files.md
IDENTIFIER = '0123456789abcdef0123456789abcdef'
DIGEST = hashlib.sha256(b'vauban machine-id v1\0' + IDENTIFIER.encode()).hexdigest()
write('machine', 'state-files', [
    vector('this machine', f'vauban machine 1\n{DIGEST}\n', {'machine': 'the same'}, machineID=IDENTIFIER),
    vector('a copy', f'vauban machine 1\n{DIGEST}\n', {'machine': 'another'}, machineID=IDENTIFIER[::-1]),
    *refusals([('heading', f'vauban machine 2\n{DIGEST}\n'), ('length', f'vauban machine 1\n{DIGEST[:-1]}\n'),
               ('digit', f'vauban machine 1\n{DIGEST.upper()}\n'), ('end', f'vauban machine 1\n{DIGEST}'),
               ('a line after the end', f'vauban machine 1\n{DIGEST}\n\n')], machineID=IDENTIFIER)])

# service.md
def adopted(*lines, version=1, end='\n'):
    return '\n'.join([f'version {version}', *lines]) + end


OLD, NEW = made_up('old item', 16).hex(), made_up('new item', 16).hex()
MOVED = [f'1 {OLD} 812345678000000 {NEW}', f'2 {NEW} -1 {OLD}', f'3 {OLD} 0 {NEW}']
write('adopted-items', 'service', [
    vector('none', adopted(), {'items': ''}), vector('three items', adopted(*MOVED), {'items': ', '.join(MOVED)}),
    *refusals([('version', adopted(*MOVED, version=2)), ('end', adopted(*MOVED, end='')), ('line 2', adopted(MOVED[0].upper())),
               ('line 3', adopted(MOVED[0], f'1 {OLD} 1 {NEW}0')), ('line 4', adopted(*MOVED[:2], '')),
               ('line 5', adopted(*MOVED, f'200 {OLD} 1 {NEW}'))]),
    vector('a number with a sign', adopted(f'1 {OLD} +1 {NEW}'), failure='line 2'),
    vector('a number with a leading zero', adopted(f'1 {OLD} 01 {NEW}'), failure='line 2'),
    vector('two spaces', adopted(f'1  {OLD} 1 {NEW}'), failure='line 2'),
    vector('a digit with a sign', adopted(f'1 +{OLD[1:]} 1 {NEW}'), failure='line 2'),
    vector('a date that is too large', adopted(f'1 {OLD} {2**63} {NEW}'), failure='line 2')])

# owners.md
write('holder', 'owners', [
    vector('a user', 'vauban holder 1\n1000 anna\n', {'uid': '1000', 'name': 'anna'}),
    vector('a subordinate uid', 'vauban holder 1\n100001 subordinate:anna\n', {'uid': '100001', 'name': 'subordinate:anna'}),
    vector('a name with a space', 'vauban holder 1\n4294967295 anna b\n', {'uid': '4294967295', 'name': 'anna b'}),
    *refusals([('heading', 'vauban holder 2\n1000 anna\n'), ('no holder', 'vauban holder 1\n\n'),
               ('number', 'vauban holder 1\n4294967296 anna\n'), ('number', 'vauban holder 1\n+1000 anna\n'),
               ('name', 'vauban holder 1\n1000\n'), ('end', 'vauban holder 1\n1000 anna'),
               ('a line after the end', 'vauban holder 1\n1000 anna\n1001 bert\n')])])
write('uids', 'owners', [
    vector('one number', '54321', {'first': '54321', 'last': '54321', 'owner': '54321'}),
    vector('a range that is one owner', '524288-589823 # a container', {'first': '524288', 'last': '589823', 'owner': '524288'}),
    vector('each its own owner', '61184-65519 each', {'first': '61184', 'last': '65519', 'owner': 'each'}),
    vector('an owner by name', '700000-765535\tanna', {'first': '700000', 'last': '765535', 'owner': '1000'}),
    vector('an owner by number', '700000-700001 1001', {'first': '700000', 'last': '700001', 'owner': '1001'}),
    *refusals([('words', '54321 each anna'), ('range', '54321-54322-54323'), ('number', '54321-'), ('number', '+54321'),
               ('order', '54322-54321'), ('the shared owner', '54321-4294967295'), ('owner', '54321 nobody-has-this-name')])])

# service.md
write('rooms', 'service', [
    vector('all rooms', '# ROOM USER\nenclaved 901\nkeychaind 902\nauthd 903\nwitness root\nwatcher 905\nreader 906\nfetcher 907\n',
           {'enclaved': '901', 'keychaind': '902', 'authd': '903', 'witness': '0', 'watcher': '905', 'reader': '906', 'fetcher': '907'}),
    vector('without watcher and reader', 'enclaved 901\nkeychaind 902\nauthd 903\nwitness 904',
           {'enclaved': '901', 'keychaind': '902', 'authd': '903', 'witness': '904'}),
    vector('a room of a later version', 'enclaved 901\nkeychaind 902\nauthd 903\nwitness 904\ncourier vauban-courier\n',
           {'enclaved': '901', 'keychaind': '902', 'authd': '903', 'witness': '904'}),
    *refusals([('words', 'enclaved 901 902\n'), ('room', 'enclaved: 901\n'), ('user', 'enclaved 4294967296\n'),
               ('user', 'enclaved +901\n'), ('user', 'enclaved nobody-has-this-name\n')])])
write('service-file', 'service', [
    vector('a launcher', 'version 1\nlauncher /opt/with space/vauban-launcher\n', {'launcher': '/opt/with space/vauban-launcher'}),
    *refusals([('version', 'version 2\nlauncher /usr/bin/vauban-launcher\n'), ('version', 'launcher /usr/bin/vauban-launcher\n'),
               ('launcher', 'version 1\n')])])
write('launcher-record', 'service', [
    vector('starting', 'launcher 42 123456\nsockets /run/user/1000/vauban\n',
           {'pid': '42', 'start': '123456', 'sockets': '/run/user/1000/vauban', 'ready': 'no'}),
    vector('ready', 'launcher 42 123456\nsockets /home/anna b/run\nready\n',
           {'pid': '42', 'start': '123456', 'sockets': '/home/anna b/run', 'ready': 'yes'}),
    *refusals([('launcher', 'sockets /run\n'), ('launcher', 'launcher 42\nsockets /run\n'), ('pid', 'launcher 0 1\nsockets /run\n'),
               ('pid', 'launcher +42 1\nsockets /run\n'), ('pid', 'launcher 2147483648 1\nsockets /run\n'),
               ('start', 'launcher 42 x\nsockets /run\n'), ('sockets', 'launcher 42 1\nready\n'),
               ('ready', 'launcher 42 1\nsockets /run\nreading\n')])])

# integrity.md
digest = hashlib.sha256(b'a program').hexdigest()
manifest_lines = [
    'folder 0755 root root /usr/lib/vauban', f'file 0755 root root {digest} /usr/lib/vauban/vauban',
    f'file 2755 root vauban-protected {digest} /usr/lib/vauban/vauban-protect', f'file 0644 anna 1000 {digest} /opt/with space/ä',
    'link ../lib/vauban/vauban /usr/bin/vauban']


def manifest(*lines, version=1, end=None):
    return '\n'.join([f'vauban integrity {version}', *lines, f'end {len(lines) if end is None else end}', ''])


write('integrity', 'integrity', [
    vector('an installation', manifest(*manifest_lines), {'/' + line.split(' /')[1]: line.split(' /')[0] for line in manifest_lines}),
    vector('nothing', manifest(), {}),
    *refusals([
        ('version', manifest(version=2)), ('version', ''), ('end', manifest(*manifest_lines, end=4)),
        ('end', manifest(*manifest_lines)[:-8]), ('end', manifest(*manifest_lines)[:-1]), ('end', 'vauban integrity 1\n'),
        ('kind', manifest('device 0755 root root /dev/vauban')), ('kind', manifest('')), ('words', manifest('folder 0755 root /usr')),
        ('words', manifest('folder 0755 root  /usr')), ('words', manifest('link /usr/bin/vauban')),
        ('mode', manifest('folder 755 root root /usr')), ('mode', manifest('folder 0800 root root /usr')),
        ('mode', manifest('folder +755 root root /usr')), ('digest', manifest(f'file 0755 root root {digest[1:]} /usr/a')),
        ('digest', manifest(f'file 0755 root root {digest.upper()} /usr/a')), ('path', manifest('folder 0755 root root usr')),
        ('path', manifest('folder 0755 root root /usr/../etc')), ('path', manifest('folder 0755 root root /usr//lib')),
        ('path', manifest('folder 0755 root root /usr/')), ('twice', manifest(manifest_lines[0], manifest_lines[0]))])])

# access-groups.md
MAIL = 'program:/usr/bin/mail'


def grants(**more):
    return plistlib.dumps({'vauban-applications': [MAIL], **{key.replace('_', '.'): value for key, value in more.items()}}).decode()


def granted(groups, denies='no'):
    return {'applies': 'yes', 'groups': groups, 'denies': denies, 'teams': ''}


TEAM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'


def teams(named):
    return plistlib.dumps({'vauban-teams': named}).decode()


OWN = {'keychain-access-groups': ['mail', 'family', 'mail']}
write('entitlements', 'access-groups', [
    vector('groups in order, each once', grants(**OWN), granted(f'mail family {MAIL}'), application=MAIL),
    vector('all kinds of groups', grants(**{
        **OWN, 'application-identifier': 'A', 'com_apple_application-identifier': 'B', 'com_apple_security_application-groups': ['G'],
        'com_apple_developer_associated-application-identifier': ['C']}), granted('mail family C A G'), application=MAIL),
    vector('the token goes to the end', grants(**{'keychain-access-groups': ['com.apple.token', 'mail']}),
           granted(f'mail {MAIL} com.apple.token'), application=MAIL),
    vector('reserved groups are granted to nobody', grants(**{'keychain-access-groups': ['*', 'cli', 'unsigned', 'vauban.permissions', '']}),
           granted(MAIL), application=MAIL),
    vector('an array with one element that is not text', grants(**{'keychain-access-groups': ['mail', 1]}), granted(MAIL), application=MAIL),
    vector('a text in place of an array', grants(**{'keychain-access-groups': 'mail'}), granted(MAIL), application=MAIL),
    vector('every call is refused', grants(com_apple_private_keychain_deny=True), granted(MAIL, 'yes'), application=MAIL),
    vector('another program', grants(**OWN), {'applies': 'no', 'teams': ''}, application='program:/usr/bin/Mail'),
    vector('a team', teams({TEAM: 'Acme Tools'}), {'applies': 'no', 'teams': f'{TEAM} Acme Tools'}, application=MAIL),
    vector('names of another form are left out', teams({TEAM: '', TEAM[:-1]: 'short', TEAM[:-1] + '1': 'one', TEAM[:-1] + 'A': 'a\nb'}),
           {'applies': 'no', 'teams': ''}, application=MAIL),
    vector('a program and a team', grants(**{'vauban-teams': {TEAM: 'Acme'}}), {**granted(MAIL), 'teams': f'{TEAM} Acme'}, application=MAIL),
    *refusals([('no property list', 'keychain-access-groups'), ('no dictionary', plistlib.dumps([MAIL]).decode()),
               ('applications', plistlib.dumps(OWN).decode()), ('applications', plistlib.dumps({'vauban-applications': MAIL}).decode()),
               ('applications', plistlib.dumps({'vauban-applications': [MAIL, 1]}).decode()),
               ('applications', plistlib.dumps({'vauban-teams': {TEAM: 1}}).decode())], application=MAIL)])


# associated-domains.md
def entry(text, service, host, covers, given):
    return vector(text, text, {'service': service, 'host': host, 'covers': covers}, host=given)


write('associated-domains', 'associated-domains', [
    entry('webcredentials:example.com', 'webcredentials', 'example.com', 'yes', 'example.com'),
    entry('webcredentials:Example.COM', 'webcredentials', 'example.com', 'no', 'www.example.com'),
    entry('webcredentials:*.example.com', 'webcredentials', 'example.com', 'yes', 'a.b.example.com'),
    entry('webcredentials:*.example.co.uk', 'webcredentials', 'example.co.uk', 'no', 'example.co.uk'),
    entry('applinks:xn--bcher-kva.example', 'applinks', 'xn--bcher-kva.example', 'no', 'notxn--bcher-kva.example'),
    *refusals([('form', 'example.com'), ('form', ':example.com'), ('form', 'Web Credentials:example.com'),
               ('mode', 'webcredentials:example.com?mode=developer'), ('mode', 'webcredentials:*.example.com?mode=managed'),
               ('host', 'webcredentials:'), ('host', 'webcredentials:example'), ('host', 'webcredentials:*.*.example.com'),
               ('host', 'webcredentials:example.com.'), ('host', 'webcredentials:-a.example.com'), ('host', 'webcredentials:printer.local'),
               ('host', 'webcredentials:192.0.2.1'), ('host', 'webcredentials:[::1]'), ('host', 'webcredentials:example.com:8443'),
               ('host', 'webcredentials:bücher.example'), ('host', 'webcredentials:https://example.com'),
               ('host', 'webcredentials:' + 'a' * 64 + '.example'), ('host', 'webcredentials:' + 'a.' * 124 + 'example')], host='example.com')])


def associations(webcredentials='', activitycontinuation='', applinks=''):
    return {'webcredentials': webcredentials, 'activitycontinuation': activitycontinuation, 'applinks': applinks}


APP = '9JA89QQLNQ.com.example.app'
write('association-files', 'associated-domains', [
    vector('the lists of 2015', json.dumps({
        'activitycontinuation': {'apps': [APP]}, 'webcredentials': {'apps': [APP, 'TEAM.other']},
        'applinks': {'apps': [], 'details': {APP: {'paths': ['/wwdc/*', 'NOT /private/*', '*']}, 'TEAM.other': ['/a/?']}}}),
        associations(f'{APP} TEAM.other', APP, f'{APP}=/wwdc/*,NOT /private/*,* TEAM.other=/a/?')),
    vector('details as an array', json.dumps({'applinks': {'apps': [], 'details': [
        {'appID': APP, 'paths': ['*']}, {'appIDs': ['A.b', 'C.d'], 'components': [{'/': '/buy/*', 'exclude': True}]}]}}),
        associations(applinks=f'{APP}=* A.b= C.d=')),
    vector('other sections', json.dumps({'appclips': {'apps': [APP]}, 'unknown': [1.5, None]}), associations()),
    vector('nothing', '{}', associations()),
    vector('escapes and spaces', ' {"webcredentials" :\n{ "apps":["\\u0041.b"]}}\n', associations('A.b')),
    *refusals([('size', '{}' + ' ' * 131072), ('signed', b'0\x80\x06\t*\x86H\x86\xf7\r\x01\x07\x02'), ('json', ''), ('json', '{"webcredentials":'),
               ('json', '{"webcredentials":{"apps":[]},"webcredentials":{"apps":[]}}'), ('json', '{} {}'), ('json', '{"a":1,}'),
               ('json', '<html></html>'), ('json', b'{"a":"\xff"}'), ('json', '{"a":' + '[' * 100 + ']' * 100 + '}'),
               ('object', '[]'), ('object', '"apps"'),
               ('section', '{"webcredentials":[]}'), ('section', '{"applinks":"*"}'),
               ('apps', '{"webcredentials":{"apps":"A.b"}}'), ('apps', '{"webcredentials":{"apps":[1]}}'),
               ('apps', '{"activitycontinuation":{"apps":{}}}'),
               ('name', '{"webcredentials":{"apps":["A.b","app"]}}'), ('name', '{"webcredentials":{"apps":["*.example"]}}'),
               ('name', '{"webcredentials":{"apps":["A..b"]}}'), ('name', '{"webcredentials":{"apps":["program:/usr/bin/mail.app"]}}'),
               ('count', json.dumps({'webcredentials': {'apps': [f'A.{number}' for number in range(201)]}})),
               ('details', '{"applinks":{"details":"*"}}'), ('details', '{"applinks":{"details":[[]]}}'),
               ('details', '{"applinks":{"details":[{"paths":["*"]}]}}'),
               ('details', '{"applinks":{"details":[{"appID":"A.b","components":[1]}]}}'),
               ('paths', '{"applinks":{"details":[{"appID":"A.b","paths":"*"}]}}'), ('paths', '{"applinks":{"details":{"A.b":[1]}}}')])])


def named(name):
    kind, _, rest = name.partition(':')
    return vector(name[:60], name, {'kind': kind, 'name': rest})


write('application-names', 'caller-identity', [
    *map(named, [MAIL, 'program:/opt/with space/ä', 'program:/' + 'a' * 1023, 'flatpak:org.example.App_2-x', 'snap:code', f'build:{DIGEST}']),
    *refusals([('an unknown kind', '/usr/bin/mail'), ('an unknown kind', 'Program:/usr/bin/mail'),
               ('a path that is not absolute', 'program:usr/bin/mail'), ('a path that is too long', 'program:/' + 'a' * 1024),
               ('a path with an empty name', 'program:/usr//bin/mail'), ('a path with an empty name', 'program:/'),
               ('a path that is not plain', 'program:/usr/bin/../mail'), ('an invisible character', 'program:/usr/bin/ma\u200bil'),
               ('an empty name', 'flatpak:'), ('a name that begins with a dot', 'snap:.code'),
               ('a character that no package has', 'flatpak:org/example'), ('a name that is too long', 'snap:' + 'a' * 256),
               ('a digest of another length', f'build:{DIGEST[:-2]}'),
               ('a digit that is not lowercase hexadecimal', f'build:{DIGEST.upper()}')])])


# secret-service.md
def ssat(attributes, collection='login', instance=b'', more=b''):
    pairs = sequence(*[sequence(text(name), text(value)) for name, value in attributes])
    return sequence(text(collection), octets(instance), pairs, more)


PAIRS = [('', ''), ('domain', 'example.com'), ('user', 'ännchen')]
write('secret-service', 'secret-service', [
    vector('attributes', ssat(PAIRS), {'collection': 'login', 'instance': '', 'attributes': '=\ndomain=example.com\nuser=ännchen'}),
    vector('an instance', ssat([], instance=bytes(range(8))), {'collection': 'login', 'instance': bytes(range(8)).hex(), 'attributes': ''}),
    vector('no collection', ssat(PAIRS[1:2], ''), {'collection': '', 'instance': '', 'attributes': 'domain=example.com'}),
    *refusals(spoiled(ssat(PAIRS)) + [
        ('collection', ssat(PAIRS, 'c' * 65)), ('instance', ssat(PAIRS, instance=bytes(7))), ('names out of order', ssat(PAIRS[::-1])),
        ('a name twice', ssat([('a', '1'), ('a', '2')])), ('value is missing', sequence(text(''), octets(b''), sequence(sequence(text('a'))))),
        ('a field that the type does not have', ssat(PAIRS, more=integer(1))),
        ('DER: a text that is not UTF-8', ssat(PAIRS).replace('ä'.encode(), b'\xff\xff'))])])

# browser.md
def native(request=None, number=1, drop=(), **fields):
    message = {'id': number, **({} if request is None else {'request': request}), **fields}
    return json.dumps({key: value for key, value in message.items() if key not in drop}, ensure_ascii=False)


SITE = 'https://login.example.com'
ITEM = made_up('item of the browser', 16).hex()
TYPED = {'origin': SITE, 'account': 'anna', 'password': 'tulips "and" rain'}


def asked(name, request, fields, **more):
    found = {key: json.dumps(value) if isinstance(value, bool) else str(value) for key, value in fields.items() if key != 'version'}
    found.update({key: found[key].encode().hex() for key in ['password'] if key in found})
    return vector(name, native(request, **fields, **more), {'id': '1', 'request': request, **found})


write('browser-messages', 'browser', [
    asked('find', 'find', {'origin': SITE}), asked('find, at a port', 'find', {'origin': 'https://[::1]:8443', 'version': 2}),
    asked('password', 'password', {'origin': SITE, 'item': ITEM, 'version': 1}), asked('code', 'code', {'origin': SITE, 'item': ITEM}),
    asked('generate', 'generate', {'origin': SITE, 'rules': 'minlength: 24; required: lower', 'minlength': 8, 'maxlength': 64}),
    asked('generate without rules', 'generate', {'origin': SITE, 'rules': ''}),
    asked('save', 'save', TYPED), asked('save without an account', 'save', {**TYPED, 'account': '', 'password': 'ä' * 8192}),
    asked('replace', 'replace', {'origin': SITE, 'item': ITEM, 'password': 'p', 'version': 2}),
    asked('replace for good', 'replace', {'origin': SITE, 'item': ITEM, 'password': 'p', 'mayLose': True, 'version': 3}),
    asked('compare', 'compare', {**TYPED, 'version': 2}), asked('unlock', 'unlock', {}),
    vector('escapes and spaces', ' {"request": "\\u0075nlock",\n"id" :9223372036854775807 }\n', {'id': '9223372036854775807', 'request': 'unlock'}),
    *refusals([
        ('json', ''), ('json', '{"id":1,'), ('json', '{"id":1,"id":2,"request":"unlock"}'), ('json', '{"id":1,"request":"unlock",}'),
        ('json', '{"id":1.5,"request":"unlock"}'), ('json', '{"id":1e0,"request":"unlock"}'), ('json', '{"id":99999999999999999999,"request":"unlock"}'),
        ('json', b'{"id":1,"request":"unlock","a":"\xff"}'), ('json', '{"id":1,"a":' + '[' * 8 + ']' * 8 + '}'),
        ('json', '{"id":1,"request":"unlock"} {"id":'),
        ('object', native('unlock') + native('unlock')), ('object', '[]'), ('object', '7'),
        ('id', native('unlock', 0)), ('id', native('unlock', '1')), ('id', native('unlock', drop=['id'])),
        ('version', native('unlock', version=0)), ('version', native('unlock', version=4)), ('version', native('unlock', version='2')),
        ('request', native()), ('request', native('dance')), ('request', native('compare', **TYPED)), ('request', native('compare', **TYPED, version=1)),
        ('origin', native('find')), ('origin', native('find', origin=[SITE])), ('origin', native('find', origin=SITE.replace('s:', ':'))),
        ('origin', native('find', origin=SITE + '/')), ('origin', native('find', origin=SITE + ':443')), ('origin', native('find', origin=SITE.upper())),
        ('origin', native('find', origin='null')), ('origin', native('find', origin='https://a..example')),
        ('item', native('password', origin=SITE)), ('item', native('code', origin=SITE, item=ITEM[1:])), ('item', native('code', origin=SITE, item=7)),
        ('rules', native('generate', origin=SITE)), ('rules', native('generate', origin=SITE, rules='r' * 4097)),
        ('length', native('generate', origin=SITE, rules='', minlength=0)), ('length', native('generate', origin=SITE, rules='', maxlength='8')),
        ('account', native('save', origin=SITE, password='p')), ('account', native('save', **{**TYPED, 'account': 'an\nna'})),
        ('account', native('compare', **{**TYPED, 'account': 'a' * 1025}, version=2)),
        ('password', native('save', origin=SITE, account='anna')), ('password', native('save', **{**TYPED, 'password': ''})),
        ('password', native('compare', **{**TYPED, 'password': 'p' * 16385}, version=2)),
        ('mayLose', native('replace', origin=SITE, item=ITEM, password='p', mayLose='yes', version=3)),
        ('surplus', native('unlock', origin=SITE)), ('surplus', native('compare', **TYPED, item=ITEM, version=2)), ('surplus', native('find', origin=SITE, more=None)),
        ('surplus', native('replace', origin=SITE, item=ITEM, password='p', mayLose=True, version=2)),
    ])])

# import.md
SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
ISSUED = {'issuer': 'Example', 'account': 'anna@example.com'}
TOTP = f'otpauth://totp/Example:anna@example.com?secret={SECRET}'
write('one-time-codes', 'import', [
    vector('RFC 6238', TOTP, {**ISSUED, 'code': '287082'}, time='59'),
    vector('eight digits', f'{TOTP}&digits=8', {**ISSUED, 'code': '94287082'}, time='59'),
    vector('another period', f'{TOTP}&period=60&algorithm=sha-1', {**ISSUED, 'code': '755224'}, time='59'),
    vector('RFC 4226', f'otpauth://hotp/anna?secret={SECRET}&counter=9', {'issuer': '', 'account': 'anna', 'code': '520489'}, time='59'),
    vector('escapes', f'OTPAUTH://TOTP/Ex%3A%20anna?issuer=My+Bank&Secret={SECRET.lower()[:16]}-{SECRET[16:]}',
           {'issuer': 'My Bank', 'account': 'anna', 'code': '287082'}, time='59'),
    vector('spaces and letters without escapes', f'otpauth://totp/Größte Bank: Änne B?secret={SECRET[:16]} {SECRET[16:]}&issuer=Größte Bank',
           {'issuer': 'Größte Bank', 'account': 'Änne B', 'code': '287082'}, time='59'),
    vector('an empty issuer', f'{TOTP}&issuer=', {**ISSUED, 'code': '287082'}, time='59'),
    vector('an unknown parameter that is not UTF-8', f'{TOTP}&image='.encode() + b'\xff', {**ISSUED, 'code': '287082'}, time='59'),
    *refusals([('address', TOTP.replace('otpauth', 'https')), ('address', f' {TOTP}'), ('type', TOTP.replace('totp', 'motp')),
               ('length', f"{TOTP}&image={'a' * 4096}"), ('label', TOTP.replace('anna', 'anna:')), ('label', TOTP.replace('anna', '%zz')),
               ('label', TOTP.encode().replace(b'anna', b'\xff')), ('issuer', f'{TOTP}&issuer='.encode() + b'\xc3'),
               ('a control character', TOTP.replace('anna', 'an\nna')), ('a control character', f'{TOTP}&image=\x7f'),
               ('no secret', TOTP.replace('secret', 'key')), ('secret', TOTP[:-1] + '1'), ('secret', TOTP[:-1]),
               ('a parameter twice', f'{TOTP}&SECRET={SECRET}'), ('algorithm', f'{TOTP}&algorithm=MD5'), ('digits', f'{TOTP}&digits=5'),
               ('digits', f'{TOTP}&digits=%2B6'), ('period', f'{TOTP}&period=0'), ('issuer', f'{TOTP}&issuer=%0A'),
               ('no counter', f'otpauth://hotp/anna?secret={SECRET}'), ('counter', f'otpauth://hotp/anna?secret={SECRET}&counter=-1')], time='59')])
FORUM = {'records': '1', 'title': 'Forum', 'url': 'https://forum.example/', 'username': 'anna', 'password': 'geheim'}
write('csv', 'import', [
    vector('Chrome', 'name,url,username,password,note\nForum,https://forum.example/,anna,geheim,by post\n', {**FORUM, 'notes': 'by post'}),
    vector('quotes, a mark at the beginning, and line ends of Windows',
           '\ufeff"Title","Username","Password"\r\n"a ""b"", c","an\nna","ä"\r\n', {
               'records': '1', 'title': 'a "b", c', 'username': 'an\nna', 'password': 'ä'}),
    vector('columns in another order', 'LOGIN_PASSWORD,login_uri,other,login_username\ngeheim,forum.example,x,anna',
           {'records': '1', 'url': 'forum.example', 'username': 'anna', 'password': 'geheim'}),
    vector('two records', 'url,username,password\na.example,b,c\nd.example,e,f\n',
           {'records': '2', 'url': 'a.example', 'username': 'b', 'password': 'c'}),
    *refusals([('an empty file', ''), ('a column twice', 'url,username,password,Password\na,b,c,d\n'),
               ('no column username', 'url,password\na,b\n'), ('no column password', 'url,username\na,b\n'),
               ('no column url or title', 'username,password\na,b\n'),
               ('a record with another number of fields', 'url,username,password\na,b\n'),
               ('a quote is never closed', 'url,username,password\na,b,"c\n'), ('not UTF-8', b'url,username,password\n\xff,b,c\n')])])

# kwallet.md
def qt_text(content):
    units = content.encode('utf-16-be', 'surrogatepass')
    return len(units).to_bytes(4, 'big') + units


def qt_map(*pairs, count=None):
    texts = b''.join(qt_text(part) if part is not None else b'\xff' * 4 for pair in pairs for part in pair)
    return (len(pairs) if count is None else count).to_bytes(4, 'big') + texts


write('wallet-maps', 'kwallet', [
    vector('no bytes', b'', {'json': '{}'}), vector('no pair', qt_map(), {'json': '{}'}),
    vector('pairs in their order', qt_map(('b', '1'), ('a', '2')), {'json': '{"b":"1","a":"2"}'}),
    vector('a name twice', qt_map(('a', '1'), ('a', '2')), {'json': '{"a":"1","a":"2"}'}),
    vector('a null and an empty text', qt_map(('a', None), ('b', '')), {'json': '{"a":null,"b":""}'}),
    vector('signs that JSON escapes', qt_map(('"\\', '\n\x00\x7f/')), {'json': '{"\\"\\\\":"\\u000a\\u0000\\u007f/"}'}),
    vector('signs beyond ASCII', qt_map(('ä€', '🗝')), {'json': '{"ä€":"🗝"}'}),
    vector('halves of surrogate pairs', qt_map(('\ud800', 'a\udc00\ud83d')), {'json': '{"\\ud800":"a\\udc00\\ud83d"}'}),
    *refusals([('a number of pairs is cut off', qt_map()[:3]), ('a text is missing', qt_map(('a', '1'), count=2)),
               ('a text is cut off', qt_map(('a', '1'))[:-1]), ('half a unit', qt_map()[:3] + b'\x01\0\0\0\x01a'),
               ('bytes after the last pair', qt_map(('a', '1')) + b'\0')])])

# rights.md
write('rights', 'rights', [
    vector('without a secret', b'\0', {'tag': '7', 'secret': ''}, comment='tag 7'),
    vector('with a secret', b'\x01\xde\xad', {'tag': '-1', 'secret': 'dead'}, comment='tag -1'),
    *refusals([('no byte', b''), ('first byte', b'\x02\xde'), ('a byte after 00', b'\0\xde'), ('no secret after 01', b'\x01')], comment='tag 7'),
    *refusals([('comment', b'\0')], comment='tagged'), *refusals([('comment', b'\0')], comment='TAG 7'), *refusals([('comment', b'\0')], comment='tag +7')])

# key-hierarchy.md
DEVICE_SECRET = made_up('device secret')
CONTENT = sequence(integer(1), octets(made_up('content', 16)))


def envelope(content=CONTENT, name='keybag', user=1000, version=1, secret=DEVICE_SECRET, device=DEVICE_SECRET, flip=0):
    covered = name.encode() + b'\0' + user.to_bytes(4, 'big') + content
    code = bytearray(hmac.new(derive(secret, 'vauban state authentication v1'), covered, hashlib.sha256).digest())
    code[0] ^= flip
    return sequence(integer(version), octets(derive(device, 'vauban device identifier v1')[:16]), octets(content), octets(bytes(code)))


STATE = {'deviceSecret': DEVICE_SECRET.hex(), 'file': 'keybag', 'user': '1000'}
OTHER = made_up('another device secret')
write('state-envelopes', 'key-hierarchy', [
    vector('a keybag', envelope(), {'content': CONTENT.hex()}, **STATE),
    vector('attempts', envelope(name='attempts', user=0), {'content': CONTENT.hex()}, **{**STATE, 'file': 'attempts', 'user': '0'}),
    *refusals(spoiled(envelope()) + [('version', envelope(version=2)), ('another device', envelope(secret=OTHER, device=OTHER))], **STATE),
    *[vector(f'authentication code: {what}', data, failure='authentication code', **STATE) for what, data in [
        ('one bit', envelope(flip=1)), ('the file of another name', envelope(name='attempts')), ('of another user', envelope(user=1001)),
        ('under another device secret', envelope(secret=OTHER))]]])


# keychain-database.md
def binding(protection=1, generation=made_up('generation', 8), version=made_up('version', 16)):
    return sequence(integer(2), integer(1000), integer(protection), octets(generation), octets(made_up('item', 16)), octets(version),
                    integer(1), text('cli'))


def padded(plain):
    return plain + b'\x80' + bytes(-(len(plain) + 1) % 32)


def half(plain, which, key=made_up('key'), bound=binding()):
    nonce = made_up(f'nonce {plain.hex()} {which} {bound.hex()}', 12)
    return nonce + AESGCM(key).encrypt(nonce, plain, bound + which)


SECRET_HALF = {'half': 'secret', 'key': made_up('key').hex(), 'binding': binding().hex()}
METADATA_HALF = {**SECRET_HALF, 'half': 'metadata'}
VALUE = padded(b'\x01geheim')
write('halves', 'keychain-database', [
    vector('a value', half(VALUE, b'\x02'), {'hasValue': 'yes', 'value': b'geheim'.hex()}, **SECRET_HALF),
    vector('an empty value', half(padded(b'\x01'), b'\x02'), {'hasValue': 'yes', 'value': ''}, **SECRET_HALF),
    vector('no value', half(padded(b'\0'), b'\x02'), {'hasValue': 'no', 'value': ''}, **SECRET_HALF),
    vector('a value that fills its blocks', half(padded(b'\x01' + bytes(31)), b'\x02'), {'hasValue': 'yes', 'value': bytes(31).hex()}, **SECRET_HALF),
    vector('metadata', half(padded(CONTENT), b'\x01'), {'plaintext': CONTENT.hex()}, **METADATA_HALF),
    *[vector(f'seal: {what}', data, failure='seal', **SECRET_HALF) for what, data in [
        ('the other half', half(VALUE, b'\x01')), ('under another key', half(VALUE, b'\x02', made_up('another key'))),
        ('of another write', half(VALUE, b'\x02', bound=binding(version=made_up('another version', 16)))),
        ('of another class', half(VALUE, b'\x02', bound=binding(protection=2))), ('one bit', half(VALUE, b'\x02')[:-1] + bytes([half(VALUE, b'\x02')[-1] ^ 1])),
        ('cut off', half(VALUE, b'\x02')[:-1]), ('shorter than a nonce', made_up('short', 11))]],
    *refusals([('padding', half(b'\x01' + bytes(31), b'\x02')), ('padding', half(VALUE[:-1], b'\x02')),
               ('padding in a longer form than needed', half(VALUE + bytes(32), b'\x02')), ('first byte', half(padded(b'\x02'), b'\x02')),
               ('a value after 00', half(padded(b'\0geheim'), b'\x02'))], **SECRET_HALF),
    *refusals([('padding', half(CONTENT, b'\x01'))], **METADATA_HALF)])

# reader.md
PAIRING_KEY = made_up('pairing key')


def verdict(outcome=1, user=1000, nonce=made_up('nonce'), fingers=made_up('fingers'), key=PAIRING_KEY, claimed=None, label=b'vauban reader verdict v1'):
    covered = label + b'\0' + bytes([outcome]) + user.to_bytes(4, 'big') + nonce + fingers
    outcome, user, nonce, fingers = claimed or (outcome, user, nonce, fingers)
    return sequence(integer(outcome), integer(user), octets(nonce), octets(fingers), octets(hmac.new(key, covered, hashlib.sha256).digest()))


TRUE = (1, 1000, made_up('nonce'), made_up('fingers'))
write('verdicts', 'reader', [
    vector('matched', verdict(), {'outcome': '1', 'user': '1000'}, pairingKey=PAIRING_KEY.hex()),
    vector('another enrollment', verdict(5, 4294967295, bytes(32), bytes(32)), {'outcome': '5', 'user': '4294967295'}, pairingKey=PAIRING_KEY.hex()),
    *refusals([('outcome', verdict(6)), ('nonce', verdict(nonce=bytes(31))), ('fingers', verdict(fingers=bytes(33)))], pairingKey=PAIRING_KEY.hex()),
    *[vector(f'authentication code: {what}', data, failure='authentication code', pairingKey=PAIRING_KEY.hex()) for what, data in [
        ('under another key', verdict(key=OTHER)), ('under another label', verdict(label=b'vauban reader verdict v2')),
        ('of another outcome', verdict(2, claimed=TRUE)), ('of another user', verdict(user=1001, claimed=TRUE)),
        ('of another challenge', verdict(nonce=bytes(32), claimed=TRUE)), ('of other fingers', verdict(fingers=bytes(32), claimed=TRUE))]]])

# sync.md
circle, sync_device, other_device = made_up('circle', 16), made_up('sync device', 16), made_up('other sync device', 16)
sync_key, chain = Ed25519PrivateKey.from_private_bytes(made_up('sync signing key')), made_up('sync chain')
file_keys = [made_up('sync file key 1'), made_up('sync file key 2')]


def sync_record(kind, name, time, rest=b''):
    head = bytes([kind]) + made_up(name, 16) + time.to_bytes(8, 'big') + sync_device + time.to_bytes(8, 'big')
    if kind != 1:
        return head
    item = sequence(octets(b'binding'), octets(made_up('wrapped', 60)), octets(made_up('attributes', 92)), octets(made_up('head', 60)))
    return head + len(item).to_bytes(4, 'big') + item + len(rest).to_bytes(4, 'big') + rest


def sync_words(kind, name, time, rest=b''):
    words = f"{'put' if kind == 1 else 'deleted'} {made_up(name, 16).hex()} {time} {sync_device.hex()} {time}"
    return f'{words} {rest.hex()}' if kind == 1 else words


def sync_file(records, number=7, epoch=2, magic=b'VAUBAN SYNC 1\n', size=4096, padding=b'\0', key=None, before=chain, place=None, companion=b'', statement=b''):
    seen = other_device + (3).to_bytes(8, 'big') + made_up('other chain') + statement
    payload = (len(seen) // 56).to_bytes(4, 'big') + seen + records
    plain = len(payload).to_bytes(4, 'big') + payload
    plain += padding * (size - len(plain))
    nonce = made_up('sync nonce', 12)
    bound = b'sync file' + sync_device + number.to_bytes(8, 'big')
    sealed = nonce + AESGCM(key or file_keys[min(epoch, 2) - 1]).encrypt(nonce, plain, bound)
    covered = b'VAUBAN SYNC 1\n' + circle + sync_device + (place or number).to_bytes(8, 'big') + before + epoch.to_bytes(4, 'big')
    digest = hashlib.sha256(covered + hashlib.sha256(sealed).digest() + companion).digest()
    signature = sync_key.sign(b'vauban sync file v1\0' + circle + sync_device + digest)
    return magic + epoch.to_bytes(4, 'big') + signature + sealed


def sync_fields(data, records, epoch=2):
    after = hashlib.sha256(chain + hashlib.sha256(data).digest()).hexdigest()
    return {'epoch': str(epoch), 'chain': after, 'seen': f'{other_device.hex()} 3', 'records': records}


SYNC_GIVEN = {
    'circle': circle.hex(), 'device': sync_device.hex(), 'number': '6', 'chain': chain.hex(),
    'verification': sync_key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex(),
    'keys': ' '.join(key.hex() for key in file_keys)}
put, deleted = (1, 'sync item', 700_000_000_000_000, b'the rest'), (2, 'another sync item', 5)
both = sync_file(sync_record(*put) + sync_record(*deleted))
earlier = sync_file(sync_record(*deleted), epoch=1)
said = sync_file(sync_record(*deleted), statement=circle + (4).to_bytes(8, 'big') + made_up('statement'))
companion = made_up('companion', 16)
for_companion = sync_file(sync_record(*deleted), companion=companion)
write('sync-files', 'sync', [
    vector('a change and a deletion', both, sync_fields(both, f'{sync_words(*put)}, {sync_words(*deleted)}'), **SYNC_GIVEN),
    vector('for a companion', for_companion, sync_fields(for_companion, sync_words(*deleted)), companion=companion.hex(), **SYNC_GIVEN),
    *refusals([('signature', both), ('signature', sync_file(sync_record(*deleted), companion=made_up('another companion', 16)))],
              companion=companion.hex(), **SYNC_GIVEN),
    vector('the last statement', said, {**sync_fields(said, sync_words(*deleted)), 'statement': f"4 {made_up('statement').hex()}"}, **SYNC_GIVEN),
    vector('an earlier key', earlier, sync_fields(earlier, sync_words(*deleted), epoch=1), **SYNC_GIVEN),
    *refusals([
        ('magic', b'VAUBAN BACKUP 1\n' + both[14:]), ('version', b'VAUBAN SYNC 2\n' + both[14:]), ('length', both[:80]),
        ('signature', both[:-1]), ('signature', both[:20] + bytes([both[20] ^ 1]) + both[21:]),
        ('signature', for_companion), ('signature', sync_file(sync_record(*put), number=6)), ('signature', sync_file(sync_record(*put), before=made_up('fork'))),
        ('epoch', sync_file(sync_record(*put), epoch=3)), ('seal', sync_file(sync_record(*put), key=made_up('another key'))),
        ('seal', sync_file(sync_record(*put), number=8, place=7)), ('size', sync_file(sync_record(*put), size=4095)),
        ('size', sync_file(sync_record(*deleted), size=2048)), ('padding', sync_file(sync_record(*put), padding=b'\1')),
        ('payload', sync_file(sync_record(3, 'a', 1))), ('payload', sync_file(sync_record(*put)[:-1])),
        ('payload', sync_file(sync_record(*deleted)[:-1]))], **SYNC_GIVEN)])


def join_token(version=1, name='ci', seed=made_up('token seed'), member_name='desk', more=b'', key=None):
    public = key or Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    member = sequence(octets(sync_device), text(member_name), octets(made_up('member verification')))
    return sequence(integer(version), octets(circle), member, octets(public), text(name), integer(700_000_000_000_000), more)


def token_text(content, seed=made_up('token seed'), heading='VAUBAN JOIN TOKEN 1', end='\n'):
    return f'{heading} {base64.b64encode(content).decode()} {base64.b64encode(seed).decode()}{end}'


token_key = Ed25519PrivateKey.from_private_bytes(made_up('token seed'))
TOKEN_PUBLIC = token_key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
TOKEN_FIELDS = {
    'circle': circle.hex(), 'member': sync_device.hex(), 'memberName': 'desk', 'memberVerification': made_up('member verification').hex(),
    'token': TOKEN_PUBLIC.hex(), 'name': 'ci', 'expires': '700000000000000', 'seed': made_up('token seed').hex()}
write('sync-tokens', 'sync', [
    vector('a token', token_text(join_token()), TOKEN_FIELDS),
    vector('names that are not ASCII', token_text(join_token(name='späher', member_name='bücher')), {**TOKEN_FIELDS, 'name': 'späher', 'memberName': 'bücher'}),
    *refusals([
        ('heading', token_text(join_token(), heading='VAUBAN RECIPIENT 1')), ('heading', ''), ('version', token_text(join_token(), heading='VAUBAN JOIN TOKEN 2')),
        ('version', token_text(join_token(2))), ('parts', token_text(join_token())[:-20]), ('parts', token_text(join_token(), end=' more\n')),
        ('parts', token_text(join_token(), made_up('short', 31))), ('base64', token_text(join_token()).replace('MI', '*I', 1)),
        ('name', token_text(join_token(name='x' * 65))), ('token', token_text(join_token(key=bytes(31)))),
        ('a field that the type does not have', token_text(join_token(more=integer(1)))), ('DER: the last byte is missing', token_text(join_token()[:-1])),
        ('seed', token_text(join_token(), made_up('another seed')))])])


def join_request(version=1, key=token_key, label=b'vauban sync token v1', claimed='ci', name='ci', in_circle=circle, member=sync_device, covered=None):
    def newcomer(name):
        return sequence(octets(made_up('newcomer', 16)), text(name), octets(made_up('encapsulation', 1216)), octets(made_up('newcomer verification')))
    proof = key.sign(label + b'\0' + in_circle + (covered or member) + newcomer(name))
    return sequence(integer(version), octets(member), octets(TOKEN_PUBLIC), newcomer(claimed), octets(proof))


write('sync-join-requests', 'sync', [
    vector('a request', join_request(), {'member': sync_device.hex(), 'token': TOKEN_PUBLIC.hex(), 'name': 'ci'}, circle=circle.hex()),
    *refusals([
        ('version', join_request(2)), ('member', join_request(member=made_up('long', 17))), ('DER: the last byte is missing', join_request()[:-1]),
        ('proof', join_request(key=sync_key)), ('proof', join_request(label=b'vauban sync reveal v1')), ('proof', join_request(claimed='others')),
        ('proof', join_request(in_circle=made_up('another circle', 16))), ('proof', join_request(covered=other_device)),
        ('proof', join_request()[:-1] + bytes([join_request()[-1] ^ 1]))], circle=circle.hex())])

RECOVERY_KEY = made_up('sync recovery key', 16)


def recovery_derive(what, key=RECOVERY_KEY, in_circle=circle):
    return derive(key, f'vauban sync recovery {what} v1', in_circle)


def recovery_statement(version=1, key=RECOVERY_KEY, in_circle=circle, claimed=None, label=b'vauban sync recovery v1', covered=None, number=3, proof=True, part=True, more=b''):
    def share(device):
        return sequence(octets(device), octets(made_up('encapsulated', 1120)), octets(made_up('sealed', 48)))

    def statement(number, recovery):
        return sequence(integer(version), octets(in_circle), integer(number), octets(made_up('previous')), integer(1), octets(sync_device),
                        sequence(share(sync_device)), octets(made_up('members', 90)), recovery, more)
    device = claimed or recovery_derive('identifier', key, in_circle)[:16]
    unproven = statement(covered or number, tlv(0xA2, sequence(share(device))))
    signed = Ed25519PrivateKey.from_private_bytes(recovery_derive('signing', key, in_circle)).sign(label + b'\0' + unproven)
    recovery = tlv(0xA2, sequence(share(device), tlv(0xA0, octets(signed)) if proof else b'')) if part else b''
    return sequence(octets(statement(number, recovery)), octets(made_up('signature', 64)))


RECOVERY_FIELDS = {
    'number': '3', 'epoch': '1', 'device': recovery_derive('identifier')[:16].hex(),
    'verification': Ed25519PrivateKey.from_private_bytes(recovery_derive('signing')).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()}
write('sync-recovery-statements', 'sync', [
    vector('the statement that makes the key', recovery_statement(), RECOVERY_FIELDS, key=RECOVERY_KEY.hex()),
    *refusals([
        ('version', recovery_statement(2)), ('no recovery key', recovery_statement(part=False)), ('proof', recovery_statement(proof=False)),
        ('device', recovery_statement(key=made_up('another recovery key', 16))), ('proof', recovery_statement(label=b'vauban sync statement v1')),
        ('device', recovery_statement(claimed=other_device)), ('proof', recovery_statement(covered=4)),
        ('proof', recovery_statement(key=made_up('another recovery key', 16), claimed=recovery_derive('identifier')[:16])),
        ('a field that the type does not have', recovery_statement(more=integer(1))),
        ('DER: the last byte is missing', recovery_statement()[:-1])], key=RECOVERY_KEY.hex())])

# access-log.md
log_key, log_chain, log_item = made_up('log key'), made_up('log chain'), made_up('log item', 16)


def log_code(key, label):
    return hmac.new(key, label, hashlib.sha256).digest()


def log_parents(*paths):
    return tlv(0xA1, sequence(*[sequence(text(path)) for path in paths]))


def log_record(action=1, outcome=2, unrecorded=0, program=True, count=3, version=1, more=b'', mark=b'', parents=b''):
    commands = sequence(sequence(text('/usr/bin/vauban')))
    named = tlv(0xA0, sequence(text(''), text('/usr/bin/bash'), tlv(1, b'\xff'), commands))
    entry = sequence(octets(log_item), integer(1), integer(count), text('cli'), text('github/anna'), mark)
    return sequence(integer(version), integer(700_000_000_000_000), integer(700_000_000_500_000), integer(action), integer(outcome),
                    integer(unrecorded), named if program else b'', parents, sequence(entry), more)


def log_sealed(record, number=9, series=7, size=256, padding=b'\0', key=log_key):
    for _ in range(number - series):
        key = log_code(key, b'vauban access log next v1')
    plain = len(record).to_bytes(4, 'big') + record
    plain += padding * (size - len(plain))
    nonce = made_up('log nonce', 12)
    place = number.to_bytes(8, 'big') + series.to_bytes(8, 'big')
    return nonce + AESGCM(log_code(key, b'vauban access log record v1')).encrypt(nonce, plain, b'access log' + place)


def log_fields(data, number=9, action=1, outcome=2, unrecorded=0, program=True, count=3, mark=''):
    place = number.to_bytes(8, 'big') + (7).to_bytes(8, 'big')
    named = {'application': '', 'path': '/usr/bin/bash', 'throughCommandLine': 'yes', 'commands': '/usr/bin/vauban'}
    return {
        'began': '700000000000000', 'ended': '700000000500000', 'action': str(action), 'outcome': str(outcome), 'unrecorded': str(unrecorded),
        **(named if program else {}), 'items': f'{log_item.hex()} 1 {count} cli github/anna{mark}',
        'chain': hashlib.sha256(log_chain + place + hashlib.sha256(data).digest()).hexdigest()}


def log_given(number=9):
    return {'key': log_key.hex(), 'series': '7', 'number': str(number), 'chain': log_chain.hex()}


named, first = log_sealed(log_record()), log_sealed(log_record(4, 1, 12, program=False, count=1), number=7)
canary = log_sealed(log_record(mark=tlv(0xA0, b'')))
signed = log_sealed(log_record(7, 1, count=12))
started = log_sealed(log_record(parents=log_parents('/usr/bin/screen', '', '/usr/lib/systemd/systemd')), size=512)
write('access-log', 'access-log', [
    vector('a read by a program', named, log_fields(named), **log_given()),
    vector('the first record of a series', first, log_fields(first, 7, 4, 1, 12, program=False, count=1), **log_given(7)),
    vector('a read of a canary', canary, log_fields(canary, mark=' canary'), **log_given()),
    vector('twelve signatures', signed, log_fields(signed, action=7, outcome=1, count=12), **log_given()),
    vector('what started the program', started, {**log_fields(started), 'parents': '/usr/bin/screen, , /usr/lib/systemd/systemd'}, **log_given()),
    *refusals([
        ('canary', log_sealed(log_record(mark=tlv(0xA0, integer(1))))),
        ('seal', named[:-1]), ('seal', bytes([named[0] ^ 1]) + named[1:]), ('seal', log_sealed(log_record(), number=8)),
        ('seal', log_sealed(log_record(), series=8)), ('seal', log_sealed(log_record(), key=made_up('another log key'))),
        ('seal', b''), ('size', log_sealed(log_record(), size=255)), ('size', log_sealed(log_record(), size=257)),
        ('padding', log_sealed(log_record(), padding=b'\1')), ('version', log_sealed(log_record(version=2))),
        ('action', log_sealed(log_record(action=9))), ('outcome', log_sealed(log_record(outcome=0))),
        ('count', log_sealed(log_record(count=0))),
        ('parents', log_sealed(log_record(parents=log_parents()))), ('parents', log_sealed(log_record(parents=log_parents(*['/a'] * 9)))),
        ('path', log_sealed(log_record(parents=log_parents('a' * 257)), size=512)),
        ('a field that the type does not have', log_sealed(log_record(more=integer(1))))], **log_given())])


def uses_sealed(items, series=7, size=256, padding=b'\0', key=log_key, label=b'vauban access log uses v1'):
    record = b''.join(items)
    plain = len(record).to_bytes(4, 'big') + record
    plain += padding * (size - len(plain))
    nonce = made_up('uses nonce', 12)
    return nonce + AESGCM(log_code(key, label)).encrypt(nonce, plain, b'access log uses' + series.to_bytes(8, 'big'))


def item_uses(item, *numbers, series=7):
    return item + b''.join((number and number - series + 1).to_bytes(2, 'big') for number in numbers)


def uses_given(key=log_key, series=7):
    return {'key': key.hex(), 'series': str(series)}


earlier_item, later_item = sorted([log_item, made_up('another item', 16)])
both = [item_uses(earlier_item, 9, 7, 0), item_uses(later_item, 0, 0, 8197)]
write('access-log-uses', 'access-log', [
    vector('two items', uses_sealed(both), {'items': f'{earlier_item.hex()} 9 7 -, {later_item.hex()} - - 8197'}, **uses_given()),
    vector('no item', uses_sealed([]), {'items': ''}, **uses_given()),
    *refusals([
        ('seal', uses_sealed(both)[:-1]), ('seal', uses_sealed(both, series=8)), ('seal', b''),
        ('seal', uses_sealed(both, key=made_up('another log key'))), ('seal', uses_sealed(both, label=b'vauban access log record v1')),
        ('seal', log_sealed(b''.join(both), number=7)), ('size', uses_sealed(both, size=255)), ('size', uses_sealed(both, size=257)),
        ('padding', uses_sealed(both, padding=b'\1')), ('length', uses_sealed([both[0], both[1][:-1]]))], **uses_given())])
