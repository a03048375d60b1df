"""The vectors of ssh-agent.md: keys, requests to the agent, and data that it signs."""
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from . import made_up, refusals, vector, write


def string(content):
    return len(content).to_bytes(4, 'big') + content


def mpint(value):
    return string(value.to_bytes(value.bit_length() // 8 + 1, 'big') if value else b'')


def prime(name, count):
    """The first prime above a number that is a hash of its name, by the test of Miller and Rabin."""
    candidate = int.from_bytes(made_up(name, count), 'big') | 3 << (count * 8 - 2) | 1

    def is_prime(n):
        odd, twos = n - 1, 0
        while odd % 2 == 0:
            odd, twos = odd // 2, twos + 1
        for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
            power = pow(base, odd, n)
            if power not in (1, n - 1) and not any((power := pow(power, 2, n)) == n - 1 for _ in range(twos - 1)):
                return False
        return True

    while not is_prime(candidate):
        candidate += 2
    return candidate


def rsa(size):
    p, q, e = prime(f'p {size}', size // 2), prime(f'q {size}', size // 2), 65_537
    d = pow(e, -1, (p - 1) * (q - 1))
    return string(b'ssh-rsa') + b''.join(map(mpint, (p * q, e, d, pow(q, -1, p), p, q))), p * q


SEED = made_up('ed25519')
EDWARDS = Ed25519PrivateKey.from_private_bytes(SEED).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def ed25519(point=EDWARDS, pair=SEED + EDWARDS, kind=b'ssh-ed25519'):
    return string(kind) + string(point) + string(pair)


def elliptic(curve, name):
    d = int.from_bytes(made_up(name), 'big')
    point = ec.derive_private_key(d, curve).public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return d, point, string(b'ecdsa-sha2-' + name.encode()) + string(name.encode()) + string(point) + mpint(d)


def p256(curve=b'nistp256', point=None, number=None):
    return string(b'ecdsa-sha2-nistp256') + string(curve) + string(point or P256[1]) + (number or mpint(P256[0]))


P256, P384, P521 = (elliptic(curve, name) for curve, name in ((ec.SECP256R1(), 'nistp256'), (ec.SECP384R1(), 'nistp384'), (ec.SECP521R1(), 'nistp521')))
RSA, MODULUS = rsa(256)
write('ssh-keys', 'ssh-agent', [
    vector('ssh-ed25519', ed25519(), {'type': 'ssh-ed25519', 'public': EDWARDS.hex()}),
    *[vector(f'ecdsa-sha2-{name}', key[2], {'type': f'ecdsa-sha2-{name}', 'public': key[1].hex()})
      for name, key in (('nistp256', P256), ('nistp384', P384), ('nistp521', P521))],
    vector('ssh-rsa', RSA, {'type': 'ssh-rsa', 'public': MODULUS.to_bytes(256, 'big').hex()}),
    *refusals([('an unknown type', ed25519(kind=b'ssh-ed448')), ('a public half of another length', ed25519(EDWARDS[1:])),
               ('a private half of another length', ed25519(pair=SEED + EDWARDS[1:])), ('another public half', ed25519(pair=SEED + SEED)),
               ('another curve', p256(curve=b'nistp384')), ('a point in another form', p256(point=b'\x02' + P256[1][1:])),
               ('a negative number', p256(number=string(b'\x80'))), ('a number in a longer form than needed', p256(number=string(b'\0\x01'))),
               ('a modulus of another size', rsa(128)[0]), ('ends early', ed25519()[:-1]), ('a byte after the key', ed25519() + b'\0')])])


# What clients ask the agent.
def number(value):
    return value.to_bytes(4, 'big')


def message(kind, *strings):
    return bytes([kind]) + b''.join(map(string, strings))


def added(constraints=None, key=ed25519(), comment='anna@example'):
    """An added key; with constraints by the message that can have them."""
    return bytes([17 if constraints is None else 25]) + key + string(comment.encode()) + (constraints or b'')


def extension(name, *strings, flag=b''):
    return message(27, name, *strings) + flag


def hop(user='', host='', keys=(), flags=0, more=b''):
    return string(user.encode()) + string(host.encode()) + string(more) + b''.join(string(key) + bytes([flags]) for key in keys)


def destination(origin, target, more=b''):
    return string(string(origin) + string(target) + string(more))


def destinations(*entries):
    return b'\xff' + string(b'restrict-destination-v00@openssh.com') + string(b''.join(entries))


PUBLIC = string(b'ssh-ed25519') + string(EDWARDS)
SESSION = made_up('session')
SIGNATURE = string(b'ssh-ed25519') + string(made_up('signature', 64))
HERE, GIT = hop(), hop('git', 'git.example.org', [PUBLIC])
BIND = extension(b'session-bind@openssh.com', PUBLIC, SESSION, SIGNATURE, flag=b'\1')
CERTIFIED = string(b'sk-ssh-ed25519@openssh.com') + string(EDWARDS)
KEY_FIELDS = {'request': 'add', 'type': 'ssh-ed25519', 'comment': 'anna@example', 'lifetime': '', 'confirms': 'no', 'destinations': 'any'}

write('ssh-agent', 'ssh-agent', [
    vector('list', message(11), {'request': 'list'}),
    vector('sign', message(13, PUBLIC, b'data') + number(4), {'request': 'sign', 'key': PUBLIC.hex(), 'data': b'data'.hex(), 'flags': '4'}),
    vector('remove', message(18, PUBLIC), {'request': 'remove', 'key': PUBLIC.hex()}),
    vector('remove all', message(19), {'request': 'remove all'}),
    vector('lock', message(22, b'geheim'), {'request': 'lock', 'passphrase': b'geheim'.hex()}),
    vector('unlock', message(23, b''), {'request': 'unlock', 'passphrase': ''}),
    vector('bind', BIND, {'request': 'bind', 'hostKey': PUBLIC.hex(), 'session': SESSION.hex(), 'signature': SIGNATURE.hex(), 'forwarding': 'yes'}),
    vector('add', added(), KEY_FIELDS),
    vector('add for an hour', added(b'\1' + number(3600)), {**KEY_FIELDS, 'lifetime': '3600'}),
    vector('add with confirmation', added(b'\2'), {**KEY_FIELDS, 'confirms': 'yes'}),
    vector('add for a destination', added(destinations(destination(HERE, GIT))), {**KEY_FIELDS, 'destinations': ' > git@git.example.org'}),
    vector('add for two hops', added(destinations(destination(HERE, GIT), destination(hop('', 'git.example.org', [PUBLIC]), hop('', 'b.example', [PUBLIC])))),
           {**KEY_FIELDS, 'destinations': ' > git@git.example.org\ngit.example.org > b.example'}),
    vector('add for no destination', added(destinations()), {**KEY_FIELDS, 'destinations': ''}),
    vector('a key of a security key', bytes([17]) + CERTIFIED, {'request': 'of another agent'}),
    vector('a smart card', message(20, b'reader', b'1234'), {'request': 'of another agent'}),
    vector('another extension', extension(b'query'), {'request': 'unsupported'}),
    vector('a message of version 1', message(1), {'request': 'unsupported'}),
    *refusals([
        ('no byte', b''), ('a byte after the message', message(11) + b'\0'), ('ends early', message(13, PUBLIC, b'data') + b'\0\0'),
        ('ends early', BIND[:-1]), ('ends early', bytes([18]) + number(5) + b'four'), ('a Boolean', BIND[:-1] + b'\2'),
        ('a text that is not UTF-8', bytes([27]) + string(b'\xff')), ('a text with a zero byte', bytes([17]) + ed25519() + string(b'a\0b')),
        ('an unknown type', added(key=ed25519(kind=b'ssh-ed448'))), ('another public half', added(key=ed25519(pair=SEED + SEED))),
        ('a byte after the message', added() + b'\2'), ('an unknown constraint', added(b'\3')),
        ('an unknown constraint', added(b'\xff' + string(b'another@example') + string(b''))), ('a lifetime of zero', added(b'\1' + number(0))),
        ('a lifetime twice', added((b'\1' + number(60)) * 2)), ('destinations twice', added(destinations() * 2)),
        ('a destination without a host', added(destinations(destination(HERE, HERE)))),
        ('a destination from a user', added(destinations(destination(hop('anna'), GIT)))),
        ('an extension of a hop', added(destinations(destination(HERE, hop('', 'a.example', [PUBLIC], more=b'x'))))),
        ('an extension of a destination', added(destinations(destination(HERE, GIT, b'x'))))])])


# What is signed.
def login(user='git', service='ssh-connection', method='publickey', host=b'', session=SESSION, has_key=b'\1', kind=b'\x32', more=b''):
    return string(session) + kind + b''.join(string(part.encode()) for part in (user, service, method)) + has_key + string(b'ssh-ed25519') + \
        string(PUBLIC) + host + more


def signed_message(namespace=b'git', digest=b'sha512', content=made_up('digest', 64), magic=b'SSHSIG', more=b''):
    return magic + string(namespace) + string(b'') + string(digest) + string(content) + more


HOST_BOUND = 'publickey-hostbound-v00@openssh.com'
LOGIN = {'kind': 'login', 'user': 'git', 'session': SESSION.hex(), 'key': PUBLIC.hex(), 'host': ''}
UNKNOWN = 'says nothing'
write('ssh-signed-data', 'ssh-agent', [
    vector('a login', login(), LOGIN),
    vector('a login that names its server', login(method=HOST_BOUND, host=string(PUBLIC)), {**LOGIN, 'host': PUBLIC.hex()}),
    vector('a commit', signed_message(), {'kind': 'message', 'namespace': 'git'}),
    vector('a file', signed_message(b'file', b'sha256', made_up('digest')), {'kind': 'message', 'namespace': 'file'}),
    vector('a certificate', string(b'ssh-ed25519-cert-v01@openssh.com') + string(made_up('nonce')), {'kind': 'certificate'}),
    *[vector(what, data, failure=UNKNOWN) for what, data in [
        ('nothing', b''), ('a login of another message', login(kind=b'\x33')), ('a login to another service', login(service='ssh-userauth')),
        ('a login without a key', login(has_key=b'\0')), ('a login by a password', login(method='password')),
        ('a login of a short session', login(session=bytes(15))), ('a login of a long session', login(session=bytes(65))),
        ('a byte after a login', login(more=b'\0')), ('a login that does not name its server', login(method=HOST_BOUND)),
        ('another magic number', signed_message(magic=b'SSHSIF')), ('no namespace', signed_message(b'')),
        ('another digest', signed_message(digest=b'md5')), ('a digest of another length', signed_message(content=bytes(32))),
        ('a byte after a message', signed_message(more=b'\0')), ('a public key', PUBLIC)]]])

# For how long an answer holds.
write('ssh-hold', 'ssh-agent', [
    *[vector(f'{seconds} seconds', b'1 %d' % seconds, {'seconds': str(seconds)}) for seconds in (1, 300, 900)],
    *[vector(what, data, failure='not of version 1') for what, data in [
        ('nothing', b''), ('a later version', b'2 300'), ('a version alone', b'1'), ('a third word', b'1 300 1'), ('two spaces', b'1  300')]],
    *[vector(what, data, failure='not a time') for what, data in [
        ('no time', b'1 '), ('0 seconds', b'1 0'), ('more than 15 minutes', b'1 901'), ('a leading zero', b'1 0300'), ('a sign', b'1 +300'),
        ('a unit', b'1 5m'), ('a line end', b'1 300\n')]]])
