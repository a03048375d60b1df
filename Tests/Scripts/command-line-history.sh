#!/usr/bin/env bash
# Earlier values and deleted items on the command line: list, read, restore and destroy.
set -u
. Tests/Scripts/lib/command-line.sh

# The earlier value is listed, read and restored; a second undo reverts that.
printf one | vauban set github/anna 2>/dev/null || fail 'set failed'
expect_status 0 vauban history github/anna
[ ! -s "$TMPDIR/out" ] || fail 'an item that never changed has an earlier value'
expect_status 44 vauban undo github/anna
expect_text 'github/anna has no earlier secret; to list its history: vauban history github/anna' "$TMPDIR/err"
printf two | vauban set github/anna --replace || fail 'set failed'
printf three | vauban update github/anna --when after-first-unlock || fail 'update failed'
expect_status 0 vauban history github/anna
[ "$(wc -l <"$TMPDIR/out")" = 2 ] && [ "$(cut -f1 "$TMPDIR/out" | paste -sd' ')" = '1 2' ] || { cat "$TMPDIR/out"; fail 'history does not list two earlier values'; }
grep -qE $'^1\tchanged 20[0-9-]+ [0-9:]+\treplaced 20[0-9-]+ [0-9:]+\tunlocked$' "$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'a line lacks its dates or protection'; }
grep -qE 'one|two|three' "$TMPDIR/out" && fail 'a list shows a secret'
# JSON has dates in UTC, and the output for users local time.
expect_status 0 vauban history github/anna --json
for line in '"number" : 1,' '"number" : 2,' '"asks" : false,' '"readable" : "unlocked"'; do expect_text "$line" "$TMPDIR/out"; done
zulu=$(sed -nE '/"number" : 1,/,$d; s/.*"changed" : "([^"]*)".*/\1/p' "$TMPDIR/out" | tail -n 1)
here=$(TZ=XST-5:30 vauban history github/anna | sed -nE $'s/^1\tchanged ([0-9: -]*)\t.*/\\1/p')
[ -n "$zulu" ] && [ "$(TZ=XST-5:30 date -d "$zulu" '+%F %R')" = "$here" ] || fail "$zulu in JSON is not $here of half past five hours east"
# The year may have ended since the item was changed.
TZ=XST-5:30 vauban show github/anna >"$TMPDIR/out"
grep -qE "^Changed: +(${here%%-*}|$(TZ=XST-5:30 date +%Y))-" "$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'show says another year'; }
grep -qE '^(Created|Changed): .*[TZ]' "$TMPDIR/out" && { cat "$TMPDIR/out"; fail 'show prints UTC'; }
expect_status 64 vauban history github/anna --json --show 1
expect_status 64 vauban history github/anna --json --clear
[ "$(vauban history github/anna --show 1)$(vauban get github/anna --version 2)" = twoone ] || fail 'earlier values cannot be read'
[ "$(vauban get github/anna --version 2 --hex)" = 6f6e65 ] || fail 'an earlier value has no digits'
expect_status 44 vauban get github/anna --version 3
expect_text 'github/anna has 2 earlier secrets; to list its history: vauban history github/anna' "$TMPDIR/err"
expect_status 64 vauban get github/anna --version 11
expect_status 64 vauban get github/anna --version 0
expect_status 0 vauban undo github/anna
[ "$(vauban get github/anna)" = two ] || fail 'undo did not restore the earlier value'
[ "$(vauban list github/anna)" = 'github/anna	after-first-unlock' ] || fail 'undo changed the protection'
vauban undo github/anna 2>/dev/null
[ "$(vauban get github/anna)" = three ] || fail 'a second undo did not revert the first'
vauban undo github/anna --version 2 2>/dev/null
[ "$(vauban get github/anna)" = one ] || fail 'a value was not restored by its number'
[ "$(vauban list | wc -l)" = 1 ] || fail 'the list shows what was'

# A deleted item is kept for a time, with its earlier values; its name can be used at once.
vauban delete github/anna && vauban undelete github/anna 2>/dev/null || fail 'delete and undelete failed'
[ "$(vauban get github/anna)$(vauban get github/anna --version 1)" = onethree ] || fail 'undelete did not restore the earlier values'
vauban delete github/anna || fail 'delete failed'
expect_status 44 vauban get github/anna
expect_status 44 vauban history github/anna
expect_status 0 vauban list --deleted
grep -qE $'^github/anna\tdeleted 20[0-9-]+ [0-9:]+\tafter-first-unlock$' "$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'the deleted item is not listed'; }
expect_status 0 vauban list --deleted --json
python3 -c 'import json,sys; [item] = json.load(open(sys.argv[1])); assert item["service"] == "github" and item["deleted"], item' "$TMPDIR/out" || fail 'the JSON differs'
printf other | vauban add github/anna || fail 'the name of a deleted item is not free'
expect_status 45 vauban undelete github/anna
expect_text 'delete or rename it first' "$TMPDIR/err"
vauban delete github/anna --now || fail 'delete --now failed'
expect_status 44 vauban undelete github/anna
expect_text 'vauban list --deleted' "$TMPDIR/err"
printf again | vauban add github/anna && vauban delete github/anna
vauban undelete github/anna 2>/dev/null || fail 'undelete failed'
[ "$(vauban get github/anna)" = again ] || fail 'undelete restored another value'
vauban delete github/anna
expect_status 0 vauban delete github/anna --now
expect_status 44 vauban delete github/anna --now
[ -z "$(vauban list --deleted 2>/dev/null)" ] || fail 'a deleted item remains'

# A deleted item with a similar name is not affected.
printf 1 | vauban set like/anna; printf 2 | vauban set like/bert; vauban delete like/bert
expect_status 0 vauban delete like --now
expect_status 44 vauban undelete like/anna
expect_text 'No item like/anna was deleted in the last thirty days; run: vauban list --deleted' "$TMPDIR/err"
expect_status 0 vauban undelete like/bert
vauban delete like/bert --now

# Each version has the attributes of its time. Those that differ from the item's are shown, and undo restores none of them.
printf one | vauban set note/anna 2>/dev/null; vauban edit note/anna --comment 'for work' || fail 'edit failed'
printf two | vauban set note/anna --replace; vauban edit note/anna --comment $'for home\nand garden' --label 'A note' || fail 'edit failed'
printf three | vauban set note/anna --replace; vauban edit note/anna --comment '' || fail 'edit failed'
expect_status 0 vauban history note/anna
printf '%s\n' $'1\tchanged\treplaced\tunlocked' $'\tcomment: for home' $'\t\tand garden' $'2\tchanged\treplaced\tunlocked' $'\tlabel: note/anna' $'\tcomment: for work' >"$TMPDIR/wanted"
sed -E 's/(changed|replaced) [0-9: -]+/\1/g' "$TMPDIR/out" | diff "$TMPDIR/wanted" - || fail 'the attributes of earlier versions are not shown'
expect_status 0 vauban history note/anna --json
python3 -c '
import json, sys
[two, one] = json.load(open(sys.argv[1]))
assert two["differs"] == ["comment"] and two["attributes"]["comment"] == "for home\nand garden" and two["attributes"]["label"] == "A note", two
assert one["differs"] == ["label", "comment"] and one["attributes"]["comment"] == "for work" and one["attributes"]["account"] == "anna", one
assert not any("secret" in version or "secret" in version["attributes"] for version in (one, two))' "$TMPDIR/out" || fail 'the JSON lacks the attributes of earlier versions'
grep -qE '"(one|two|three)"' "$TMPDIR/out" && fail 'JSON shows a secret'
vauban undo note/anna --version 2 2>/dev/null || fail 'undo failed'
[ "$(vauban get note/anna)" = one ] || fail 'a value was not restored by its number'
vauban show note/anna --json >"$TMPDIR/out"; expect_text '"label" : "A note"' "$TMPDIR/out"
grep -q '"comment"' "$TMPDIR/out" && fail 'undo restored a comment'
vauban history note/anna | grep -q '^1' || fail 'undo kept nothing'
[ "$(vauban history note/anna | sed -n '2s/^[0-9].*/same/p')" = same ] || fail 'the version that was replaced just now differs'
# On a terminal, further lines are below the dates.
play "$VAUBAN_BUILD/vauban" history note/anna >"$TMPDIR/out" <<'STEPS' || { cat "$TMPDIR/out"; fail 'the history cannot be read on a terminal'; }
expect comment: for home
expect and garden
STEPS
vauban delete note/anna --now || fail 'delete failed'

# Clearing the history of one item and of all; on a terminal the user is prompted.
printf one | vauban set a/b 2>/dev/null; printf two | vauban set a/b --replace; printf x | vauban set c/d; vauban delete c/d
play "$VAUBAN_BUILD/vauban" history a/b --clear >"$TMPDIR/out" <<'STEPS'
expect Destroy the earlier secrets of a/b?
send no
STEPS
[ $? = 128 ] || fail '"no" does not end with 128'
[ "$(vauban get a/b --version 1)" = one ] || fail '"no" destroyed the earlier value'
expect_status 0 vauban history a/b --clear
expect_text '1 earlier secret' "$TMPDIR/err"
expect_status 44 vauban get a/b --version 1
expect_status 0 vauban undelete c/d
vauban delete c/d; printf three | vauban set a/b --replace
expect_status 64 detached history --clear --all
expect_text 'give --yes too' "$TMPDIR/err"
[ "$(vauban get a/b --version 1)" = two ] || fail 'an earlier value was destroyed without confirmation'
expect_status 0 vauban history --clear --all --yes
expect_text '2 earlier secrets and deleted items destroyed' "$TMPDIR/err"
expect_status 44 vauban undelete c/d
expect_status 64 vauban history --clear --all a/b
expect_status 64 vauban history --all
expect_status 64 vauban history

# With the history off, nothing is kept.
expect_status 0 vauban settings --history off
printf four | vauban set a/b --replace; expect_status 44 vauban get a/b --version 1
printf x | vauban set c/d; vauban delete c/d; expect_status 44 vauban undelete c/d
expect_status 0 vauban settings --history on

# An earlier value requires approval as the item did, also after the keys were rolled; without approval, none of it is shown.
set_passcode
printf guarded | vauban add bank/anna --require presence || fail 'add failed'
printf '%s\n' "$passcode" | vauban set bank/anna --replace --passcode-fd 0 --secret-fd 5 5< <(printf newer) || fail 'the change failed'
expect_status 36 vauban get bank/anna --version 1 --no-input
[ ! -s "$TMPDIR/out" ] || fail 'something was printed'
vauban history bank/anna --no-input | grep -q 'prompts$' || fail 'the list does not show that the value requires approval'
printf '%s\n' "$passcode" >"$TMPDIR/passcode"
[ "$(vauban get bank/anna --version 1 --passcode-fd 3 3<"$TMPDIR/passcode")" = guarded ] || fail 'the passcode does not release the earlier value'
expect_status 0 vauban passcode change --roll --passcode-fd 3 --new-passcode-fd 4 3<"$TMPDIR/passcode" 4<"$TMPDIR/passcode"
play "$VAUBAN_BUILD/vauban" get bank/anna --version 1 >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'the earlier value cannot be read after the keys were rolled'; }
expect get an earlier secret of bank/anna
expect Passcode
secret $passcode
expect guarded
STEPS
expect_status 36 vauban undo bank/anna --no-input
printf '%s\n' "$passcode" | vauban undo bank/anna --passcode-fd 0 2>/dev/null || fail 'undo with the passcode failed'
[ "$(vauban get bank/anna --passcode-fd 3 3<"$TMPDIR/passcode")" = guarded ] || fail 'undo restored another value'
expect_status 0 vauban doctor
vauban lock
expect_status 36 vauban history a/b --no-input
echo 'earlier values and deleted items are kept, read and destroyed as the manual says'
