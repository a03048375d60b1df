#!/usr/bin/env bash
# Items on the command line: what set, get, list and delete do, where a secret may come from, and how each ends.
set -u
. Tests/Scripts/lib/command-line.sh

# The first item says that without a passcode the disk protects nothing; the second says nothing.
printf 'hunter2\n' | vauban set github/anna 2>"$TMPDIR/err" || fail 'set failed'
expect_text 'anyone who has the disk' "$TMPDIR/err"
printf second | vauban set github/bert 2>"$TMPDIR/err" || fail 'set failed'
[ ! -s "$TMPDIR/err" ] || { cat "$TMPDIR/err"; fail 'a second set still talks'; }

# get prints the secret and nothing else: no newline into a pipe, one on a terminal.
vauban get github/anna >"$TMPDIR/out" 2>"$TMPDIR/err" || fail 'get failed'
printf hunter2 | cmp - "$TMPDIR/out" || fail 'get printed something else'
[ ! -s "$TMPDIR/err" ] || fail 'get said something besides'
play "$VAUBAN_BUILD/vauban" get github/anna </dev/null >"$TMPDIR/out" || fail 'get on a terminal failed'
printf 'hunter2\n' | cmp - "$TMPDIR/out" || fail 'get on a terminal printed something else'

# Words or options mean the same; a secret is bytes, and comes from a descriptor as well.
head -c 70000 /dev/urandom >"$TMPDIR/binary"
vauban set -s binary -a x --keep-newline --secret-fd 5 5<"$TMPDIR/binary" || fail 'set from a descriptor failed'
vauban get binary/x | cmp - "$TMPDIR/binary" || fail 'bytes were changed'
vauban get --service binary --account x | cmp - "$TMPDIR/binary" || fail 'options mean something else than the word'
printf 'a\n\n' | vauban set newline && vauban get newline >"$TMPDIR/out"
printf 'a\n' | cmp - "$TMPDIR/out" || fail 'not exactly one newline was dropped'
printf '' | vauban set empty --empty && vauban get empty | cmp - /dev/null || fail 'an empty secret is not empty'
detached set empty/two --empty && vauban get empty/two | cmp - /dev/null || fail 'an empty secret is not imported'

# What a pipe brings whose writer failed is nothing, and erases nothing.
printf kept | vauban set pipe/x
for verb in 'set pipe/x --replace' 'update pipe/x' 'add pipe/new' 'set pipe/new' 'set pipe/x --replace --hex'; do
    # The words are meant to be parted.
    expect_status 64 vauban $verb < <(false)
    expect_text 'The secret is empty; nothing was changed' "$TMPDIR/err"
    expect_status 64 vauban $verb < <(echo)
done
expect_status 64 vauban update pipe/x --secret-fd 5 5</dev/null
[ "$(vauban get pipe/x)" = kept ] || fail 'an empty pipe erased a secret'
expect_status 44 vauban get pipe/new
head -c 1048577 /dev/zero >"$TMPDIR/large"
expect_status 64 vauban set large --secret-fd 5 5<"$TMPDIR/large"

# A second set is an update, where it is said: the item stays one, and its protection stays.
printf pw | vauban set ci/deploy --when after-first-unlock || fail 'set --when failed'
expect_status 45 detached_with changed set ci/deploy
expect_text 'ci/deploy' "$TMPDIR/err"
expect_text '--replace' "$TMPDIR/err"
expect_text 'vauban set --replace' "$TMPDIR/err"
[ "$(vauban get ci/deploy)" = pw ] || fail 'a refused set changed the secret'
printf changed | vauban set ci/deploy --replace || fail 'the update failed'
[ "$(vauban get ci/deploy)" = changed ] || fail 'the update changed nothing'
[ "$(vauban list ci/deploy)" = "ci/deploy	after-first-unlock" ] || fail 'the update changed the protection'
printf changed | vauban set ci/deploy --when unlocked --replace
[ "$(vauban list ci/deploy)" = "ci/deploy	unlocked" ] || fail 'the protection was not changed'

# More than one match: all are named, none is touched.
expect_status 64 vauban get github
expect_text 'vauban get --service github --account anna' "$TMPDIR/err"
[ ! -s "$TMPDIR/out" ] || fail 'an ambiguous get printed something'
expect_status 64 vauban delete github
expect_status 0 vauban get github/bert
# An item without an account is another one, and can be meant.
printf alone | vauban set github
[ "$(vauban get github --account '' 2>/dev/null)" = '' ] || fail 'a word goes with no option'
[ "$(vauban get --service github --account '')" = alone ] || fail 'the item without an account cannot be meant'
printf slashes | vauban set --service team/mail --account anna 2>/dev/null || fail 'a service cannot have a slash'
vauban list | grep -q '^team/mail/anna' || { vauban list; fail 'the name with two slashes is not listed'; }
[ "$(vauban get team/mail/anna)" = slashes ] || fail 'an item does not have the name under which it is listed'
printf 'by the first' | vauban set team/mail/anna 2>/dev/null || fail 'the first slash does not separate'
[ "$(vauban get team/mail/anna)" = 'by the first' ] || fail 'the first slash separates only sometimes'
[ "$(vauban get --service team/mail --account anna)" = slashes ] || fail 'another item was overwritten'
vauban delete --service team/mail --account anna 2>/dev/null && vauban delete team/mail/anna 2>/dev/null || fail 'they cannot be deleted'

# Servers.
printf web | vauban set --server example.com -a 'anna o'"'"'hara' --protocol https --port 8443 --path /login || fail 'set --server failed'
[ "$(vauban get --server example.com)" = web ] || fail 'get --server failed'
[ "$(vauban get "example.com/anna o'hara")" = web ] || fail 'server/account in one word failed'
printf web2 | vauban set --server example.com -a bert
expect_status 64 vauban get --server example.com
expect_text "--account 'anna o'\\''hara' --protocol https --port 8443 --path /login" "$TMPDIR/err"

# A name cannot write to the terminal.
printf x | vauban set -s "$(printf 'evil\033[2J\342\200\256name')" -a y
vauban list >"$TMPDIR/out"
expect_text 'evil\u{1b}[2J\u{202e}name/y' "$TMPDIR/out"
grep -q "$(printf '\033')" "$TMPDIR/out" && fail 'an escape reached the output'
grep -qE 'hunter2|changed|web' "$TMPDIR/out" && fail 'list shows a secret'

# Exit codes.
expect_status 0 vauban delete github/anna
expect_status 44 vauban get github/anna
expect_text 'No item github/anna. To list' "$TMPDIR/err"
expect_status 44 vauban delete github/anna
expect_status 44 vauban list nothing/here
expect_status 64 vauban get
expect_status 64 vauban get a/b --service c
expect_status 64 vauban frobnicate
expect_status 64 vauban set x --when never
expect_status 64 vauban set --account only
expect_status 0 vauban --help
for verb in setup status passcode lock unlock set get list delete import approve serve stop settings recover erase; do
    expect_status 0 vauban "$verb" --help
    [ "$verb" = passcode ] || expect_text Example "$TMPDIR/out"
done
for verb in set change roll remove recovery-key; do
    expect_status 0 vauban passcode "$verb" --help
    expect_text Example "$TMPDIR/out"
done
(unset VAUBAN_HOME; expect_status 53 vauban get a/b; expect_text 'run vauban setup' "$TMPDIR/err") || exit 1

# A secret asked for on a terminal, twice, without echo; Ctrl-C leaves things as they were.
play "$VAUBAN_BUILD/vauban" set typed/x >"$TMPDIR/out" <<'STEPS' || fail 'a typed secret was not imported'
expect Secret for typed/x
secret not shown
expect Repeat:
secret not shown
STEPS
[ "$(vauban get typed/x)" = 'not shown' ] || fail 'another secret was stored than was typed'
grep -q 'not shown' "$TMPDIR/out" && fail 'the secret was shown'
play "$VAUBAN_BUILD/vauban" set typed/y >"$TMPDIR/out" <<'STEPS'
expect Secret for typed/y
key ctrl-c
STEPS
[ $? = 128 ] || fail 'Ctrl-C is not "cancelled"'
expect_status 44 vauban get typed/y
# Keys that edit: what was taken back is not stored.
play "$VAUBAN_BUILD/vauban" set typed/z >/dev/null <<'STEPS' || fail 'editing failed'
expect Secret for typed/z
secret wrong
expect Repeat:
secret other
expect The entries differ
expect Secret for typed/z
secret right
expect Repeat:
secret right
STEPS
[ "$(vauban get typed/z)" = right ] || fail 'the second attempt was not stored'
# Nothing typed is asked again.
play "$VAUBAN_BUILD/vauban" set typed/e >/dev/null <<'STEPS' || fail 'an empty line ended it'
expect Secret for typed/e
key enter
expect The secret is empty
expect Secret for typed/e
secret some
expect Repeat:
secret some
STEPS
[ "$(vauban get typed/e)" = some ] || fail 'the typed secret was not stored'

# On a terminal set says what it would replace, and asks; so does delete.
play "$VAUBAN_BUILD/vauban" set typed/x >"$TMPDIR/out" <<'STEPS'
expect typed/x; last changed
expect Replace its secret?
send no
STEPS
[ $? = 128 ] || fail 'no is not "cancelled"'
[ "$(vauban get typed/x)" = 'not shown' ] || fail 'no replaced the secret'
play "$VAUBAN_BUILD/vauban" set typed/x >"$TMPDIR/out" <<'STEPS' || fail 'yes does not replace'
expect Replace its secret?
send yes
expect Secret for typed/x
secret replaced
expect Repeat:
secret replaced
STEPS
[ "$(vauban get typed/x)" = replaced ] || fail 'the secret was not replaced'
play "$VAUBAN_BUILD/vauban" delete typed/x >"$TMPDIR/out" <<'STEPS'
expect typed/x; last changed
expect Delete it?
key ctrl-c
STEPS
[ $? = 128 ] || fail 'Ctrl-C is not "cancelled"'
expect_status 0 vauban get typed/x
play "$VAUBAN_BUILD/vauban" delete typed/x >"$TMPDIR/out" <<'STEPS' || fail 'yes does not delete'
expect Delete it?
send yes
STEPS
expect_status 44 vauban get typed/x
play "$VAUBAN_BUILD/vauban" delete typed/y --yes </dev/null >"$TMPDIR/out"; [ $? = 44 ] || fail 'what is not there is deleted'
play "$VAUBAN_BUILD/vauban" delete typed/z --yes </dev/null >"$TMPDIR/out" || fail '--yes asks'
# Hosts are the same in capitals: kept in small letters, found however they are typed, also where a program kept capitals.
printf first | vauban add --server GitHub.COM --account anna || fail 'add failed'
[ "$(vauban get GITHUB.com/anna)" = first ] && [ "$(vauban list GitHub.com)" = 'github.com/anna	unlocked' ] || fail 'a host in other letters is another one'
expect_status 45 vauban add --server github.COM --account anna <<<again
printf second | vauban set --server GITHUB.COM --account anna --replace || fail 'set failed'
[ "$(vauban list github.com)" = 'github.com/anna	unlocked' ] || fail 'a host in other letters made another item'
printf '[{"class": "internet password", "server": "Kept.Example", "account": "anna", "secret": "so"}]' | vauban add --json - >/dev/null || fail 'add --json failed'
[ "$(vauban get Kept.Example/anna)" = so ] || fail 'what was kept in capitals is not found'
printf one | vauban add Service/anna && printf two | vauban add service/anna || fail 'services are hosts'

# Columns stand below each other whatever the names are made of: ideographs, letters with accents of their own, emoji.
for name in 日本語/花子 "Zoe$(printf '\314\210')/x" 'mail🔑/y' plain/z; do printf x | vauban add "wide-$name" || fail 'add failed'; done
play "$VAUBAN_BUILD/vauban" find wide- </dev/null | tr -d '\r' >"$TMPDIR/out"
/usr/bin/python3 - "$TMPDIR/out" <<'PROGRAM' || { cat "$TMPDIR/out"; fail 'the columns do not stand below each other'; }
import sys, unicodedata
columns = set()
for line in open(sys.argv[1]):
    if "unlocked" in line:
        columns.add(sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line[:line.index("unlocked")]))
assert len(columns) == 1, columns
PROGRAM
echo 'items are kept, found, listed and deleted as the manual says'
