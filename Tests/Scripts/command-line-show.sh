#!/usr/bin/env bash
# Items without their secrets (show, find, --json), and add and update, which refuse where set does not.
set -u
. Tests/Scripts/lib/command-line.sh
# In the local time, as it is shown; the year may end during the test.
year=$(date +%Y)
# json PATH...: prints the value at these keys and indexes of the output; "length" prints the count.
json() { python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    value = len(value) if key == "length" else value[int(key)] if isinstance(value, list) else value.get(key)
print(value if isinstance(value, str) else json.dumps(value))' "$TMPDIR/out" "$@"; }
is() { [ "$(json $1)" = "$2" ] || { cat "$TMPDIR/out"; fail "$1 is $(json $1), not $2"; }; }

# add stores only new items, and update changes only existing ones. Both refuse before a secret is read.
printf one | vauban add github/anna 2>/dev/null || fail 'add failed'
[ "$(vauban get github/anna)" = one ] || fail 'add stored something else'
expect_status 45 vauban add github/anna <<<two
[ "$(vauban get github/anna)" = one ] || fail 'a refused add changed the item'
expect_status 44 vauban update github/bert <<<two
expect_status 44 vauban get github/bert
printf three | vauban update github/anna --when after-first-unlock || fail 'update failed'
[ "$(vauban get github/anna)" = three ] || fail 'update changed nothing'
[ "$(vauban list github/anna)" = "github/anna	after-first-unlock" ] || fail 'update did not change when it can be read'
play "$VAUBAN_BUILD/vauban" add github/anna >"$TMPDIR/out" </dev/null; [ $? = 45 ] || fail 'add requested a secret for an existing item'
grep -q 'Secret for' "$TMPDIR/out" && fail 'add requested a secret for an existing item'
expect_status 64 vauban add
printf four | vauban add --server example.com -a Anna --protocol https --port 8443 --path /login || fail 'add --server failed'

# show: the attributes, protection class, owner and dates, but never the secret.
expect_status 0 vauban show github/anna
for line in 'Service:         github' 'Account:         anna' 'Label:           github/anna' 'Owner:           cli' \
    'Readable:        after-first-unlock' 'Prompts:         no'; do expect_text "$line" "$TMPDIR/out"; done
for date in Created Changed; do grep -qE "^$date: +($year|$(date +%Y))-" "$TMPDIR/out" || { cat "$TMPDIR/out"; fail "$date is in another year"; }; done
grep -q three "$TMPDIR/out" && fail 'show shows the secret'
expect_status 0 vauban show example.com/Anna
for line in 'Server:          example.com' 'Protocol:        https' 'Port:            8443' 'Path:            /login'; do expect_text "$line" "$TMPDIR/out"; done
expect_status 44 vauban show nothing/here
expect_status 64 vauban show
printf x | vauban set github/bert
expect_status 64 vauban show github
expect_text 'vauban show --service github --account bert' "$TMPDIR/err"

# The JSON is one document with fixed keys.
expect_status 0 vauban show example.com/Anna --json
is class 'internet password'; is server example.com; is account Anna; is protocol https; is port 8443; is path /login
is owner cli; is readable unlocked; is asks false; is service null; is accessControl null
[[ $(json created) =~ ^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$ ]] || fail 'a date is not in ISO 8601'
expect_status 0 vauban list --json
is length 3
grep -qE 'three|four' "$TMPDIR/out" && fail 'a secret is in the JSON'
expect_status 0 vauban list --json --server example.com
is '0 account' Anna

# find: each word anywhere, in any case.
expect_status 0 vauban find ANNA
[ "$(cut -f1 "$TMPDIR/out" | paste -sd' ')" = 'example.com/Anna github/anna' ] || { cat "$TMPDIR/out"; fail 'find found something else'; }
expect_status 0 vauban find anna hub
[ "$(cut -f1 "$TMPDIR/out")" = github/anna ] || fail 'find does not require every word'
expect_status 0 vauban find xampl --json
is length 1; is '0 server' example.com
printf 'name,url,username,password,note\nWeb,https://site.example/,carl,pw5,the Old router\n' | vauban import - 2>/dev/null || fail 'import failed'
expect_status 0 vauban find 'old ROUTER'
[ "$(cut -f1 "$TMPDIR/out")" = site.example/carl ] || fail 'find does not search comments'
expect_status 44 vauban find three
expect_status 44 vauban find nowhere
expect_status 64 vauban find
expect_status 64 vauban find ''

# Control characters in a name do not reach the terminal, in either form; in the JSON the name is unchanged.
name=$(printf 'evil\033[2J\342\200\256\302\233name')
printf x | vauban set -s "$name" -a y
expect_status 0 vauban show -s "$name"
expect_text 'evil\u{1b}[2J\u{202e}\u{9b}name' "$TMPDIR/out"
expect_status 0 vauban show -s "$name" --json
LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f-\xff]' "$TMPDIR/out" && fail 'a control character reached the output'
is service "$name"

# An item that requires approval is described without a prompt, also without a prompt agent; a locked keychain shows nothing.
set_passcode
printf sealed | vauban set bank/anna --require presence
for verb in 'show bank/anna' 'find bank' 'list bank'; do
    expect_status 0 detached $verb --no-input --json
    grep -q sealed "$TMPDIR/out" && fail "$verb shows the secret"
done
expect_status 0 detached show bank/anna --json
is asks true; is 'accessControl 0' userPresence
expect_status 0 detached show bank/anna
expect_text 'Access control:  userPresence' "$TMPDIR/out"
vauban lock
expect_status 36 detached show bank/anna --no-input
[ ! -s "$TMPDIR/out" ] || fail 'a locked keychain shows an item'
# add refuses before it prompts for anything but the passcode, and update prompts if the item requires approval.
unlock
expect_status 45 detached add bank/anna </dev/null
[ "$(vauban list bank/anna)" = "bank/anna	unlocked	prompts" ] || fail 'add changed an item that requires approval'
for verb in add update show find; do expect_status 0 vauban "$verb" --help; expect_text Example "$TMPDIR/out"; done
echo 'items are shown and found without their secrets, and add and update are strict'
