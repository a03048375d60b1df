#!/usr/bin/env bash
# Exports of other programs are imported with all their columns, and exports of vauban are imported unchanged: encrypted ones, and plain ones
# on request. Truncated and altered files are not imported.
set -u
. Tests/Scripts/lib/command-line.sh
command -v python3 >/dev/null || { echo 'there is no python3 here'; exit 77; }
described() { for name in "$@"; do vauban show "$name" --json | python3 -c 'import json, sys
item = json.load(sys.stdin)
for key in ("created", "changed", "lastRead", "lastChanged"): item.pop(key, None)
print(json.dumps(item, sort_keys=True))'; vauban get "$name" | sha256sum; done; }
shows() { vauban show "$1" >"$TMPDIR/out" || fail "$1 is not there"; expect_text "$2" "$TMPDIR/out"; }

# Firefox: the realm of a server is part of what makes a password unique.
cat >"$TMPDIR/firefox.csv" <<'CSV'
"url","username","password","httpRealm","formActionOrigin","guid","timeCreated","timeLastUsed","timePasswordChanged"
"https://accounts.example","anna","p,1 ""quoted""",,"https://accounts.example","{c0ffee00-0000-4000-8000-000000000001}","1700000000000","1700000000001","1700000000002"
"http://router.example:8080","admin","p2","The router",,"{c0ffee00-0000-4000-8000-000000000002}","1700000000000","1700000000001","1700000000002"
CSV
expect_status 0 vauban import "$TMPDIR/firefox.csv"
expect_text '2 added, 0 already exist, 0 not imported' "$TMPDIR/err"
[ "$(vauban get accounts.example/anna)" = 'p,1 "quoted"' ] || fail 'a password of Firefox was imported as another one'
[ "$(vauban get --url http://admin@router.example:8080/)" = p2 ] || fail 'port and protocol of Firefox were not stored'
shows router.example/admin 'Domain:          The router'
expect_status 0 vauban import "$TMPDIR/firefox.csv"
expect_text '0 added, 2 already exist' "$TMPDIR/err"

# Apple's Passwords: title, notes of several lines, and the address of codes, which is a secret and not an attribute.
cat >"$TMPDIR/apple.csv" <<'CSV'
Title,URL,Username,Password,Notes,OTPAuth
Example (anna),https://example.com/,anna,p3,"first, line
second line",otpauth://totp/Example:anna?secret=JBSWY3DPEHPK3PXP&issuer=Example
Bare,https://bare.example/,bert,p4,,
Codes only,https://codes.example/,carl,,,otpauth://totp/Codes:carl?secret=KRSXG5A
CSV
expect_status 0 vauban import "$TMPDIR/apple.csv"
expect_text '3 added, 0 already exist, 0 not imported' "$TMPDIR/err"
[ "$(vauban get example.com/anna)" = p3 ] || fail 'the name alone does not select the password'
shows example.com/anna 'Label:           Example (anna)'
shows example.com/anna 'Comment:         first, line'
shows example.com/anna '                 second line'
[ "$(vauban get otpauth:example.com/anna)" = 'otpauth://totp/Example:anna?secret=JBSWY3DPEHPK3PXP&issuer=Example' ] || fail 'the one-time codes were not stored'
[ "$(vauban get otpauth:codes.example/carl)" = 'otpauth://totp/Codes:carl?secret=KRSXG5A' ] || fail 'one-time codes without a password were not stored'
shows otpauth:example.com/anna 'Description:     one-time codes'
vauban list --json >"$TMPDIR/out"; for name in $(vauban list | cut -f1); do vauban show "$name"; done >>"$TMPDIR/out" 2>&1
grep -q JBSWY3DPEHPK3PXP "$TMPDIR/out" && fail 'the key of one-time codes is shown as an attribute'
expect_status 44 vauban get codes.example/carl
expect_status 0 vauban import "$TMPDIR/apple.csv"
expect_text '0 added, 3 already exist' "$TMPDIR/err"
sed 's/JBSWY3DPEHPK3PXP/KRSXG5BAKRSXG5BA/' "$TMPDIR/apple.csv" >"$TMPDIR/other.csv"
expect_status 1 vauban import "$TMPDIR/other.csv"
expect_text 'line 2: already exists, incomplete: example.com/anna: its otpauth: it already exists with another password' "$TMPDIR/err"
grep -q KRSXG5BAKRSXG5BA "$TMPDIR/err" && fail 'a message shows the key of one-time codes'

# More items of each kind, all of which are exported.
printf 'a\0b\377\n' | vauban add bytes/x --keep-newline 2>/dev/null
printf '' | vauban add empty/x --empty
head -c 1000000 /dev/urandom | vauban add large/x
printf late | vauban add late/x --when after-first-unlock
printf here | vauban add here/x --this-device
printf '{"service":"rich","account":"r","secret":"s","comment":"c","generic":{"base64":"AP8="},"creator":1635017060,"isInvisible":true,"description":"d","alias":"al"}' |
    vauban add --json - 2>/dev/null || fail 'add --json failed'
set_passcode
printf 'of the bank' | vauban add bank/x --require presence || fail 'add failed'
names='accounts.example/anna router.example/admin example.com/anna bare.example/bert otpauth:example.com/anna otpauth:codes.example/carl bytes/x empty/x large/x late/x rich/r'
described $names >"$TMPDIR/before"
secret='a passphrase of its own'
# out STATUS FILE [OPTION...]: exports with passcode and passphrase on descriptors.
out() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" export "$@" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<"$secret" </dev/null; }
out 0 "$TMPDIR/backup"
expect_text '12 items exported.' "$TMPDIR/err"
expect_text '1 item left out (this device only)' "$TMPDIR/err"
[ "$(stat -c %a "$TMPDIR/backup")" = 600 ] || fail 'others can read the export'
grep -aqE 'example|anna|of the bank|rich' "$TMPDIR/backup" && fail 'the export is not encrypted'
[ "$(head -c 15 "$TMPDIR/backup")" = 'VAUBAN EXPORT 1' ] || fail 'the export does not begin with its file type'
out 64 "$TMPDIR/backup"
ln -s "$TMPDIR/nowhere" "$TMPDIR/link"
out 64 "$TMPDIR/link"
expect_text 'already exists' "$TMPDIR/err"
# A file gets its name when it is complete: of two exports at once the earlier one is refused, and one that was killed leaves no export.
mkfifo "$TMPDIR/first" "$TMPDIR/second"
inode() { stat -c %i "$TMPDIR/twice.partial" 2>/dev/null || echo none; }
# begin FIFO: starts an export that waits for its passphrase, and waits until it has made its file.
begin() {
    before=$(inode)
    setsid "$VAUBAN_BUILD/vauban" export "$TMPDIR/twice" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<>"$1" </dev/null >"$1.out" 2>&1 &
    run=$!
    while now=$(inode); [ "$now" = "$before" ] || [ "$now" = none ]; do
        kill -0 $run 2>/dev/null || { cat "$1.out"; fail 'an export ended before it had a passphrase'; }
    done
}
begin "$TMPDIR/first"; earlier=$run
begin "$TMPDIR/second"
printf '%s\n' "$secret" >"$TMPDIR/first"
wait $earlier
[ $? = 53 ] || { cat "$TMPDIR/first.out"; fail 'two exports wrote one file'; }
expect_text 'Another command is writing' "$TMPDIR/first.out"
[ -e "$TMPDIR/twice.partial" ] || fail 'the earlier export removed the file of the later one'
kill -KILL $run; wait $run 2>/dev/null
[ ! -e "$TMPDIR/twice" ] || fail 'an export that was killed left an incomplete file under its name'
out 0 "$TMPDIR/twice"
[ -e "$TMPDIR/twice" ] && [ ! -e "$TMPDIR/twice.partial" ] || fail 'the remains of a killed export were left'
out 0 "$TMPDIR/whole" --this-device
expect_text '13 items exported.' "$TMPDIR/err"
out 0 -
cp "$TMPDIR/out" "$TMPDIR/piped"

# The passcode is required although the keychain is unlocked; a wrong one exports nothing.
expect_status 51 setsid --wait "$VAUBAN_BUILD/vauban" export "$TMPDIR/none" --passcode-fd 3 --passphrase-fd 4 3<<<'not it' 4<<<"$secret"
expect_status 36 setsid --wait "$VAUBAN_BUILD/vauban" export "$TMPDIR/none" --passphrase-fd 4 4<<<"$secret" </dev/null
expect_status 36 setsid --wait "$VAUBAN_BUILD/vauban" export "$TMPDIR/none" --passcode-fd 3 3<<<"$passcode" </dev/null
secret=short; vauban export "$TMPDIR/none" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<"$secret" >"$TMPDIR/out" 2>"$TMPDIR/err" && fail 'a short passphrase was accepted'
expect_text 'at least 8 characters' "$TMPDIR/err"
[ ! -e "$TMPDIR/none" ] || fail 'an export that failed left a file'
secret='a passphrase of its own'

# On a terminal the user types passcode and passphrase, once each.
play "$VAUBAN_BUILD/vauban" export "$TMPDIR/typed" >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'an export on a terminal failed'; }
expect Passcode to export all items
secret $passcode
expect Passphrase of the export
secret short
expect at least 8 characters
expect Passphrase of the export
secret $secret
expect Repeat:
secret $secret
absent bank/x
expect 12 items exported
STEPS

# An independent reader: the format is that of Specs/export.md.
cat >"$TMPDIR/read.py" <<'PYTHON'
import hashlib, struct, sys
try:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError:
    sys.exit(77)
data = open(sys.argv[1], "rb").read()
header, rest = data[:35], data[35:]
assert header[:16] == b"VAUBAN EXPORT 1\n"
n, r, p = 1 << header[32], header[33], header[34]
key = hashlib.scrypt(sys.argv[2].encode(), salt=header[16:32], n=n, r=r, p=p, maxmem=256 * n * r, dklen=32)
number = 0
while True:
    length, = struct.unpack(">I", rest[:4])
    frame, rest = rest[4:4 + length], rest[4 + length:]
    last = not rest
    plain = AESGCM(key).decrypt(number.to_bytes(11, "big") + bytes([last]), frame, header)
    if last: break
    number += 1
    size, = struct.unpack(">I", plain[:4])
    sys.stdout.buffer.write(plain[4 + size:] + b"\n")
assert struct.unpack(">I", plain) == (number,), "the count is another"
PYTHON
python3 "$TMPDIR/read.py" "$TMPDIR/backup" "$secret" >"$TMPDIR/read"; status=$?
if [ $status = 77 ]; then echo 'no cryptography module for python3 here: the format was not read by another program'; else
    [ $status = 0 ] && grep -aqx 'of the bank' "$TMPDIR/read" && grep -aq JBSWY3DPEHPK3PXP "$TMPDIR/read" || fail 'another program reads other values'
fi

# Unencrypted only on request, with a warning.
expect_status 0 setsid --wait "$VAUBAN_BUILD/vauban" export --plain "$TMPDIR/plain.json" --passcode-fd 3 3<<<"$passcode"
expect_text 'Warning: This file is not encrypted' "$TMPDIR/err"
python3 -c 'import json, sys; items = json.load(open(sys.argv[1])); assert len(items) == 12 and all("secret" in item for item in items)' \
    "$TMPDIR/plain.json" || fail 'the plain export is no JSON'
expect_status 64 vauban export --plain "$TMPDIR/x" --passphrase-fd 4 4<<<"$secret"

# Imported into a new keychain: attributes and bytes are the same.
back() { expect_status "$1" vauban import "$2" --passphrase-fd 4 4<<<"${3:-$secret}"; }
for file in backup piped; do
    new_keychain; set_passcode
    back 0 "$TMPDIR/$file"
    expect_text '12 added, 0 already exist, 0 not imported' "$TMPDIR/err"
    described $names | diff "$TMPDIR/before" - || fail 'the imported items differ from the exported ones'
    [ "$(vauban list bank/x)" = "bank/x	unlocked	prompts" ] || fail 'an item that required approval no longer does'
    [ "$(vauban get bank/x --passcode-fd 3 3<<<"$passcode")" = 'of the bank' ] || fail 'the secret of an item that requires approval differs'
    back 1 "$TMPDIR/$file"
    expect_text '0 added, 11 already exist, 1 not imported' "$TMPDIR/err"
done
printf other | vauban set late/x --replace
back 1 "$TMPDIR/backup"
expect_text 'not imported: late/x: it already exists with another password' "$TMPDIR/err"
[ "$(vauban get late/x)" = other ] || fail 'an import changed existing items'
new_keychain; set_passcode
expect_status 0 vauban import "$TMPDIR/plain.json"
described $names | diff "$TMPDIR/before" - || fail 'the items imported from JSON differ from the exported ones'

# Nothing is imported from an incomplete file.
new_keychain
back 51 "$TMPDIR/backup" 'another passphrase'
expect_status 64 vauban import "$TMPDIR/apple.csv" --passphrase-fd 4 4<<<"$secret"
size=$(stat -c %s "$TMPDIR/backup")
for cut in 20 35 40 200 $((size - 1)) $((size - 24)) $((size / 2)); do
    head -c $cut "$TMPDIR/backup" >"$TMPDIR/cut"; vauban import "$TMPDIR/cut" --passphrase-fd 4 4<<<"$secret" 2>/dev/null &&
        fail "an export that was cut to $cut bytes was imported"
done
# changed OFFSET BYTE: replaces the byte at this offset.
changed() { cp "$TMPDIR/backup" "$TMPDIR/cut"; printf "$2" | dd of="$TMPDIR/cut" bs=1 seek="$1" conv=notrunc 2>/dev/null; }
for place in 16 40 300 $((size / 2)) $((size - 1)); do
    changed $place "$(printf '\\%03o' $(($(od -An -tu1 -j $place -N 1 "$TMPDIR/backup") ^ 1)))"
    vauban import "$TMPDIR/cut" --passphrase-fd 4 4<<<"$secret" 2>/dev/null && fail "an export that was altered at offset $place was imported"
done
changed 32 '\040'
back 64 "$TMPDIR/cut"
expect_text 'more computation than this version allows' "$TMPDIR/err"
cat "$TMPDIR/backup" "$TMPDIR/backup" >"$TMPDIR/cut"
back 64 "$TMPDIR/cut"
vauban list 2>&1 | grep -q 'No items yet' || fail 'a part of a damaged export was imported'
echo 'exports of other programs are imported, and exports of vauban are imported unchanged'
