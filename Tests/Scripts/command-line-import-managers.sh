#!/usr/bin/env bash
# Exports of other password managers: every part of every record is in the keychain, where Specs/import.md says, or the report names it as
# not imported. Secrets are in no attribute and in no report, and importing the same file again adds nothing.
set -u
. Tests/Scripts/lib/command-line.sh
command -v python3 >/dev/null || { echo 'there is no python3 here'; exit 77; }
golden=Vectors/import
comment() { vauban show "$@" --json | python3 -c 'import json, sys; print(json.load(sys.stdin).get("comment", ""))'; }
attribute() { key=$1; shift; vauban show "$@" --json | python3 -c 'import json, sys; print(json.load(sys.stdin).get(sys.argv[1], ""))' "$key"; }
is() { [ "$1" = "$2" ] || fail "$3: it is \"$1\", not \"$2\""; }
has() { case $1 in *"$2"*) ;; *) fail "$3: there is no \"$2\" in \"$1\"" ;; esac; }
# describes_none SECRET...: no list, description or report contains one of the secrets.
describes_none() {
    vauban list --json >"$TMPDIR/described"
    cat "$TMPDIR/out" "$TMPDIR/err" >>"$TMPDIR/described"
    for secret in "$@"; do grep -qF -- "$secret" "$TMPDIR/described" && fail "$secret is shown without a prompt"; done
    return 0
}
# again FILE STATUS COUNT: importing the same file again adds nothing and reports that.
again() { expect_status "$2" vauban import "$1"; expect_text "0 added, $3 already exist" "$TMPDIR/err"; grep -q ': added' "$TMPDIR/out" && fail "$1 was added twice"; return 0; }
# dry FILE STATUS: a dry run changes nothing, and its report differs from that of the import only in tense.
dry() {
    vauban list >"$TMPDIR/list-before" 2>/dev/null
    expect_status "$2" vauban import --dry-run --json "$1"
    cp "$TMPDIR/out" "$TMPDIR/dry"
    vauban list 2>/dev/null | cmp -s - "$TMPDIR/list-before" || fail 'a dry run changed the keychain'
}
same_as_dry() { python3 - "$TMPDIR/dry" "$TMPDIR/out" <<'PYTHON' || fail 'a dry run reports something else'
import json, sys
dry, real = (json.load(open(path)) for path in sys.argv[1:])
assert dry.pop("dryRun") and not real.pop("dryRun")
assert dry == real, (dry, real)
PYTHON
}
# imported FILE STATUS: a dry run, and then the import.
imported() { dry "$1" "$2"; expect_status "$2" vauban import --json "$1"; same_as_dry; }

# Chrome: all parts of an address are stored.
imported $golden/chrome.csv 0
is "$(vauban get example.com/anna)" 'chrome, "one"' 'a password of Chrome'
is "$(comment example.com/anna)" $'PIN of the parent: 4711\nsecond line\n\nimported from: chrome.csv' 'a note of Chrome'
# The name of an application is not stored as a server, nor as a name that a browser reads as one: its owner would be offered the password.
is "$(vauban get 'android.example (android)/bert')" chrome-two 'a password of an application'
has "$(comment 'android.example (android)/bert')" 'url: android://c2lnbmF0dXJl@com.example.app/' 'an address of Android'
is "$(attribute label 'android.example (android)/bert')" android.example 'the title of an application'
is "$(vauban get Birds/cora)" chrome-three 'a password of an application with a title'
for name in com.example.app com.example.birds android.example; do
    expect_status 44 vauban get "$name"
    expect_status 44 vauban get --server "$name"
done
again $golden/chrome.csv 0 3

# Firefox: realm, identifiers and dates.
new_keychain
imported $golden/firefox.csv 0
is "$(attribute securityDomain router.example/admin)" 'The router' 'a realm of Firefox'
has "$(comment accounts.example/anna)" 'guid: {c0ffee00-0000-4000-8000-000000000001}' 'what Firefox has'
has "$(comment accounts.example/anna)" 'timeCreated: 2023-11-14T22:13:20Z' 'what Firefox has'
again $golden/firefox.csv 0 2

# Apple's Passwords.
new_keychain
imported $golden/apple.csv 0
is "$(vauban get otpauth:example.com/anna)" 'otpauth://totp/Example:anna?secret=JBSWY3DPEHPK3PXP&issuer=Example' 'codes of Apple'
is "$(attribute description otpauth:example.com/anna)" 'one-time codes' 'what codes are known by'
describes_none JBSWY3DPEHPK3PXP apple-one

# KeePassXC: groups, entries without an address, bare host names, a duplicate name.
new_keychain
imported $golden/keepassxc.csv 0
is "$(vauban get 'Safe at home')" kx-one 'an entry without an address'
has "$(comment 'Safe at home')" 'left, then right' 'its notes'
has "$(comment 'Safe at home')" 'Group: Passwords' 'its group'
has "$(comment 'Safe at home')" 'Created: 2026-11-22T10:56:06Z' 'its date'
is "$(vauban get --server example.org --account bert)" kx-two 'a bare host name'
is "$(vauban get otpauth:codes.example/anna)" 'otpauth://totp/Codes:anna?secret=JBSWY3DPEHPK3PXP&period=30&digits=6&issuer=Codes' 'codes of KeePassXC'
has "$(comment codes.example/anna)" 'url: https://codes.example/login?next=/' 'the query of an address'
has "$(comment codes.example/anna)" 'Icon: 12' 'an icon'
is "$(vauban get Mail/anna)" kx-four 'the first of two'
is "$(vauban get -s 'Mail (Passwords/Work)' -a anna)" kx-five 'the second of two'
describes_none JBSWY3DPEHPK3PXP kx-
again $golden/keepassxc.csv 0 5

# KeePassXC, XML: everything but attached files and the recycle bin.
new_keychain
imported $golden/keepassxc.xml 1
python3 - "$TMPDIR/out" <<'PYTHON' || fail 'the report of KeePassXC differs'
import json, sys
report = json.load(open(sys.argv[1]))
assert (report["added"], report["present"], report["notTaken"]) == (5, 0, 1), report
top, notes, codes, clone, tray, gone = report["records"]
assert codes["left"] == ["attached file deed.pdf", "attached file draft.txt of an earlier version"], codes
assert codes["line"] == 107 and "PIN (protected)" in codes["carried"] and "one-time codes" in codes["carried"], codes
assert clone["changed"][:2] == [name + ": taken from the entry to which it refers" for name in ("password", "user name")], clone
assert "one-time codes: the key became an otpauth address" in tray["changed"], tray
assert (gone["outcome"], gone["reason"]) == ("notTaken", "it is in the recycle bin"), gone
PYTHON
is "$(vauban get codes.example/anna)" 'kx-one & "more"' 'a password of KeePassXC'
for part in $'left, <then> right\nsecond line' 'Branch: north' 'url: https://www.codes.example/' 'icon: 12' 'created: 2026-11-20T08:00:00Z' \
    'last modified: 2026-11-22T10:56:06Z' 'expires: 2027-01-02T00:00:00Z' 'imported from: KeePassXC'; do
    has "$(comment codes.example/anna)" "$part" 'a part of an entry'
done
is "$(attribute tags codes.example/anna)" "['Work', 'bank', 'Main']" 'group and tags'
is "$(vauban get otpauth:codes.example/anna)" 'otpauth://totp/Codes: anna?secret=JBSWY3DPEHPK3PXP&period=30&digits=6&issuer=Codes' 'codes of KeePassXC'
is "$(vauban code get codes.example/anna --at 59)" 996554 'a code of an address with a space'
for part in 'PIN: kx-pin' 'KeePassXC-Browser Settings: {"Allow":["codes.example"]}' 'auto-type of a window: Codes*: {PASSWORD}kx-typed{ENTER}' \
    'earlier password until 2026-11-22T10:56:06Z: kx-older' 'earlier password until 2026-11-21T09:30:00Z: kx-oldest'; do
    has "$(vauban get fields:codes.example/anna)" "$part" 'a protected field'
done
is "$(vauban get --server clone.example --account anna)" 'kx-one & "more"' 'what another entry has'
is "$(vauban get Tray/bert)" kx-three 'an entry without an address'
is "$(vauban get otpauth:Tray/bert)" 'otpauth://totp/Tray:bert?secret=JBSWY3DPEHPK3PXP&issuer=Tray&digits=8&period=60' 'codes of KeeTrayTOTP'
is "$(vauban get 'At the top')" kx-five 'an entry of the outermost group'
is "$(vauban get 'otpauth:At the top')" 'otpauth://totp/At%20the%20top?secret=JBSWY3DPEHPK3PXP&issuer=At%20the%20top&algorithm=SHA-256&digits=8' 'codes of KeePass'
is "$(vauban get Passwords/Work)" 'ask the office' 'the notes of a group'
vauban list >"$TMPDIR/list"; grep -q Gone "$TMPDIR/list" && fail 'an entry of the recycle bin was imported'
describes_none kx- JBSWY3DPEHPK3PXP 'ask the office'
again $golden/keepassxc.xml 1 5

# LastPass: bare keys of one-time codes, and complete secure notes.
new_keychain
imported $golden/lastpass.csv 0
is "$(vauban get otpauth:example.com/anna)" 'otpauth://totp/Example:anna?secret=JBSWY3DPEHPK3PXP&issuer=Example' 'a bare key of codes'
has "$(comment example.com/anna)" 'Recovery: ask anna' 'extra'
has "$(comment example.com/anna)" 'grouping: Work\Web' 'grouping'
has "$(comment example.com/anna)" 'fav: 1' 'fav'
is "$(comment plain.example/bert)" 'imported from: lastpass.csv' 'what is not so'
has "$(vauban get Bank)" 'Pin:lp-pin-1234' 'a secure note'
is "$(attribute description Bank)" 'secure note' 'its kind'
describes_none lp-pin-1234 JBSWY3DPEHPK3PXP
again $golden/lastpass.csv 0 3

# 1Password, CSV.
new_keychain
imported $golden/1password.csv 0
is "$(vauban get forum.example.org/anna)" op-one 'a password of 1Password'
is "$(attribute tags forum.example.org/anna)" "['social', 'work']" 'tags'
has "$(comment forum.example.org/anna)" 'Favorite: true' 'a favorite'
is "$(vauban get 'Token only')" op-two 'a password without an address'
has "$(comment 'Token only')" 'Archived: true' 'an archived item'
sed '1s/.*/Title,Website,Username,Password,One-time password,Favorite status,Archived status,Tags,Notes/' $golden/1password.csv >"$TMPDIR/other.csv"
sed -i 's/true/TRUE/; s/false/FALSE/' "$TMPDIR/other.csv"
new_keychain
imported "$TMPDIR/other.csv" 0
is "$(vauban get otpauth:forum.example.org/anna)" 'otpauth://totp/Forum:anna?secret=JBSWY3DPEHPK3PXP' 'codes under the other name'

# Bitwarden, CSV: it does not state which fields were hidden, so all are protected.
new_keychain
imported $golden/bitwarden.csv 0
is "$(vauban get example.com/anna)" bw-one 'a password of Bitwarden'
has "$(vauban get fields:example.com/anna)" 'bw-pin-1' 'fields'
has "$(comment example.com/anna)" 'url: https://www.example.net/' 'a second address'
has "$(comment example.com/anna)" 'folder: Social' 'a folder'
is "$(vauban get 'Secret plan')" bw-note-body 'a secure note'
describes_none bw-pin-1 bw-note-body JBSWY3DPEHPK3PXP

# Bitwarden, JSON: an invalid record and an empty one do not affect the others.
new_keychain
imported $golden/bitwarden.json 1
python3 - "$TMPDIR/out" <<'PYTHON' || fail 'the report of Bitwarden differs'
import json, sys
report = json.load(open(sys.argv[1]))
assert (report["added"], report["present"], report["notTaken"]) == (5, 0, 2), report
records = report["records"]
assert records[4]["item"] == "birds.example/anna", records[4]
assert records[0]["item"] == "example.com/anna" and "PIN (protected)" in records[0]["carried"], records[0]
assert [record.get("reason") for record in records[5:]] == ["it has no password", "it is not an object"], records
assert records[5]["line"] == 58, records[5]
PYTHON
is "$(vauban get example.com/anna)" bw-one 'a password of Bitwarden'
for part in 'open note' 'Branch: north' 'imported from: Bitwarden' 'Newsletter: true' 'folder: Social' 'favorite: true' 'creationDate: 2023-02-03' \
    'url: androidapp://com.example.app'; do
    has "$(comment example.com/anna)" "$part" 'a part of a login'
done
# If an application comes before the website, the password is stored for the website.
is "$(vauban get birds.example/anna)" bw-two 'a password of a website and its application'
has "$(comment birds.example/anna)" 'url: androidapp://com.example.birds' 'the address of the application'
[ -z "$(vauban get --server com.example.birds 2>/dev/null)" ] || fail 'an application became a server'
has "$(vauban get fields:example.com/anna)" 'PIN: bw-pin' 'a hidden field'
has "$(vauban get fields:example.com/anna)" 'earlier password until 2024-01-02T03:04:05.000Z: bw-old' 'an earlier password'
is "$(vauban get otpauth:example.com/anna)" 'otpauth://totp/Example:anna?secret=JBSWY3DPEHPK3PXP&issuer=Example' 'codes of Bitwarden'
is "$(vauban get 'Secret plan')" bw-note-body 'a secure note'
has "$(comment 'Secret plan')" 'reprompt: 1' 'a prompt'
for part in 'cardholderName: Anna B' 'number: 4111111111111111' 'code: 123' 'of the house'; do has "$(vauban get Card)" "$part" 'a card'; done
for part in 'firstName: Anna' 'ssn: bw-ssn'; do has "$(vauban get Identity)" "$part" 'an identity'; done
describes_none bw-one bw-pin bw-old bw-note-body 4111111111111111 bw-ssn JBSWY3DPEHPK3PXP
again $golden/bitwarden.json 1 5
expect_status 64 vauban import $golden/bitwarden-encrypted.json
expect_text 'This Bitwarden export is encrypted' "$TMPDIR/err"

# 1Password, 1pux.
new_keychain
pux() { python3 - "$@" <<'PYTHON'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("export.attributes", '{"version":3,"description":"1Password Unencrypted Export","createdAt":1700000000}')
    archive.write("Vectors/import/1password-export.data", "export.data")
    archive.writestr("files/d1__deed.pdf", "not a deed")
PYTHON
}
pux "$TMPDIR/a.1pux"
imported "$TMPDIR/a.1pux" 1
expect_text 'attached file deed.pdf' "$TMPDIR/out"
grep -q 'delete it' "$TMPDIR/err" && fail 'the report calls a source deletable that still contains a file'
is "$(vauban get example.com/anna)" op-one 'a password of 1Password'
for part in 'open note' 'Security / branch: north' 'imported from: 1Password' 'Security / mail: anna@example.com' 'vault: Personal' 'favorite: true' \
    'url: https://example.net/' 'createdAt: 2023-11-14T22:13:20Z'; do
    has "$(comment example.com/anna)" "$part" 'a part of a login'
done
is "$(attribute tags example.com/anna)" "['work', 'web']" 'tags'
for part in 'pin: op-extra' 'Security / recovery: op-recovery' 'op-old' 'Security / unknown: {"a":1.5}'; do
    has "$(vauban get fields:example.com/anna)" "$part" 'a protected field'
done
is "$(vauban get otpauth:example.com/anna)" 'otpauth://totp/Example:anna?secret=JBSWY3DPEHPK3PXP' 'codes of 1Password'
is "$(vauban get Plan)" op-note-body 'a secure note'
has "$(comment Plan)" 'state: archived' 'an archived note'
is "$(vauban get Router)" op-four 'a password without a login'
# One-time codes of a record that is not a login.
is "$(vauban get Rack)" 'Admin / console password: op-five' 'a server'
is "$(vauban get otpauth:Rack)" 'otpauth://totp/Rack: anna?secret=JBSWY3DPEHPK3PXP&issuer=' 'codes of a server'
is "$(vauban code get Rack --at 59)" 996554 'a code of a server'
is "$(vauban get otpauth:Token)" 'otpauth://totp/Token?secret=JBSWY3DPEHPK3PXP&issuer=Token' 'codes alone'
has "$(comment otpauth:Token)" 'vault: Personal' 'the vault of one-time codes alone'
[ -z "$(vauban get Token 2>/dev/null)" ] || fail 'one-time codes alone were also stored as a note'
describes_none op-one op-extra op-recovery op-old op-note-body op-five JBSWY3DPEHPK3PXP
again "$TMPDIR/a.1pux" 1 6

# A part that cannot be imported is distinguished from those that were.
printf 'otpauth://totp/other' | vauban set otpauth:example.com/anna --replace || fail 'set failed'
expect_status 1 vauban import --json "$TMPDIR/a.1pux"
python3 - "$TMPDIR/out" <<'PYTHON' || fail 'the report does not name the part that was left out'
import json, sys
record = json.load(open(sys.argv[1]))["records"][0]
assert record["outcome"] == "present" and record["reason"] == "its otpauth: it already exists with another password", record
assert record["left"] == ["otpauth"] and "password" in record["carried"] and "one-time codes" not in record["carried"], record
PYTHON
new_keychain
expect_status 1 vauban import $golden/1password-export.data
expect_text '6 added' "$TMPDIR/err"

# The item of additional fields has the protection of its item, and notes are where the option says.
new_keychain
expect_status 0 vauban import --protect-notes $golden/apple.csv
is "$(comment example.com/anna)" 'imported from: apple.csv' 'a note that is to be protected'
is "$(vauban get fields:example.com/anna)" $'notes: first, line\n    second line' 'a protected note'

# Only after everything was imported does the report say that the source can be deleted.
new_keychain
expect_status 0 vauban import $golden/apple.csv
expect_text 'delete it after checking' "$TMPDIR/err"
expect_text 'line 2: added: example.com/anna: password, user name, title, url, notes, one-time codes' "$TMPDIR/out"
expect_status 0 vauban import --dry-run $golden/apple.csv
grep -q 'delete it' "$TMPDIR/err" && fail 'after a dry run the report calls the source deletable'
sed 's/first, line/another line/' $golden/apple.csv >"$TMPDIR/other.csv"
expect_status 1 vauban import "$TMPDIR/other.csv"
expect_text 'left: notes: the existing item has different ones' "$TMPDIR/out"
expect_text 'keep it until' "$TMPDIR/err"
# The name of the file alone is no difference, and standard input has none.
cp $golden/apple.csv "$TMPDIR/copied.csv"
expect_status 0 vauban import "$TMPDIR/copied.csv"
grep -q 'left:' "$TMPDIR/out" && fail 'the name of a file is reported as a difference'
new_keychain
expect_status 0 vauban import - <$golden/chrome.csv
is "$(comment example.com/anna)" $'PIN of the parent: 4711\nsecond line' 'a note from standard input'
echo 'every part of every record is in its place, or the report names it as not imported'
