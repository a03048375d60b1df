#!/usr/bin/env bash
# Items on the command line: set, get, list and delete, the sources of a secret, and the exit statuses.
set -u
. Tests/Scripts/lib/command-line.sh

# With the first item, set warns that without a passcode nothing is protected on the disk; with the second it prints nothing.
printf 'hunter2\n' | vauban set github/anna 2>"$TMPDIR/err" || fail 'set failed'
expect_text 'anyone who has the disk' "$TMPDIR/err"
printf second | vauban set github/bert 2>"$TMPDIR/err" || fail 'set failed'
[ ! -s "$TMPDIR/err" ] || { cat "$TMPDIR/err"; fail 'a second set printed a warning'; }

# get prints the secret and nothing else: no newline into a pipe, one on a terminal.
vauban get github/anna >"$TMPDIR/out" 2>"$TMPDIR/err" || fail 'get failed'
printf hunter2 | cmp - "$TMPDIR/out" || fail 'get printed something else'
[ ! -s "$TMPDIR/err" ] || fail 'get printed something on standard error'
play "$VAUBAN_BUILD/vauban" get github/anna </dev/null >"$TMPDIR/out" || fail 'get on a terminal failed'
printf 'hunter2\n' | cmp - "$TMPDIR/out" || fail 'get on a terminal printed something else'

# A name and options select the same item; a secret is binary data, and can also come from a descriptor.
head -c 70000 /dev/urandom >"$TMPDIR/binary"
vauban set -s binary -a x --keep-newline --secret-fd 5 5<"$TMPDIR/binary" || fail 'set from a descriptor failed'
vauban get binary/x | cmp - "$TMPDIR/binary" || fail 'bytes were changed'
vauban get --service binary --account x | cmp - "$TMPDIR/binary" || fail 'options select another item than the name'
printf 'a\n\n' | vauban set newline && vauban get newline >"$TMPDIR/out"
printf 'a\n' | cmp - "$TMPDIR/out" || fail 'not exactly one newline was dropped'
printf '' | vauban set empty --empty && vauban get empty | cmp - /dev/null || fail 'an empty secret is not empty'
detached set empty/two --empty && vauban get empty/two | cmp - /dev/null || fail 'an empty secret was not stored'

# An empty pipe, as of a writer that failed, replaces nothing.
printf kept | vauban set pipe/x
for verb in 'set pipe/x --replace' 'update pipe/x' 'add pipe/new' 'set pipe/new' 'set pipe/x --replace --hex'; do
    # Unquoted deliberately: several words.
    expect_status 64 vauban $verb < <(false)
    expect_text 'The secret is empty; nothing was changed' "$TMPDIR/err"
    expect_status 64 vauban $verb < <(echo)
done
expect_status 64 vauban update pipe/x --secret-fd 5 5</dev/null
[ "$(vauban get pipe/x)" = kept ] || fail 'an empty pipe erased a secret'
expect_status 44 vauban get pipe/new
head -c 1048577 /dev/zero >"$TMPDIR/large"
expect_status 64 vauban set large --secret-fd 5 5<"$TMPDIR/large"

# With --replace a second set is an update: there is still one item, with its protection.
printf pw | vauban set ci/deploy --when after-first-unlock || fail 'set --when failed'
expect_status 45 detached_with changed set ci/deploy
expect_text 'ci/deploy' "$TMPDIR/err"
expect_text '--replace' "$TMPDIR/err"
expect_text 'vauban set ci/deploy --replace' "$TMPDIR/err"
[ "$(vauban get ci/deploy)" = pw ] || fail 'a refused set changed the secret'
printf changed | vauban set ci/deploy --replace || fail 'the update failed'
[ "$(vauban get ci/deploy)" = changed ] || fail 'the update changed nothing'
[ "$(vauban list ci/deploy)" = "ci/deploy	after-first-unlock" ] || fail 'the update changed the protection'
printf changed | vauban set ci/deploy --when unlocked --replace
[ "$(vauban list ci/deploy)" = "ci/deploy	unlocked" ] || fail 'the protection was not changed'

# More than one match: all are named, none is changed.
expect_status 64 vauban get github
expect_text 'vauban get --service github --account anna' "$TMPDIR/err"
[ ! -s "$TMPDIR/out" ] || fail 'an ambiguous get printed something'
expect_status 64 vauban delete github
expect_status 0 vauban get github/bert
# An item without an account is a separate one, and can be selected.
printf alone | vauban set github
[ "$(vauban get github --account '' 2>/dev/null)" = '' ] || fail 'a name is accepted together with an option'
[ "$(vauban get --service github --account '')" = alone ] || fail 'the item without an account cannot be selected'
printf slashes | vauban set --service team/mail --account anna 2>/dev/null || fail 'a service with a slash was not stored'
vauban list | grep -q '^team/mail/anna' || { vauban list; fail 'the name with two slashes is not listed'; }
[ "$(vauban get team/mail/anna)" = slashes ] || fail 'an item does not have the name under which it is listed'
printf 'by the first' | vauban set team/mail/anna 2>/dev/null || fail 'a name was not split at the first slash'
[ "$(vauban get team/mail/anna)" = 'by the first' ] || fail 'a name is split at the first slash only sometimes'
[ "$(vauban get --service team/mail --account anna)" = slashes ] || fail 'another item was overwritten'
vauban delete --service team/mail --account anna 2>/dev/null && vauban delete team/mail/anna 2>/dev/null || fail 'the items cannot be deleted'

# Servers.
printf web | vauban set --server example.com -a 'anna o'"'"'hara' --protocol https --port 8443 --path /login || fail 'set --server failed'
[ "$(vauban get --server example.com)" = web ] || fail 'get --server failed'
[ "$(vauban get "example.com/anna o'hara")" = web ] || fail 'server/account in one word failed'
printf web2 | vauban set --server example.com -a bert
expect_status 64 vauban get --server example.com
expect_text "--account 'anna o'\\''hara' --protocol https --port 8443 --path /login" "$TMPDIR/err"

# Control characters in a name do not reach the terminal.
printf x | vauban set -s "$(printf 'evil\033[2J\342\200\256name')" -a y
vauban list >"$TMPDIR/out"
expect_text 'evil\u{1b}[2J\u{202e}name/y' "$TMPDIR/out"
grep -q "$(printf '\033')" "$TMPDIR/out" && fail 'an escape sequence reached the output'
grep -qE 'hunter2|changed|web' "$TMPDIR/out" && fail 'list shows a secret'

# Exit statuses.
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
# Where there is no keychain, nothing takes the place of another program; undoing that needs none.
(
    unset VAUBAN_HOME
    export XDG_CONFIG_HOME=$TMPDIR/none/config XDG_DATA_HOME=$TMPDIR/none/data
    mkdir -p "$XDG_CONFIG_HOME/chromium"
    for words in 'enable secret-service' 'enable browser' 'ssh enable'; do
        # shellcheck disable=SC2086
        expect_status 53 detached $words; expect_text 'Vauban is not set up here: run vauban setup' "$TMPDIR/err"
    done
    [ -z "$(find "$TMPDIR/none" ! -type d)" ] || { find "$TMPDIR/none"; fail 'something is enabled without a keychain'; }
    # shellcheck disable=SC2086
    for words in 'disable secret-service' 'disable browser' 'ssh disable'; do expect_status 0 detached $words; done
) || exit 1
# This installation has no service.
expect_status 64 vauban protect -- true; expect_text 'Only the installed service has it; see Manual/integrity.md' "$TMPDIR/err"

# On a terminal the secret is typed twice, without echo; Ctrl-C changes nothing.
play "$VAUBAN_BUILD/vauban" set typed/x >"$TMPDIR/out" <<'STEPS' || fail 'a typed secret was not stored'
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
[ $? = 128 ] || fail 'Ctrl-C does not end with 128'
expect_status 44 vauban get typed/y
# Editing keys: deleted characters are not stored.
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
# After an empty line the secret is requested again.
play "$VAUBAN_BUILD/vauban" set typed/e >/dev/null <<'STEPS' || fail 'an empty line ended set'
expect Secret for typed/e
key enter
expect The secret is empty
expect Secret for typed/e
secret some
expect Repeat:
secret some
STEPS
[ "$(vauban get typed/e)" = some ] || fail 'the typed secret was not stored'

# On a terminal, set names what it would replace and asks for confirmation; so does delete.
play "$VAUBAN_BUILD/vauban" set typed/x >"$TMPDIR/out" <<'STEPS'
expect typed/x; last changed
expect Replace its secret?
send no
STEPS
[ $? = 128 ] || fail '"no" does not end with 128'
[ "$(vauban get typed/x)" = 'not shown' ] || fail '"no" replaced the secret'
play "$VAUBAN_BUILD/vauban" set typed/x >"$TMPDIR/out" <<'STEPS' || fail '"yes" did not replace the secret'
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
[ $? = 128 ] || fail 'Ctrl-C does not end with 128'
expect_status 0 vauban get typed/x
play "$VAUBAN_BUILD/vauban" delete typed/x >"$TMPDIR/out" <<'STEPS' || fail '"yes" did not delete the item'
expect Delete it?
send yes
STEPS
expect_status 44 vauban get typed/x
play "$VAUBAN_BUILD/vauban" delete typed/y --yes </dev/null >"$TMPDIR/out"; [ $? = 44 ] || fail 'deleting a missing item did not end with 44'
play "$VAUBAN_BUILD/vauban" delete typed/z --yes </dev/null >"$TMPDIR/out" || fail 'delete --yes did not delete without confirmation'
# Host names ignore case: stored in lower case and found in any case, also if a program stored upper case.
printf first | vauban add --server GitHub.COM --account anna || fail 'add failed'
[ "$(vauban get GITHUB.com/anna)" = first ] && [ "$(vauban list GitHub.com)" = 'github.com/anna	unlocked' ] || fail 'a host name in another case is not the same'
expect_status 45 vauban add --server github.COM --account anna <<<again
printf second | vauban set --server GITHUB.COM --account anna --replace || fail 'set failed'
[ "$(vauban list github.com)" = 'github.com/anna	unlocked' ] || fail 'a host name in another case created another item'
printf '[{"class": "internet password", "server": "Kept.Example", "account": "anna", "secret": "so"}]' | vauban add --json - >/dev/null || fail 'add --json failed'
[ "$(vauban get Kept.Example/anna)" = so ] || fail 'an item stored with upper case is not found'
printf one | vauban add Service/anna && printf two | vauban add service/anna || fail 'services ignore case'

# Columns are aligned also with ideographs, combining accents and emoji in the names.
for name in 日本語/花子 "Zoe$(printf '\314\210')/x" 'mail🔑/y' plain/z; do printf x | vauban add "wide-$name" || fail 'add failed'; done
play "$VAUBAN_BUILD/vauban" find wide- </dev/null | tr -d '\r' >"$TMPDIR/out"
/usr/bin/python3 - "$TMPDIR/out" <<'PROGRAM' || { cat "$TMPDIR/out"; fail 'the columns are not aligned'; }
import sys, unicodedata
columns = set()
for line in open(sys.argv[1]):
    if "unlocked" in line:
        columns.add(sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line[:line.index("unlocked")]))
assert len(columns) == 1, columns
PROGRAM
echo 'items are stored, found, listed and deleted as the manual describes'
