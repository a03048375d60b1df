"""Writes the vectors of the entries in which the reader of another provider reports its items (secret-service.md)."""
from . import integer, octets, refusals, sequence, spoiled, text, tlv, vector, write


def record(kind=1, protection=6, attributes=('acct', 'labl')):
    values = {'acct': tlv(0xA1, octets(b'anna')), 'labl': tlv(0xA0, text('github'))}
    return sequence(integer(kind), sequence(*[sequence(text(name), values[name]) for name in attributes]), integer(protection))


def entry(kind, words='', reason='', number=0, record=b'', more=b''):
    return sequence(integer(kind), text(words), text(reason), integer(number), tlv(0xA0, record) if record else b'', more)


def fields(kind, words='', reason='', number=0, record=b''):
    return {'kind': str(kind), 'text': words, 'reason': reason, 'number': str(number), 'record': record.hex()}


def reported(name, *parts):
    return vector(name, entry(*parts), fields(*parts))


write('transfer-entries', 'secret-service', [
    reported('a provider', 1, 'GNOME Keyring'), reported('a notice', 2, 'Die Sammlung „Büro“ ist gesperrt.'), reported('a total', 3, '', '', 12),
    reported('the highest total', 3, '', '', 10_000_000), reported('a collection', 4, '', '', 0, record()),
    reported('an item', 5, 'Login/github', '', 0, record()), reported('an item that stays', 6, 'Login/github', 'its secret is larger than 1 MiB'),
    reported('a failure', 7, 'the provider failed', '', 53), reported('the end', 8), reported('a picture', 9, '/run/user/1000/doc/1/screen.png'),
    reported('the longest text', 2, 'x' * 1024),
    *refusals([
        *spoiled(entry(8)), ('kind', entry(0)), ('kind', entry(10)), ('text', entry(2, 'x' * 1025)), ('reason', entry(6, 'a', 'x' * 1025)),
        ('number', entry(3, number=10_000_001)), ('parts', entry(4)), ('parts', entry(5, 'Login/github')), ('parts', entry(8, record=record())),
        ('record', entry(4, record=record(kind=6))), ('record', entry(4, record=record(protection=5))),
        ('record', entry(4, record=record(attributes=('labl', 'acct')))), ('record', entry(4, record=record(attributes=('labl', 'labl')))),
        ('a field that the type does not have', entry(8, more=integer(1)))])])
