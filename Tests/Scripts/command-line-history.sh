#!/usr/bin/env bash
# Earlier values and deleted items on the command line: list, read, restore and destroy.
set -u
. Tests/Scripts/lib/command-line.sh

# The value before is listed, read, and put back; a second undo takes that back.
printf one | vauban set github/anna 2>/dev/null || fail 'set failed'
expect_status 0 vauban history github/anna
[ ! -s "$TMPDIR/out" ] || fail 'an item that never changed has an earlier value'
expect_status 44 vauban undo github/anna
printf two | vauban set github/anna --replace || fail 'set failed'
printf three | vauban update github/anna --when after-first-unlock || fail 'update failed'
expect_status 0 vauban history github/anna
[ "$(wc -l <"$TMPDIR/out")" = 2 ] && [ "$(cut -f1 "$TMPDIR/out" | paste -sd' ')" = '1 2' ] || { cat "$TMPDIR/out"; fail 'not two earlier values'; }
grep -qE $'^1\tchanged 20[0-9-]+ [0-9:]+\treplaced 20[0-9-]+ [0-9:]+\tunlocked$' "$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'a line has not its dates and protection'; }
grep -qE 'one|two|three' "$TMPDIR/out" && fail 'a list shows a secret'
[ "$(vauban history github/anna --show 1)$(vauban get github/anna --version 2)" = twoone ] || fail 'earlier values are not read'
[ "$(vauban get github/anna --version 2 --hex)" = 6f6e65 ] || fail 'an earlier value has no digits'
expect_status 44 vauban get github/anna --version 3
expect_status 64 vauban get github/anna --version 11
expect_status 64 vauban get github/anna --version 0
expect_status 0 vauban undo github/anna
[ "$(vauban get github/anna)" = two ] || fail 'undo did not put the value before back'
[ "$(vauban list github/anna)" = 'github/anna	after-first-unlock' ] || fail 'undo changed the protection'
vauban undo github/anna 2>/dev/null
[ "$(vauban get github/anna)" = three ] || fail 'a second undo did not take the first back'
vauban undo github/anna --version 2 2>/dev/null
[ "$(vauban get github/anna)" = one ] || fail 'a numbered value was not put back'
[ "$(vauban list | wc -l)" = 1 ] || fail 'the list shows what was'

# Deleted is kept for a while; its name is free at once.
vauban delete github/anna || fail 'delete failed'
expect_status 44 vauban get github/anna
expect_status 44 vauban history github/anna
expect_status 0 vauban list --deleted
grep -qE $'^github/anna\tdeleted 20[0-9-]+ [0-9:]+\tafter-first-unlock$' "$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'the deleted item is not listed'; }
expect_status 0 vauban list --deleted --json
python3 -c 'import json,sys; [item] = json.load(open(sys.argv[1])); assert item["service"] == "github" and item["deleted"], item' "$TMPDIR/out" || fail 'the JSON is another'
printf other | vauban add github/anna || fail 'the name of a deleted item is not free'
expect_status 45 vauban undelete github/anna
expect_text 'delete or rename it first' "$TMPDIR/err"
vauban delete github/anna --now || fail 'delete --now failed'
expect_status 44 vauban undelete github/anna
expect_text 'vauban list --deleted' "$TMPDIR/err"
printf again | vauban add github/anna && vauban delete github/anna
vauban undelete github/anna 2>/dev/null || fail 'undelete failed'
[ "$(vauban get github/anna)" = again ] || fail 'another value came back'
vauban delete github/anna
expect_status 0 vauban delete github/anna --now
expect_status 44 vauban delete github/anna --now
[ -z "$(vauban list --deleted 2>/dev/null)" ] || fail 'a deleted item is left'

# Another of a like name stays.
printf 1 | vauban set like/anna; printf 2 | vauban set like/bert; vauban delete like/bert
expect_status 0 vauban delete like --now
expect_status 44 vauban undelete like/anna
expect_status 0 vauban undelete like/bert
vauban delete like/bert --now

# Cleared, one and all; a terminal is asked.
printf one | vauban set a/b 2>/dev/null; printf two | vauban set a/b --replace; printf x | vauban set c/d; vauban delete c/d
play "$VAUBAN_BUILD/vauban" history a/b --clear >"$TMPDIR/out" <<'STEPS'
expect Destroy the earlier values of a/b?
send no
STEPS
[ $? = 128 ] || fail 'no is not "cancelled"'
[ "$(vauban get a/b --version 1)" = one ] || fail 'no destroyed it'
expect_status 0 vauban history a/b --clear
expect_text '1 earlier value' "$TMPDIR/err"
expect_status 44 vauban get a/b --version 1
expect_status 0 vauban undelete c/d
vauban delete c/d; printf three | vauban set a/b --replace
expect_status 64 detached history --clear --all
expect_text 'give --yes too' "$TMPDIR/err"
[ "$(vauban get a/b --version 1)" = two ] || fail 'without an answer something was destroyed'
expect_status 0 vauban history --clear --all --yes
expect_text '2 earlier values and deleted items destroyed' "$TMPDIR/err"
expect_status 44 vauban undelete c/d
expect_status 64 vauban history --clear --all a/b
expect_status 64 vauban history --all
expect_status 64 vauban history

# Switched off nothing is kept.
expect_status 0 vauban settings --history off
printf four | vauban set a/b --replace; expect_status 44 vauban get a/b --version 1
printf x | vauban set c/d; vauban delete c/d; expect_status 44 vauban undelete c/d
expect_status 0 vauban settings --history on

# An earlier value asks as the item did, also after a roll of the keys; nothing of it is given without an answer.
set_passcode
printf guarded | vauban add bank/anna --require presence || fail 'add failed'
printf '%s\n' "$passcode" | vauban set bank/anna --replace --passcode-fd 0 --secret-fd 5 5< <(printf newer) || fail 'the change failed'
expect_status 36 vauban get bank/anna --version 1 --no-input
[ ! -s "$TMPDIR/out" ] || fail 'something was printed'
vauban history bank/anna --no-input | grep -q 'asks$' || fail 'the list does not say that it asks'
printf '%s\n' "$passcode" >"$TMPDIR/passcode"
[ "$(vauban get bank/anna --version 1 --passcode-fd 3 3<"$TMPDIR/passcode")" = guarded ] || fail 'an answer does not give it'
expect_status 0 vauban passcode change --roll --passcode-fd 3 --new-passcode-fd 4 3<"$TMPDIR/passcode" 4<"$TMPDIR/passcode"
play "$VAUBAN_BUILD/vauban" get bank/anna --version 1 >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'it does not open after a roll'; }
expect get an earlier value of bank/anna
expect Passcode
secret $passcode
expect guarded
STEPS
expect_status 36 vauban undo bank/anna --no-input
printf '%s\n' "$passcode" | vauban undo bank/anna --passcode-fd 0 2>/dev/null || fail 'undo with an answer failed'
[ "$(vauban get bank/anna --passcode-fd 3 3<"$TMPDIR/passcode")" = guarded ] || fail 'undo put another value back'
expect_status 0 vauban doctor
vauban lock
expect_status 36 vauban history a/b --no-input
echo 'earlier values and deleted items are kept, read and destroyed as the manual says'
