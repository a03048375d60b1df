"""X-Wing (ML-KEM-768 with X25519) and HPKE with it, for a recipient: FIPS 203, draft-connolly-cfrg-xwing-kem and RFC 9180, written from
these alone, since no library that comes with a system has them. It reads vectors; it resists no attack by timing."""
import hashlib
import hmac

Q, K, DU, DV = 3329, 3, 10, 4


def bit_reversed(number):
    return int(f'{number:07b}'[::-1], 2)


ZETAS = [pow(17, bit_reversed(i), Q) for i in range(128)]
GAMMAS = [pow(17, 2 * bit_reversed(i) + 1, Q) for i in range(128)]


def ntt(values):
    f, i, size = list(values), 1, 128
    while size >= 2:
        for start in range(0, 256, 2 * size):
            zeta, i = ZETAS[i], i + 1
            for j in range(start, start + size):
                t = zeta * f[j + size] % Q
                f[j], f[j + size] = (f[j] + t) % Q, (f[j] - t) % Q
        size //= 2
    return f


def inverse_ntt(values):
    f, i, size = list(values), 127, 2
    while size <= 128:
        for start in range(0, 256, 2 * size):
            zeta, i = ZETAS[i], i - 1
            for j in range(start, start + size):
                t = f[j]
                f[j], f[j + size] = (t + f[j + size]) % Q, zeta * (f[j + size] - t) % Q
        size *= 2
    return [value * 3303 % Q for value in f]


def product(f, g):
    h = []
    for i, gamma in enumerate(GAMMAS):
        a, b, c, d = f[2 * i], f[2 * i + 1], g[2 * i], g[2 * i + 1]
        h += [(a * c + b * d * gamma) % Q, (a * d + b * c) % Q]
    return h


def total(*polynomials):
    return [sum(values) % Q for values in zip(*polynomials)]


def dot(row, column):
    return total(*(product(f, g) for f, g in zip(row, column)))


def encoded(values, bits):
    return sum(value << (bits * i) for i, value in enumerate(values)).to_bytes(32 * bits, 'little')


def decoded(data, bits):
    number = int.from_bytes(data, 'little')
    return [number >> (bits * i) & ((1 << bits) - 1) for i in range(256)]


def compressed(values, bits):
    return [((value << bits) + Q // 2) // Q % (1 << bits) for value in values]


def expanded(values, bits):
    return [(value * Q + (1 << (bits - 1))) >> bits for value in values]


def uniform(seed, j, i):
    stream, values = hashlib.shake_128(seed + bytes([j, i])).digest(3 * 672), []
    for at in range(0, len(stream), 3):
        a, b, c = stream[at:at + 3]
        values += [value for value in (a + 256 * (b % 16), b // 16 + 16 * c) if value < Q]
    return values[:256]


def noise(seed, number):
    bits = int.from_bytes(hashlib.shake_256(seed + bytes([number])).digest(128), 'little')
    return [((bits >> 4 * i & 1) + (bits >> 4 * i + 1 & 1) - (bits >> 4 * i + 2 & 1) - (bits >> 4 * i + 3 & 1)) % Q for i in range(256)]


def matrix(rho):
    return [[uniform(rho, j, i) for j in range(K)] for i in range(K)]


def mlkem_keys(d):
    """The encapsulation key and the secret vector of K-PKE."""
    seeds = hashlib.sha3_512(d + bytes([K])).digest()
    rho, sigma = seeds[:32], seeds[32:]
    s = [ntt(noise(sigma, i)) for i in range(K)]
    e = [ntt(noise(sigma, K + i)) for i in range(K)]
    t = [total(dot(row, s), e[i]) for i, row in enumerate(matrix(rho))]
    return b''.join(encoded(f, 12) for f in t) + rho, s


def mlkem_encrypted(public, message, coins):
    t = [decoded(public[384 * i:384 * (i + 1)], 12) for i in range(K)]
    a = matrix(public[384 * K:])
    y = [ntt(noise(coins, i)) for i in range(K)]
    e1 = [noise(coins, K + i) for i in range(K)]
    u = [total(inverse_ntt(dot([a[j][i] for j in range(K)], y)), e1[i]) for i in range(K)]
    v = total(inverse_ntt(dot(t, y)), noise(coins, 2 * K), expanded(decoded(message, 1), 1))
    return b''.join(encoded(compressed(f, DU), DU) for f in u) + encoded(compressed(v, DV), DV)


def mlkem_decapsulated(d, z, ciphertext):
    public, s = mlkem_keys(d)
    u = [expanded(decoded(ciphertext[320 * i:320 * (i + 1)], DU), DU) for i in range(K)]
    v = expanded(decoded(ciphertext[320 * K:], DV), DV)
    w = [(a - b) % Q for a, b in zip(v, inverse_ntt(dot(s, [ntt(f) for f in u])))]
    message = encoded(compressed(w, 1), 1)
    shared = hashlib.sha3_512(message + hashlib.sha3_256(public).digest()).digest()
    if mlkem_encrypted(public, message, shared[32:]) != ciphertext:
        return hashlib.shake_256(z + ciphertext).digest(32)
    return shared[:32]


def x25519(private, public):
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(public))


def halves(seed):
    """Of an X-Wing seed: ML-KEM's d and z, and the private and public key of X25519."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    stream = hashlib.shake_256(seed).digest(96)
    private = stream[64:]
    return stream[:32], stream[32:64], private, X25519PrivateKey.from_private_bytes(private).public_key().public_bytes(
        Encoding.Raw, PublicFormat.Raw)


def public_key(seed):
    d, _, _, public = halves(seed)
    return mlkem_keys(d)[0] + public


def decapsulated(seed, encapsulated):
    d, z, private, public = halves(seed)
    ciphertext, ephemeral = encapsulated[:1088], encapsulated[1088:]
    return hashlib.sha3_256(
        mlkem_decapsulated(d, z, ciphertext) + x25519(private, ephemeral) + ephemeral + public + b'\\.//^\\').digest()


def hpke_opened(seed, encapsulated, sealed, info):
    """HPKE, base mode, one message: X-Wing (0x647a), HKDF-SHA256 (1), AES-256-GCM (2)."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    suite = b'HPKE' + bytes.fromhex('647a00010002')

    def extract(salt, label, data):
        return hmac.new(salt or bytes(32), b'HPKE-v1' + suite + label + data, hashlib.sha256).digest()

    def expand(key, label, context, length):
        block, out = b'', b''
        while len(out) < length:
            text = length.to_bytes(2, 'big') + b'HPKE-v1' + suite + label + context
            block = hmac.new(key, block + text + bytes([len(out) // 32 + 1]), hashlib.sha256).digest()
            out += block
        return out[:length]

    context = b'\0' + extract(b'', b'psk_id_hash', b'') + extract(b'', b'info_hash', info)
    secret = extract(decapsulated(seed, encapsulated), b'secret', b'')
    return AESGCM(expand(secret, b'key', context, 32)).decrypt(expand(secret, b'base_nonce', context, 12), sealed, b'')
