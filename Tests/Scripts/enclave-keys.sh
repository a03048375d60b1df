#!/usr/bin/env bash
# Other implementations accept what a key of the enclave makes: its signatures by OpenSSL and by Python's cryptography, its exchanges and its
# ECIES packets by Python's cryptography, which has the other half.
# proves: C-155 C-156 C-162
set -u
. Tests/Scripts/lib/command-line.sh
for program in python3 openssl; do command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }; done
python3 -c 'import cryptography' 2>/dev/null || { echo 'no cryptography module for python3 here'; exit 77; }
set_passcode
caller() { "$VAUBAN_BUILD/keychain-caller" key "$@"; }
# bytes VERB...: the result of a call that succeeded, in hexadecimal.
bytes() {
    answer=$(caller "$@")
    case $answer in '0 '*) printf '%s' "${answer#0 }" ;; *) fail "$*: $answer" >&2; return 1 ;; esac
}
hex() { python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read().strip()))'; }

[ "$(caller make approval)" = 0 ] || fail 'no key was made'
public=$(bytes public approval) && message=$(printf 'pay 100 to anna' | od -An -v -tx1 | tr -d ' \n') || exit 1
signature=$(bytes sign approval "$message") || exit 1

# OpenSSL: the point behind the head of a SubjectPublicKeyInfo of P-256.
printf '3059301306072a8648ce3d020106082a8648ce3d030107034200%s' "$public" | hex >"$TMPDIR/public.der"
printf '%s' "$signature" | hex >"$TMPDIR/signature"
printf '%s' "$message" | hex >"$TMPDIR/message"
openssl dgst -sha256 -keyform DER -verify "$TMPDIR/public.der" -signature "$TMPDIR/signature" "$TMPDIR/message" >"$TMPDIR/out" 2>&1 ||
    { cat "$TMPDIR/out"; fail 'OpenSSL refuses the signature'; }
printf 'x' >>"$TMPDIR/message"
openssl dgst -sha256 -keyform DER -verify "$TMPDIR/public.der" -signature "$TMPDIR/signature" "$TMPDIR/message" >/dev/null 2>&1 && fail 'OpenSSL accepts another message'

cat >"$TMPDIR/other.py" <<'PY'
import sys
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF

verb, public = sys.argv[1], ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes.fromhex(sys.argv[2]))
point = lambda key: key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
if verb == "verify":
    public.verify(bytes.fromhex(sys.argv[4]), bytes.fromhex(sys.argv[3]), ec.ECDSA(hashes.SHA256()))
elif verb == "number":
    # A private number of a test, and the point that belongs to it.
    key = ec.derive_private_key(int(sys.argv[3]), ec.SECP256R1())
    print(point(key.public_key()).hex(), key.exchange(ec.ECDH(), public).hex())
elif verb == "encrypt":
    # Apple's packet: ephemeral key, ciphertext, tag; key and IV of 16 bytes each from X9.63 with the ephemeral key as information.
    key = ec.generate_private_key(ec.SECP256R1())
    sent = point(key.public_key())
    derived = X963KDF(hashes.SHA256(), 32, sent).derive(key.exchange(ec.ECDH(), public))
    print((sent + AESGCM(derived[:16]).encrypt(derived[16:], bytes.fromhex(sys.argv[3]), None)).hex())
PY
other() { python3 "$TMPDIR/other.py" "$1" "$public" "${@:2}"; }
other verify "$message" "$signature" || fail 'Python refuses the signature'
answer=$(other number 20240229) && read -r point shared <<<"$answer" || fail 'Python makes no key'
[ "$(bytes exchange approval "$point")" = "$shared" ] || fail 'the exchange gives another secret'
packet=$(other encrypt "$message") || fail 'Python does not encrypt'
[ "$(bytes decrypt approval "$packet")" = "$message" ] || fail 'the packet does not open'
# One bit of the tag.
last=$(printf '%s' "$packet" | tail -c 1)
[ "$(caller decrypt approval "${packet%?}$([ "$last" = 0 ] && echo 1 || echo 0)")" = -50 ] || fail 'an altered packet opens'

# A lock closes it.
vauban lock >/dev/null 2>&1 || fail 'no lock'
[ "$(caller sign approval "$message")" = -25308 ] || fail 'a locked keychain signs'
