#!/usr/bin/env bash
# A carrier holds back from a device that a companion may not have an item any more. The first file of a member that has followed the change shows
# it: the device says so, gives companions nothing, and changes the circle by removals alone, until it has the change.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
last_statement() { ls "$folder/circle" | tail -1; }
mkdir "$TMPDIR/held"
hold() { for name; do mv "$folder/circle/$name" "$TMPDIR/held/"; done; }
give() { mv "$TMPDIR"/held/* "$folder/circle/"; }
for_companions() { find "$folder/companions" -type f | wc -l; }
# Nobody is said to have followed anything that is not here.
is_whole() { device "$1"; own 0 sync status; ! grep -q 'has followed' "$TMPDIR/err" || fail "status of $1 still reports a change of the circle"; }

set_passcode
own 0 sync new "$folder" --name desk
item deploy token 'first token'; item bank anna 'of the desk'
sync keychain
new_device laptop; join laptop keychain
new_device pi; join pi keychain --companion --item deploy/token
sync laptop; sync pi; has pi deploy/token 'first token'
device laptop; with 0 sync token ci --item deploy/token --file "$TMPDIR/token"

device keychain; with 0 sync disallow pi deploy/token
printf 'second token' | vauban set deploy/token --replace; sync keychain
last=$(last_statement); hold "$last"; before=$(for_companions)
for run in 1 2; do
    sync laptop 1
    text "desk has followed circle/$last, a change of the circle that this device lacks"
    text 'Nothing is written for companions while this device may lack a change of the circle.'
done
has laptop deploy/token 'second token'
equals "$(for_companions)" "$before"
sync pi 1; text "desk has followed circle/$last"
for name in laptop pi; do device $name; own 0 sync status; text "desk has followed circle/$last"; done

# A change that the laptop made now would be another one of the same number.
device laptop
for words in approve 'allow pi bank/anna' 'disallow pi deploy/token' 'token other --item bank/anna' 'recovery --make'; do
    # Its words are the command's.
    own 64 sync $words; text 'Only vauban sync remove changes the circle on this device now'
done
new_device ci; with 0 sync join "$folder" --token-file "$TMPDIR/token"
sync laptop 1; ! grep -q Admitted "$TMPDIR/err" || fail 'a device was admitted while a change of the circle is missing'
[ ! -e "$folder/circle/$last" ] || fail 'there is another statement in the place of the one that is held back'

# With the change, everything goes on.
give
sync laptop; text 'The list of the companion pi was changed.'; text 'Admitted ci as a companion'
is_whole laptop
sync pi; lacks pi deploy/token; is_whole pi
sync ci; has ci deploy/token 'second token'
sync keychain

# Nothing was written for the members: a file for the companion shows it too, before the laptop gives that one anything.
device keychain; with 0 sync allow pi bank/anna; last=$(last_statement); hold "$last"; before=$(for_companions)
sync laptop 1; text "desk has followed circle/$last"; text 'Nothing is written for companions'
equals "$(for_companions)" "$before"
give; sync laptop; is_whole laptop
device keychain; with 0 sync disallow pi bank/anna; sync laptop

# Two changes at once.
device keychain; with 0 sync allow pi bank/anna; first=$(last_statement); with 0 sync disallow pi bank/anna; second=$(last_statement)
printf 'after both' | vauban set bank/anna --replace; sync keychain
hold "$first" "$second"
sync laptop 1; text "desk has followed circle/$second"
give; sync laptop; is_whole laptop

# The way out, if nobody brings the change: a removal.
device keychain; with 0 sync allow pi bank/anna; last=$(last_statement)
printf 'before the removal' | vauban set bank/anna --replace; sync keychain
hold "$last"
sync laptop 1; text "desk has followed circle/$last"
with 0 sync remove desk
sync laptop; is_whole laptop; has laptop bank/anna 'before the removal'
echo 'a change of the circle that is held back is noticed by the first file of a device that has it'
