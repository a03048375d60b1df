#!/usr/bin/env python3
"""Known answers for Specs/key-hierarchy.md and Specs/reader.md, made from their text: Python's hashlib and hmac and the
`cryptography` package, no code of Vauban's. Everything random is a hash of its name, so each run writes the same bytes.
Run: python3 Specs/key-hierarchy-vectors.py > Vectors/key-hierarchy.json"""
import hashlib
import hmac
import json

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def made_up(name, count=32):
    return hashlib.sha256(b"vauban vector " + name.encode()).digest()[:count]


def be(number, count):
    return number.to_bytes(count, "big")


# DER: what the formats need.
def tlv(tag, content):
    length = len(content)
    head = bytes([length]) if length < 128 else bytes([0x80 | (length.bit_length() + 7) // 8]) + be(length, (length.bit_length() + 7) // 8)
    return bytes([tag]) + head + content


def integer(number):
    return tlv(2, be(number, number.bit_length() // 8 + 1))


def octets(content):
    return tlv(4, content)


def boolean(value):
    return tlv(1, b"\xff" if value else b"\0")


def text(value):
    return tlv(12, value.encode())


def sequence(*fields):
    return tlv(0x30, b"".join(fields))


def tagged(number, *fields):
    return tlv(0xA0 | number, b"".join(fields))


# Section 2.
def extract(salt, key):
    return hmac.new(salt, key, hashlib.sha256).digest()


def expand(key, info, count=32):
    return hmac.new(key, info + b"\x01", hashlib.sha256).digest()[:count]


def derive(key, label, context=b""):
    return expand(extract(bytes(32), key), label.encode() + b"\0" + context)


def wrap(secret, key, label, context=b""):
    nonce = hashlib.sha256(b"nonce" + secret + label.encode() + context).digest()[:12]
    return nonce + AESGCM(key).encrypt(nonce, secret, label.encode() + b"\0" + context)


def stretch(passcode, salt):
    return hashlib.scrypt(passcode.encode(), salt=salt, n=16, r=1, p=1, dklen=32)


def public(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def seal(secret, recipient, info):
    """RFC 9180, base mode, suite 32, 1, 2; the ephemeral key is a hash of what is sealed."""
    ephemeral = hashlib.sha256(b"ephemeral" + secret + recipient + info).digest()
    shared = X25519PrivateKey.from_private_bytes(ephemeral).exchange(X25519PublicKey.from_public_bytes(recipient))
    kem, suite = b"KEM" + be(32, 2), b"HPKE" + be(32, 2) + be(1, 2) + be(2, 2)
    def labeled_extract(salt, name, key, of): return extract(salt, b"HPKE-v1" + of + name + key)
    def labeled_expand(key, name, info, count, of): return expand(key, be(count, 2) + b"HPKE-v1" + of + name + info, count)
    agreed = labeled_expand(labeled_extract(b"", b"eae_prk", shared, kem), b"shared_secret", public(ephemeral) + recipient, 32, kem)
    context = b"\0" + labeled_extract(b"", b"psk_id_hash", b"", suite) + labeled_extract(b"", b"info_hash", info, suite)
    key = labeled_extract(agreed, b"secret", b"", suite)
    nonce = labeled_expand(key, b"base_nonce", context, 12, suite)
    return public(ephemeral), AESGCM(labeled_expand(key, b"key", context, 32, suite)).encrypt(nonce, secret, b"")


# A user's state.
PERSON, PASSCODE = 1000, "correct horse"
DEVICE_SECRET = bytes(range(32))
DEVICE = derive(DEVICE_SECRET, "vauban device identifier v1")[:16]
STATE_KEY = derive(DEVICE_SECRET, "vauban state authentication v1")
IDENTIFIER = made_up("keybag", 16)
DEVICE_KEY = derive(DEVICE_SECRET, "vauban keybag device wrap v1", IDENTIFIER)
TANGLE_KEY = derive(DEVICE_SECRET, "vauban keybag passcode wrap v1", IDENTIFIER)
SALT = made_up("salt")
PASSCODE_KEY = hmac.new(TANGLE_KEY, stretch(PASSCODE, SALT), hashlib.sha256).digest()
PERSON_CONTEXT = IDENTIFIER + be(PERSON, 4)
FINGERS = made_up("fingers")


def generation(name):
    return made_up("generation " + name, 8)


def slot(purpose, name, by_passcode=True):
    wrapping, key = (2, PASSCODE_KEY) if by_passcode else (1, DEVICE_KEY)
    context = PERSON_CONTEXT + bytes([purpose, wrapping]) + generation(name)
    fields = [integer(purpose), octets(generation(name)), integer(wrapping), octets(wrap(made_up(name), key, "vauban keybag slot v1", context))]
    return sequence(*fields, *([tagged(0, octets(public(made_up(name))))] if purpose >= 200 else []))


def parameters(salt):
    return sequence(octets(salt), integer(4), integer(1), integer(1))


def envelope(content, name, user=PERSON):
    code = hmac.new(STATE_KEY, name.encode() + b"\0" + be(user, 4) + content, hashlib.sha256).digest()
    return sequence(integer(1), octets(DEVICE), octets(content), octets(code))


def keybag(version, slots, fields):
    return sequence(integer(version), octets(IDENTIFIER), integer(PERSON), octets(DEVICE), sequence(*slots), *fields)


CLASSES = [(6, "ak"), (7, "ck"), (9, "aku"), (10, "cku"), (12, "akpu")]
CLOSED = [slot(*named) for named in CLASSES] + [slot(200, "passcode"), slot(201, "presence"), slot(6, "older ak"), slot(100, "first index")]
ALWAYS = [slot(8, "dk", False), slot(11, "dku", False), slot(101, "device index", False)]
OPEN = [slot(n, name, False) for n, name in CLASSES[:4] + [(200, "passcode"), (201, "presence"), (100, "first index")]] + ALWAYS
NEWER = [slot(202, "biometry"), slot(203, "enrollment")]


def digits(recovery):
    return "".join(f"{int.from_bytes(recovery[i:i + 2], 'big') * 11:06d}" for i in range(0, 16, 2))


def recovery_private(recovery):
    return derive(recovery, "vauban recovery key v1", PERSON_CONTEXT)


def recovery_record(recovery):
    recipient = public(recovery_private(recovery))
    encapsulated, ciphertext = seal(PASSCODE_KEY, recipient, b"vauban recovery seal v1\0" + PERSON_CONTEXT)
    return sequence(octets(recipient), octets(encapsulated), octets(wrap(ciphertext, DEVICE_KEY, "vauban recovery v1", PERSON_CONTEXT)))


RECOVERY, EARLIER_RECOVERY = made_up("recovery", 16), made_up("earlier recovery", 16)

KEYBAG_1 = keybag(1, CLOSED + ALWAYS, [tagged(0, parameters(SALT))])
KEYBAG_1_OPEN = keybag(1, OPEN, [])
SETTLED = [
    sequence(sequence(integer(12), octets(generation("destroyed")))), sequence(integer(60), integer(900), boolean(True)),
    tagged(0, parameters(SALT)), tagged(2, recovery_record(RECOVERY)),
    tagged(3, sequence(octets(generation("enrollment")), octets(FINGERS), boolean(True))), tagged(4, integer(800_000_000_000_000))]
KEYBAG_2 = keybag(2, CLOSED + NEWER + ALWAYS, SETTLED)
KEYBAG_5 = keybag(5, CLOSED + NEWER + ALWAYS, SETTLED + [tagged(5, recovery_record(EARLIER_RECOVERY))])
ATTEMPTS_1 = sequence(integer(1), octets(IDENTIFIER), integer(3))
ATTEMPTS_2 = sequence(integer(2), octets(IDENTIFIER), integer(3), sequence(
    sequence(integer(800_000_000_000_001), integer(4), text("/usr/bin/cat")), sequence(integer(800_000_000_000_000), integer(1), text("an unknown program"))))
PAIRING_KEY = made_up("pairing")
PAIRING = sequence(integer(1), octets(wrap(PAIRING_KEY, derive(DEVICE_SECRET, "vauban reader pairing wrap v1"), "vauban reader pairing v1")))


# Rows.
def binding(form, protection, of, flags, item):
    control = [] if flags is None else [tagged(0, sequence(integer(1), integer(protection), integer(flags)))]
    return sequence(
        integer(form), integer(PERSON), integer(protection), octets(of), octets(made_up(item, 16)), octets(made_up(item + " version", 16)),
        integer(1), text("unsigned"), *control)


def row(name, form, protection, class_name, flags, ways, password=None):
    bound = binding(form, protection, generation(class_name), flags, name)
    of_item = bound if form == 1 else binding(form, protection, bytes(8), flags, name)
    item_key, class_key = made_up("item key " + name), made_up(class_name)
    answer = {"name": name, "binding": bound.hex(), "itemBinding": of_item.hex(), "itemKey": item_key.hex()}
    inner, fields = item_key, []
    if password:
        salt = made_up("salt " + name)
        inner, fields = wrap(item_key, stretch(password, salt), "vauban application password v1", of_item), [tagged(0, parameters(salt))]
        answer["password"] = password
    info = b"vauban factor seal v1\0" + of_item
    if ways is None:
        kind, content, label = 0, item_key, "vauban item key v1"
    elif form == 1:
        encapsulated, ciphertext = seal(inner, public(made_up(ways[0][0])), info)
        kind, content, label = 1, sequence(octets(generation(ways[0][0])), octets(encapsulated), octets(ciphertext)), "vauban item key of a factor v1"
    else:
        made = []
        for way in ways:
            layer, seals = inner, []
            for pair in way:
                encapsulated, layer = seal(layer, public(made_up(pair)), info)
                seals.append(sequence(octets(generation(pair)), octets(encapsulated)))
            made.append(sequence(sequence(*seals), octets(layer)))
        kind, content, label = 2, sequence(sequence(*made), *fields), "vauban layered item key v1"
    wrapped = sequence(integer(1), integer(kind), octets(wrap(content, class_key, label, bound)))
    return answer | {"kind": kind, "wrapped": wrapped.hex()}


ROWS = [
    row("plain, format 1", 1, 6, "ak", None, None),
    row("plain of an older generation, format 1", 1, 6, "older ak", None, None),
    row("userPresence, format 1", 1, 7, "ck", 1, [["presence"]]),
    row("devicePasscode, format 1", 1, 8, "dk", 1 << 4, [["passcode"]]),
    row("plain", 2, 9, "aku", None, None),
    row("userPresence", 2, 12, "akpu", 1, [["presence"]]),
    row("biometryAny or devicePasscode", 2, 10, "cku", 1 << 14 | 1 << 1 | 1 << 4, [["biometry"], ["passcode"]]),
    row("biometryCurrentSet and devicePasscode", 2, 11, "dku", 1 << 15 | 1 << 3 | 1 << 4, [["enrollment", "passcode"]]),
    row("applicationPassword", 2, 6, "ak", 1 << 31, [[]], "application's"),
    row("userPresence with applicationPassword", 2, 7, "ck", 1 << 31 | 1, [["presence"]], "application's"),
]

VERDICT = {"outcome": 1, "user": PERSON, "nonce": made_up("nonce").hex(), "fingers": FINGERS.hex()}
COVERED = b"vauban reader verdict v1\0\x01" + be(PERSON, 4) + made_up("nonce") + FINGERS
STRETCHED = stretch(PASSCODE, DEVICE_SECRET)
CONTEXT = bytes(range(0xA0, 0xB0))

print(json.dumps({
    "deviceSecret": DEVICE_SECRET.hex(), "device": DEVICE.hex(), "user": PERSON, "passcode": PASSCODE, "fingers": FINGERS.hex(),
    "derive": [{"key": DEVICE_SECRET.hex(), "label": label, "context": context.hex(), "derived": derive(DEVICE_SECRET, label, context).hex()}
               for label, context in [("vauban metadata key v1", b""), ("vauban keybag device wrap v1", CONTEXT), ("vauban state authentication v1", b"")]],
    "wrap": {"key": DEVICE_SECRET.hex(), "label": "vauban keybag slot v1", "context": CONTEXT.hex(), "secret": ("07" * 32),
             "wrapped": wrap(bytes([7] * 32), DEVICE_SECRET, "vauban keybag slot v1", CONTEXT).hex()},
    "passcodeKey": {"salt": DEVICE_SECRET.hex(), "log2Rounds": 4, "blockSize": 1, "parallelism": 1, "context": CONTEXT.hex(), "stretched": STRETCHED.hex(),
                    "tangled": hmac.new(derive(DEVICE_SECRET, "vauban keybag passcode wrap v1", CONTEXT), STRETCHED, hashlib.sha256).hexdigest()},
    "slot": {"purpose": 6, "key": made_up("ak").hex(), "passcodeKey": PASSCODE_KEY.hex(), "slot": slot(6, "ak").hex()},
    "keybag": {"version1": KEYBAG_1.hex(), "version1WithoutPasscode": KEYBAG_1_OPEN.hex(), "version2": KEYBAG_2.hex(),
               "version5": KEYBAG_5.hex()},
    "attempts": {"version1": ATTEMPTS_1.hex(), "version2": ATTEMPTS_2.hex()},
    "envelope": {"keybag1": envelope(KEYBAG_1, "keybag").hex(), "keybag1WithoutPasscode": envelope(KEYBAG_1_OPEN, "keybag").hex(),
                 "keybag2": envelope(KEYBAG_2, "keybag").hex(), "keybag5": envelope(KEYBAG_5, "keybag").hex(), "attempts1": envelope(ATTEMPTS_1, "attempts").hex(),
                 "attempts2": envelope(ATTEMPTS_2, "attempts").hex(), "pairing": envelope(PAIRING, "pairing", 0xFFFFFFFF).hex()},
    "rows": ROWS,
    "recovery": {"random": RECOVERY.hex(), "digits": digits(RECOVERY), "privateKey": recovery_private(RECOVERY).hex(),
                 "record": recovery_record(RECOVERY).hex(), "earlierDigits": digits(EARLIER_RECOVERY)},
    "verdict": VERDICT | {"pairingKey": PAIRING_KEY.hex(), "covered": COVERED.hex(),
                          "code": hmac.new(PAIRING_KEY, COVERED, hashlib.sha256).hexdigest()},
}, indent=1))
