"""What ssh-agent.md specifies: private keys as items, requests to the agent, and what it is asked to sign."""
from . import Refused, require


# A private key: RFC 4251's strings.

class Strings:
    def __init__(self, data):
        self.data = data

    def next(self):
        count = self.uint32()
        require(len(self.data) >= count, 'ends early')
        string, self.data = self.data[:count], self.data[count:]
        return string

    def byte(self):
        require(self.data, 'ends early')
        byte, self.data = self.data[0], self.data[1:]
        return byte

    def flag(self):
        byte = self.byte()
        require(byte <= 1, 'a Boolean')
        return byte == 1

    def uint32(self):
        require(len(self.data) >= 4, 'ends early')
        number, self.data = int.from_bytes(self.data[:4], 'big'), self.data[4:]
        return number

    def text(self):
        string = self.next()
        require(0 not in string, 'a text with a zero byte')
        try:
            return string.decode()
        except UnicodeDecodeError:
            raise Refused('a text that is not UTF-8') from None

    def end(self, failure):
        require(not self.data, failure)

    def number(self):
        digits = self.next()
        require(not digits or digits[0] < 0x80, 'a negative number')
        require(not digits or digits[0] or len(digits) > 1 and digits[1] >= 0x80, 'a number in a longer form than needed')
        return int.from_bytes(digits, 'big')


CURVES = {b'ecdsa-sha2-nistp256': (b'nistp256', 65), b'ecdsa-sha2-nistp384': (b'nistp384', 97), b'ecdsa-sha2-nistp521': (b'nistp521', 133)}


def key(data, given):
    strings = Strings(data)
    fields = read_key(strings)
    strings.end('a byte after the key')
    return fields


def read_key(strings):
    kind = strings.next()
    if kind == b'ssh-ed25519':
        public, pair = strings.next(), strings.next()
        require(len(public) == 32, 'a public half of another length')
        require(len(pair) == 64, 'a private half of another length')
        require(pair[32:] == public, 'another public half')
    elif kind in CURVES:
        name, count = CURVES[kind]
        require(strings.next() == name, 'another curve')
        public = strings.next()
        require(len(public) == count and public[0] == 4, 'a point in another form')
        strings.number()
    elif kind == b'ssh-rsa':
        modulus, exponent, *_ = [strings.number() for _ in range(6)]
        require(2048 <= (modulus.bit_length() + 7) // 8 * 8 <= 16384, 'a modulus of another size')
        public = modulus.to_bytes(-(-modulus.bit_length() // 8), 'big')
    else:
        raise Refused('an unknown type')
    return {'type': kind.decode(), 'public': public.hex()}


# What clients ask the agent: the section "Messages", and draft-ietf-sshm-ssh-agent.

def request(data, given):
    message = Strings(data)
    require(data, 'no byte')
    kind = message.byte()
    if kind in (20, 21, 26) or kind in (17, 25) and is_of_security_key(message.data):
        return {'request': 'of another agent'}
    if kind == 27 and message.text() != 'session-bind@openssh.com' or kind not in REQUESTS:
        return {'request': 'unsupported'}
    name, read = REQUESTS[kind]
    fields = read(message)
    message.end('a byte after the message')
    return {'request': name, **fields}


def is_of_security_key(data):
    try:
        return Strings(data).next().startswith(b'sk-')
    except Refused:
        return False


def add(message):
    fields = read_key(message)
    return {'type': fields['type'], 'comment': message.text(), 'lifetime': '', 'confirms': 'no', 'destinations': 'any'}


def add_constrained(message):
    fields = add(message)
    while message.data:
        constraint = message.byte()
        if constraint == 1:
            require(not fields['lifetime'], 'a lifetime twice')
            fields['lifetime'] = str(message.uint32())
            require(fields['lifetime'] != '0', 'a lifetime of zero')
        elif constraint == 2:
            fields['confirms'] = 'yes'
        else:
            require(constraint == 255 and message.text() == 'restrict-destination-v00@openssh.com', 'an unknown constraint')
            require(fields['destinations'] == 'any', 'destinations twice')
            fields['destinations'] = '\n'.join(destinations(Strings(message.next())))
    return fields


def destinations(entries):
    while entries.data:
        entry = Strings(entries.next())
        from_user, from_host = hop(Strings(entry.next()))
        to_user, to_host = hop(Strings(entry.next()))
        require(not entry.next(), 'an extension of a destination')
        require(not from_user, 'a destination from a user')
        require(to_host, 'a destination without a host')
        yield f"{from_host} > {to_user + '@' if to_user else ''}{to_host}"


def hop(fields):
    user, host = fields.text(), fields.text()
    require(not fields.next(), 'an extension of a hop')
    while fields.data:
        fields.next()
        fields.flag()
    return user, host


REQUESTS = {
    11: ('list', lambda message: {}),
    13: ('sign', lambda message: {'key': message.next().hex(), 'data': message.next().hex(), 'flags': str(message.uint32())}),
    17: ('add', add), 25: ('add', add_constrained),
    18: ('remove', lambda message: {'key': message.next().hex()}), 19: ('remove all', lambda message: {}),
    22: ('lock', lambda message: {'passphrase': message.next().hex()}), 23: ('unlock', lambda message: {'passphrase': message.next().hex()}),
    27: ('bind', lambda message: {'hostKey': message.next().hex(), 'session': message.next().hex(), 'signature': message.next().hex(),
                                  'forwarding': 'yes' if message.flag() else 'no'}),
}


# What is signed: the section "The prompt".

def hold(data, given):
    """Reads for how long an answer holds."""
    words = data.split(b' ')
    require(len(words) == 2 and words[0] == b'1', 'not of version 1')
    require(words[1].isdigit() and words[1] == b'%d' % int(words[1]) and 1 <= int(words[1]) <= 900, 'not a time')
    return {'seconds': words[1].decode()}


def signed_data(data, given):
    for read in (login, signed_message, certificate):
        try:
            return read(Strings(data))
        except Refused:
            continue
    raise Refused('says nothing')


def login(fields):
    session = fields.next()
    require(16 <= len(session) <= 64 and fields.byte() == 50, 'no login')
    user = fields.text()
    require(fields.text() == 'ssh-connection', 'no login')
    method = fields.text()
    require(fields.flag(), 'no login')
    fields.text()
    public = fields.next()
    require(method in ('publickey', 'publickey-hostbound-v00@openssh.com'), 'no login')
    host = fields.next() if method != 'publickey' else b''
    fields.end('no login')
    return {'kind': 'login', 'user': user, 'session': session.hex(), 'key': public.hex(), 'host': host.hex()}


def signed_message(fields):
    require(fields.data.startswith(b'SSHSIG'), 'no message')
    fields.data = fields.data[len(b'SSHSIG'):]
    namespace = fields.text()
    fields.next()
    require(namespace and {'sha256': 32, 'sha512': 64}.get(fields.text()) == len(fields.next()), 'no message')
    fields.end('no message')
    return {'kind': 'message', 'namespace': namespace}


def certificate(fields):
    require(fields.text().endswith('-cert-v01@openssh.com'), 'no certificate')
    return {'kind': 'certificate'}
