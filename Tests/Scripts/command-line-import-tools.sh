#!/usr/bin/env bash
# With the real programs, from Debian: an export by KeePassXC of its own database, and a tree created by pass and gpg.
set -u
. Tests/Scripts/lib/command-line.sh
for tool in keepassxc-cli pass gpg gpgconf; do command -v $tool >/dev/null || { echo "there is no $tool here; scripts/prerequisites test installs it"; exit 77; }; done
is() { [ "$1" = "$2" ] || fail "$3: it is \"$1\", not \"$2\""; }

# KeePassXC: groups, an entry without an address, a bare host name, quotes and lines.
db=$TMPDIR/passwords.kdbx
keepassxc() { keepassxc-cli "$@" >"$TMPDIR/kx.out" 2>"$TMPDIR/kx.err" || { cat "$TMPDIR/kx.err"; fail "keepassxc-cli $1"; }; }
printf 'kdbx\nkdbx\n' | keepassxc db-create -q -p -t 100 "$db"
printf 'kdbx\n' | keepassxc mkdir -q "$db" Work
printf 'kdbx\nkx, "one"\n' | keepassxc add -q -u anna --url https://example.com/login --notes $'line one\nline two' -p "$db" Work/Example
printf 'kdbx\nkx-two\n' | keepassxc add -q -u bert --url example.org -p "$db" Bare
printf 'kdbx\nkx-three\n' | keepassxc add -q -p "$db" 'No address'
expect_status 64 vauban import "$db"
expect_text 'keepassxc-cli export --format xml' "$TMPDIR/err"
printf 'kdbx\n' | keepassxc-cli export -q --format csv "$db" >"$TMPDIR/kx.csv" || fail 'keepassxc-cli exports nothing'
expect_status 0 vauban import - <"$TMPDIR/kx.csv"
expect_text '3 added' "$TMPDIR/err"
is "$(vauban get example.com/anna)" 'kx, "one"' 'a password of KeePassXC'
is "$(vauban get --server example.org)" kx-two 'one of a bare host name'
is "$(vauban get 'No address')" kx-three 'one without an address'
vauban show example.com/anna >"$TMPDIR/out"
expect_text 'line one' "$TMPDIR/out"; expect_text '                 line two' "$TMPDIR/out"
expect_text 'Group: Passwords/Work' "$TMPDIR/out"

# Its XML: the same, with an earlier password, the names of attached files, and the recycle bin.
printf 'kdbx\nkx-new\n' | keepassxc edit -q -p "$db" Work/Example
printf 'not a deed' >"$TMPDIR/deed.pdf"
printf 'kdbx\n' | keepassxc attachment-import -q "$db" Work/Example deed.pdf "$TMPDIR/deed.pdf"
printf 'kdbx\nkx-gone\n' | keepassxc add -q -p "$db" Gone
printf 'kdbx\n' | keepassxc rm -q "$db" Gone
new_keychain
printf 'kdbx\n' | keepassxc-cli export -q --format xml "$db" >"$TMPDIR/kx.xml" || fail 'keepassxc-cli exports no XML'
expect_status 1 vauban import - <"$TMPDIR/kx.xml"
expect_text '3 added, 0 already exist, 1 not imported; 1 incomplete' "$TMPDIR/err"
expect_text 'not imported: it is in the recycle bin' "$TMPDIR/err"
expect_text 'left: attached file deed.pdf' "$TMPDIR/out"
is "$(vauban get example.com/anna)" kx-new 'a password of KeePassXC'
vauban get fields:example.com/anna >"$TMPDIR/out" || fail 'an earlier password was lost'
grep -qx 'earlier password until 20[0-9-]*T[0-9:]*Z: kx, "one"' "$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'the earlier password differs'; }
is "$(vauban get --server example.org)" kx-two 'one of a bare host name'
is "$(vauban get 'No address')" kx-three 'one without an address'
is "$(vauban list --tag Work | cut -f1)" example.com/anna 'an entry by its group'
vauban show example.com/anna >"$TMPDIR/out"
expect_text 'imported from: KeePassXC' "$TMPDIR/out"
expect_text 'line one' "$TMPDIR/out"; expect_text '                 line two' "$TMPDIR/out"

# pass: a tree created with a key that has no passphrase, and a separate gpg-agent.
export GNUPGHOME=$TMPDIR/gnupg PASSWORD_STORE_DIR=$TMPDIR/store
mkdir -m 700 "$GNUPGHOME"
trap 'gpgconf --kill gpg-agent 2>/dev/null; vauban stop >/dev/null 2>&1' EXIT
gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-gen-key 'Vauban test <test@vauban.example>' default default never \
    2>"$TMPDIR/gpg.err" || { cat "$TMPDIR/gpg.err"; echo 'gpg cannot create a key here'; exit 77; }
pass init test@vauban.example >/dev/null 2>&1 || fail 'pass init failed'
keep() { pass insert -m -f "$1" >/dev/null 2>&1 || fail "pass could not store $1"; }
printf 'pass-one\n' | keep web/github.com/anna
printf 'pass-two\nurl: https://example.com/login\nlogin: anna\npin: 4711\notpauth://totp/Example:anna?secret=JBSWY3DPEHPK3PXP\nfree text\n' | keep example
printf 'pass-three\nhttps://not-a-key.example/\nuser: carl\n' | keep mail/office/main
printf '\nonly a note\n' | keep notes/plan
printf 'pass-four\nurl: example.net\n' | keep sites/example.net/dora
# The format of "pass otp insert": the address alone.
printf 'otpauth://totp/Code:eva?secret=JBSWY3DPEHPK3PXP\n' | keep codes/eva
printf 'otpauth://totp/Code:finn?issuer=Code\n' | keep codes/finn
# A key file is no text: its bytes stay as they are.
printf 'key\0\r\n\n\377\n\n' >"$TMPDIR/key"
keep keys/disk <"$TMPDIR/key"
# Names that begin with a dot, beside files that are not passwords.
printf 'pass-five\n' | keep .hidden/.gina
mkdir "$PASSWORD_STORE_DIR/.git" "$PASSWORD_STORE_DIR/.extensions" || fail 'mkdir failed'
cp "$PASSWORD_STORE_DIR/example.gpg" "$PASSWORD_STORE_DIR/.git/" && cp "$PASSWORD_STORE_DIR/example.gpg" "$PASSWORD_STORE_DIR/.extensions/" || fail 'cp failed'
: >"$PASSWORD_STORE_DIR/.gitattributes"
new_keychain
printf 'not encrypted' >"$PASSWORD_STORE_DIR/broken.gpg"
printf x >"$PASSWORD_STORE_DIR/readme.txt"
ln -s /etc "$PASSWORD_STORE_DIR/link"
expect_status 1 vauban import --dry-run "$PASSWORD_STORE_DIR"
expect_text '9 would be added, 0 already exist, 3 not imported' "$TMPDIR/err"
expect_status 1 vauban import "$PASSWORD_STORE_DIR"
expect_text '9 added, 0 already exist, 3 not imported' "$TMPDIR/err"
for told in 'broken.gpg: not imported: gpg could not open it' 'readme.txt: not imported: it is not a password of pass' 'link: not imported: it is a link'; do
    expect_text "$told" "$TMPDIR/err"
done
is "$(vauban get web/github.com/anna)" pass-one 'what pass shows under this name'
vauban show web/github.com/anna >"$TMPDIR/out"; expect_text 'imported from: pass' "$TMPDIR/out"
is "$(vauban get example.com/anna)" pass-two 'one with an address'
is "$(vauban get otpauth:example.com/anna)" 'otpauth://totp/Example:anna?secret=JBSWY3DPEHPK3PXP' 'codes of pass'
is "$(vauban get otpauth:codes/eva)" 'otpauth://totp/Code:eva?secret=JBSWY3DPEHPK3PXP' 'what pass otp wrote'
vauban code get codes/eva >/dev/null || fail 'an item of pass otp gives no code'
expect_status 44 vauban get codes/eva
is "$(vauban get codes/finn)" 'one-time codes: otpauth://totp/Code:finn?issuer=Code' 'an address that gives no codes'
is "$(vauban get fields:example.com/anna)" $'notes: pin: 4711\n    free text' 'the other lines'
is "$(vauban get mail/office/main)" pass-three 'a name of three parts'
vauban get fields:mail/office/main >"$TMPDIR/out" || fail 'the other lines are not found'
expect_text 'not-a-key.example' "$TMPDIR/out"
expect_text 'user: carl' "$TMPDIR/out"
is "$(vauban get notes/plan)" 'only a note' 'one without a password'
is "$(vauban get --server example.net --account dora)" pass-four 'a user by the name of the file'
is "$(vauban get .hidden/.gina)" pass-five 'a name that begins with a dot'
vauban get keys/disk | cmp - "$TMPDIR/key" || fail 'a file that is no text has other bytes'
vauban list --json >"$TMPDIR/described"
grep -qE '4711|free text|issuer=Code|JBSWY3DPEHPK3PXP|only a note|not-a-key' "$TMPDIR/described" && fail 'a secret of pass is shown'
rm "$PASSWORD_STORE_DIR/broken.gpg" "$PASSWORD_STORE_DIR/readme.txt" "$PASSWORD_STORE_DIR/link"
expect_status 0 vauban import "$PASSWORD_STORE_DIR"
expect_text '0 added, 9 already exist' "$TMPDIR/err"
# Files that cannot be read are reported.
printf x >"$PASSWORD_STORE_DIR/"$'\377.gpg'
expect_status 1 vauban import "$PASSWORD_STORE_DIR"
expect_text 'not imported: its name is not UTF-8' "$TMPDIR/err"
rm "$PASSWORD_STORE_DIR/"$'\377.gpg'
mkdir "$TMPDIR/empty"
expect_status 64 vauban import "$TMPDIR/empty"
echo 'the passwords of KeePassXC and pass are in the keychain'
