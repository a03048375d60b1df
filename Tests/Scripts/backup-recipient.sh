#!/usr/bin/env bash
# A backup for a recipient needs no passphrase, neither on this machine nor for the timer; its restore key alone opens it, as digits or
# encrypted; and what is damaged, or of another recipient, restores nothing.
# proves: C-059
set -u
. Tests/Scripts/lib/command-line.sh
secret='a passphrase of its own'
# asked STATUS WORDS...: with the passcode on a descriptor; with STATUS WORDS...: with a passphrase too; own STATUS WORDS...: with neither.
asked() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 3<<<"$passcode" </dev/null; }
with() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<"$secret" </dev/null; }
own() { expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null; }
text() { expect_text "$1" "$TMPDIR/err"; }
device() { export VAUBAN_HOME=$TMPDIR/$1; }
trap 'for home in "$TMPDIR"/keychain "$TMPDIR"/new; do VAUBAN_HOME=$home vauban stop; done >/dev/null 2>&1' EXIT
cd "$TMPDIR"

# The key pair: created without a keychain, and the private half exists only in the output.
own 0 backup --new-recipient home.recipient
text 'nothing else opens the backups of this recipient'
mv out home.key
[ "$(sed -n '1p' home.key)" = 'VAUBAN RESTORE KEY 1' ] && [ "$(sed -n '3,$p' home.key | grep -cE '^([0-9]{6}-){3}[0-9]{6}$')" = 4 ] ||
    fail 'the restore key is not four lines of digits'
digits=$(sed -n '3,$p' home.key | tr -d '\n-')
[ "$(sed -n '2s/sha256 //p' home.recipient)" = "$(sed -n '2s/recipient //p' home.key)" ] || fail 'the two halves do not name each other'
[ "$(sed -n '3,$p' home.recipient | base64 -d | sha256sum | cut -d' ' -f1)" = "$(sed -n '2s/sha256 //p' home.recipient)" ] || fail 'the recipient has another digest'
own 64 backup --new-recipient home.recipient
text 'already exists'
with 0 backup --new-recipient other.recipient --encrypt
mv out other.key
# A restore key that cannot be written makes no recipient.
vauban backup --new-recipient lost.recipient >/dev/full 2>err && fail 'a restore key was lost, and the command succeeded'
text 'no recipient was made'
[ ! -e lost.recipient ] && [ ! -e lost.recipient.partial ] || fail 'a recipient was left without its restore key'
grep -q '^scrypt 17 8 1 ' other.key && ! grep -qE '[0-9]{6}-' other.key || fail 'the restore key is not encrypted'
secret=short; with 64 backup --new-recipient third.recipient --encrypt; secret='a passphrase of its own'
own 36 backup --new-recipient third.recipient --encrypt
[ ! -e third.recipient ] || fail 'a file of a recipient without a restore key was left'
for words in '--new-recipient x --passphrase-fd 4' '--new-recipient x there' '--encrypt there' '--recipient home.recipient --restore-key home.key there'; do
    own 64 backup $words
done

# A backup for it needs the user's consent, and no passphrase.
set_passcode
printf 'of github' | vauban add github/anna || fail 'add failed'
head -c 100000 /dev/urandom | vauban add large/x
own 36 backup --recipient home.recipient folder/
[ ! -e folder/keybag ] || fail 'a backup was made without consent'
asked 0 backup --recipient home.recipient folder/
text '2 items backed up. Verified.'
not_kept "$digits"
asked 64 backup --recipient home.recipient folder/
text 'has its keys already'
# From then on it needs no user.
printf changed | vauban set github/anna --replace
own 0 backup folder
text '1 item backed up, 1 unchanged'
# For a recipient and a passphrase, in one file.
with 0 backup --recipient other.recipient both.backup
asked 0 backup --generate --recipient home.recipient generated.backup
mv out generated
# A passphrase that cannot be written makes no backup.
setsid --wait "$VAUBAN_BUILD/vauban" backup --generate lost.backup --passcode-fd 3 3<<<"$passcode" </dev/null >/dev/full 2>err &&
    fail 'a passphrase was lost, and the command succeeded'
text 'The passphrase could not be written to standard output: the disk is full'
[ ! -e lost.backup ] && [ ! -e lost.backup.partial ] || fail 'a backup was made whose passphrase nobody has'
# Invalid recipients.
sed '5s/^..../AAAA/' home.recipient >damaged.recipient
asked 64 backup --recipient damaged.recipient none; text 'is damaged'
asked 64 backup --recipient home.key none; text 'is not a recipient'
asked 64 backup --recipient absent none; text 'No such file'
sed '1s/1/2/' home.recipient >later.recipient
asked 64 backup --recipient later.recipient none; text 'later version'
[ ! -e none ] || fail 'a refused backup left a file'

# Another device, without a passphrase.
device new; new_keychain
refused() {
    expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" restore "${@:3}" 4<<<"$secret" </dev/null; text "$2"
    vauban list 2>&1 | grep -q 'No items yet' || fail "something was restored: ${*:3}"
}
refused 64 'has no passphrase' folder --passphrase-fd 4
refused 51 'of another recipient' folder --restore-key other.key --passphrase-fd 4
refused 36 'No terminal to ask' folder --restore-key other.key
secret='another passphrase'; refused 51 'passphrase of the restore key is wrong' both.backup --restore-key other.key --passphrase-fd 4
secret='a passphrase of its own'
sed '3s/^./x/' home.key >bad.key; refused 64 'not a restore key' folder --restore-key bad.key
sed '4s/^.\{6\}/000001/' home.key >bad.key; refused 64 'Group 5 of 16 of the restore key is mistyped' folder --restore-key bad.key
head -n 5 home.key >bad.key; refused 64 'has 96 digits, and this has 72' folder --restore-key bad.key
{ head -n 2 home.key; sed -n 4p home.key; sed -n 3p home.key; sed -n 5,6p home.key; } >bad.key; refused 64 'is damaged' folder --restore-key bad.key
sed '1s/1/2/' home.key >bad.key; refused 64 'later version' folder --restore-key bad.key
sed '2s/ .*/ 00/' other.key >bad.key; refused 51 'wrong, or the key was altered' both.backup --restore-key bad.key --passphrase-fd 4
own 0 restore folder --restore-key home.key
text '2 items added, 0 replaced, 0 unchanged, 0 not restored.'
[ "$(vauban get github/anna)" = changed ] || fail 'the folder has an earlier value'
# Each of the two ways, and digits alone, as they are typed from paper.
with 0 restore both.backup
text '2 unchanged'
with 0 restore both.backup --restore-key other.key
text '2 unchanged'
expect_status 0 setsid --wait "$VAUBAN_BUILD/vauban" restore generated.backup --restore-key - < <(sed -n '3,$p' home.key | tr - ' ')
text '2 unchanged'
expect_status 0 setsid --wait "$VAUBAN_BUILD/vauban" restore generated.backup --passphrase-fd 4 4<generated </dev/null
# It cannot add to the backup of the other device without the restore key.
own 51 backup folder
text 'without its passphrase or restore key'
asked 0 backup folder --restore-key home.key
text 'Verified'

# A timer, from the first run on: there was never a passphrase.
device keychain
export XDG_CONFIG_HOME=$TMPDIR/settings XDG_RUNTIME_DIR=$TMPDIR/run
mkdir -p settings tools run/systemd && chmod 700 run && touch run/systemd/private
printf '#!/bin/sh\nexit 0\n' >tools/systemctl && chmod 755 tools/systemctl
own 36 backup --recipient home.recipient --schedule daily nightly
[ -z "$(find settings -type f)" ] || fail 'something was scheduled without a backup'
PATH=$TMPDIR/tools:$PATH asked 0 backup --recipient home.recipient --schedule daily nightly
text '2 items backed up'
text 'Scheduled: systemd backs up to this folder daily'
grep -q '^ExecStart=.* backup .*--no-input.*nightly' settings/systemd/user/vauban-backup.service || fail 'the timer runs another command'
own 0 backup --no-input nightly
device new
own 0 restore nightly --restore-key home.key
echo 'backups for a recipient need no passphrase, and open with its restore key alone'
