#!/usr/bin/env bash
# A server joins by a one-time token that its user made and approved: without a code or another approval, once, before the token expires, and
# with exactly the list of the token. One command removes it, and names the items that it had.
# proves: C-029
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
# request FOLDER: prints the path of the only join request by a token.
request() { set -- "$1"/join/*.4; [ -e "$1" ] || fail 'there is no join request'; echo "$1"; }

set_passcode
own 0 sync new "$folder" --name desk
item deploy token 'first token'
item db ci 'of the database'
item bank anna 'never for a server'
own 0 sync
new_device laptop
own 0 sync join "$folder" --name laptop; device keychain; own 0 sync approve
device laptop; own 0 sync join "$folder"; code=$(cat "$TMPDIR/out")
device keychain; with 0 sync approve "$code"; answer=$(cat "$TMPDIR/out")
device laptop; with 0 sync join "$folder" "$answer"

# A token requires the user's approval, and is written to a new file that only the user can read, or to standard output.
device keychain
own 64 sync token ci --item deploy/token --expires 30s
own 64 sync token ci --revoke --item deploy/token
own 36 sync token ci --item deploy/token --file "$TMPDIR/token"; [ ! -e "$TMPDIR/token" ] || fail 'a token was written without an approval'
with 44 sync token ci --item no/such --file "$TMPDIR/token"; [ ! -e "$TMPDIR/token" ] || fail 'a token was written for a missing item'
with 0 sync token ci --item deploy/token --item db/ci --expires 2h --file "$TMPDIR/token"
text 'This token is a secret'; text 'which receives deploy/token, db/ci'
equals "$(stat -c %a "$TMPDIR/token")" 600; equals "$(wc -c <"$TMPDIR/out")" 0
with 64 sync token other --item db/ci --file "$TMPDIR/token"; text 'already exists'
with 64 sync token ci; text 'There is a token for this name already'
own 0 sync status
grep -qE '^Token    ci  expires 2[0-9-]+ [0-9:]+  for 2 items$' "$TMPDIR/out" || fail 'status does not list the token'
with 0 sync token other --item db/ci; cp "$TMPDIR/out" "$TMPDIR/other"
equals "$(cut -d' ' -f1-4 "$TMPDIR/other") $(wc -l <"$TMPDIR/other")" 'VAUBAN JOIN TOKEN 1 1'
sync laptop; own 64 sync token ci --revoke; text 'No token for ci'

# The server asks with it. Its own user approves, and the server waits until the member synchronizes.
new_device ci
own 64 sync join "$folder" --token-file "$TMPDIR/token" --name mine
printf 'no token' >"$TMPDIR/none"; own 64 sync join "$folder" --token-file "$TMPDIR/none"; text 'This is not a join token'
sed 's/1 ./1 X/' "$TMPDIR/token" >"$TMPDIR/none"; own 64 sync join "$folder" --token-file "$TMPDIR/none"; text 'damaged'
own 36 sync join "$folder" --token-file "$TMPDIR/token"
with 0 sync join "$folder" --token-file "$TMPDIR/token"; text 'Asked to join by the token, as ci.'; text 'desk admits this device'
own 53 sync; text 'waits until desk has run vauban sync'
own 0 sync join "$folder"; text 'Waiting until desk'
own 0 sync status; grep -q 'waits until desk has run' "$TMPDIR/out" || fail 'status does not report that the device waits'
own 64 sync join "$folder" --token-file "$TMPDIR/other"; text 'waits to join one'
cp "$(request "$folder")" "$TMPDIR/request"
hex() { od -An -tx1 -v | tr -d ' \n'; }
seed=$(cut -d' ' -f6 "$TMPDIR/token" | base64 -d | hex); equals ${#seed} 64
find "$folder" -type f -exec cat {} + | hex | grep -q "$seed" && fail 'the folder has the secret of the token'
for home in keychain ci; do find "$TMPDIR/$home" -type f -exec cat {} + | hex | grep -q "$seed" && fail "the secret of the token is on the disk of $home"; done
# A member that did not make the token does not admit it, and a locked one does nothing.
sync laptop; request "$folder" >/dev/null
device keychain; vauban lock 2>/dev/null; own 36 sync; request "$folder" >/dev/null; unlock

# The member admits it without a prompt, with exactly the list of the token. Before, the server has none of the items.
for name in deploy/token db/ci; do lacks ci $name; done
sync keychain; text 'Admitted ci as a companion, by its token.'
ls "$folder"/join/*.4 2>/dev/null && fail 'the request was not removed'
own 0 sync status
grep -q '^Companion  ci .* receives 2 items$' "$TMPDIR/out" || fail 'status does not list the companion'
grep -q '^Token    ci' "$TMPDIR/out" && fail 'status lists a token that was used'
sync ci; text 'Joined as a companion'; text '2 changes received.'
has ci deploy/token 'first token'; has ci db/ci 'of the database'; lacks ci bank/anna
sync laptop; text 'ci joined the circle as a companion'
device laptop; printf 'second token' | vauban set deploy/token --replace; sync laptop; sync ci; has ci deploy/token 'second token'
own 0 sync status; grep -q 'This device is a companion' "$TMPDIR/out" || fail 'status does not say that this device is a companion'

# A second device with the token is refused, and reports that. A request that the carrier restores changes nothing.
new_device second
expect_status 0 setsid --wait "$VAUBAN_BUILD/vauban" sync join "$folder" --token-file - --passcode-fd 3 3<<<"$passcode" <"$TMPDIR/token"
second=$(basename "$(request "$folder")" .4)
statements=$(ls "$folder/circle" | wc -l)
sync keychain; text "The device ${second:0:8} asks to join by a token, and is not admitted. The token was used already"
[ ! -e "$folder/join/$second.4" ] || fail 'a refused request was not removed'
sync second 51; text 'its token was used already'
device second; own 0 sync leave
[ ! -e "$folder/join/$second.5" ] || fail 'the reply to a device was not removed after it left'
cp "$TMPDIR/request" "$folder/join/$(printf '%032d' 7).4"
sync keychain; text '0 changes received'
equals "$(ls "$folder/circle" | wc -l)" "$statements"; equals "$(ls "$folder/join" | wc -l)" 0

# A request that no token made, and one that is not a file, do not prevent a run.
head -c 1500 /dev/urandom >"$folder/join/$(printf '%032d' 8).4"
mkfifo "$folder/join/$(printf '%032d' 9).4"
sync keychain; text 'is not admitted. The join request was altered'; text '0 changes received'
equals "$(cat "$folder/join/$(printf '%032d' 8).5" | paste -sd,)" 'VAUBAN JOIN REFUSED 2,request'
rm -f "$folder"/join/*

# Revoked before it was used, even while the folder is missing.
device keychain; mv "$folder" "$folder.away"; own 0 sync token other --revoke; text 'Revoked the token'; mv "$folder.away" "$folder"
device second; with 0 sync join "$folder" --token-file "$TMPDIR/other"; text 'as other.'
sync keychain; text 'was revoked'; sync second 51; text 'was revoked'
device second; own 0 sync leave; rm -f "$folder"/join/*
device keychain; own 0 sync status; grep -q '^Token' "$TMPDIR/out" && fail 'status lists a token that was revoked'

# A slow carrier: the server asks again, and joins by its token, whatever changed in the circle meanwhile.
device keychain; with 0 sync token third --item db/ci --file "$TMPDIR/third-token"
new_device third; with 0 sync join "$folder" --token-file "$TMPDIR/third-token"
rm "$folder"/join/*.4; own 53 sync; request "$folder" >/dev/null
printf 'VAUBAN JOIN REFUSED 1\n' >"$(request "$folder" | sed 's/4$/5/')"; own 51 sync
sync keychain; text 'Admitted third'
device keychain; with 0 sync disallow third db/ci; with 0 sync allow third bank/anna
sync third; text 'Joined as a companion'; has third bank/anna 'never for a server'; lacks third db/ci

# A request that is altered on its way: the server reports that, asks again, and is admitted. A server that cannot be admitted yet reports that too.
device keychain; with 0 sync token fourth --item db/ci --file "$TMPDIR/fourth-token"; with 0 sync token fifth --item db/ci --file "$TMPDIR/fifth-token"
new_device fourth; with 0 sync join "$folder" --token-file "$TMPDIR/fourth-token"
truncate -s 700 "$(request "$folder")"
sync keychain; text 'is not admitted. The join request was altered'
sync fourth 53; text 'its request was altered on its way, or not copied completely. It has asked again'
sync keychain; text 'Admitted fourth'; sync fourth; text 'Joined as a companion'
equals "$(ls "$folder/join" | wc -l)" 0
device keychain; with 0 sync token sixth --item db/ci --file "$TMPDIR/sixth-token"
new_device fifth; with 0 sync join "$folder" --token-file "$TMPDIR/fifth-token"; sync keychain; text 'Admitted fifth'; sync fifth
new_device sixth; with 0 sync join "$folder" --token-file "$TMPDIR/sixth-token"
sync keychain; text 'A circle has at most 4 companions'; request "$folder" >/dev/null
sync sixth 53; text 'the circle has as many devices or companions as it can have'
device keychain; with 0 sync remove fifth; text 'Admitted sixth'; sync sixth; has sixth db/ci 'of the database'
equals "$(ls "$folder/join" | wc -l)" 0
sync laptop

# Requests by the tokens of a removed device are removed, and the waiting device reports that.
device laptop; printf '{"service":"l","account":"l","secret":"l","synchronizable":true}' | vauban add --json - 2>/dev/null
with 0 sync token seventh --item l/l --file "$TMPDIR/seventh-token"; device keychain; with 0 sync remove sixth
new_device sixth; with 0 sync join "$folder" --token-file "$TMPDIR/seventh-token"; sync keychain; request "$folder" >/dev/null
device keychain; with 0 sync remove laptop; text 'The device that made the token was removed'
ls "$folder"/join/*.4 2>/dev/null && fail 'the request by the token of a removed device was not removed'
sync sixth 51; text 'or the device that made it was removed'
device sixth; own 0 sync leave; equals "$(ls "$folder/join" | wc -l)" 0
device laptop; own 0 sync leave; new_device laptop
own 0 sync join "$folder" --name laptop; device keychain; own 0 sync approve
device laptop; own 0 sync join "$folder"; code=$(cat "$TMPDIR/out")
device keychain; with 0 sync approve "$code"; answer=$(cat "$TMPDIR/out")
device laptop; with 0 sync join "$folder" "$answer"

# One command removes the server, makes a new key, and names the items that it had. Its token and its request do not admit it again.
device keychain; own 36 sync remove ci; with 0 sync remove ci
text 'It has received db/ci, deploy/token, and whatever else was on its list before. Change these secrets where they are used.'
printf 'after the removal' | vauban set deploy/token --replace; sync keychain; sync laptop; text 'The companion ci was removed'
sync ci 51; text 'was removed from the circle'; has ci deploy/token 'second token'
cp "$TMPDIR/request" "$folder/join/$(printf '%032d' 7).4"
sync keychain; text 'is not admitted. The token was used already'
device ci; own 0 sync leave
with 0 sync join "$folder" --token-file "$TMPDIR/token"
sync keychain; text 'is not admitted. The token was used already'; sync ci 51; has ci deploy/token 'second token'

# A member that was killed after it had admitted the server and before the statement was in the folder.
device ci; own 0 sync leave; rm -f "$folder"/join/*
device keychain; with 0 sync token ci --item deploy/token --file "$TMPDIR/last-token"
device ci; with 0 sync join "$folder" --token-file "$TMPDIR/last-token"
sync keychain; last=$folder/circle/$(ls "$folder/circle" | tail -1); rm "$last"
sync ci 53; sync keychain; [ -e "$last" ] || fail 'the statement was not written to the folder again'
sync ci; has ci deploy/token 'after the removal'
echo 'a server joins once by a token, with the list of the token, and is removed by one command that names the items that it had'
