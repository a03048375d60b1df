#!/usr/bin/env bash
# Erasing: the typed word, the passcode, what is gone afterwards, and erasing with a forgotten passcode.
set -u
. Tests/Scripts/lib/command-line.sh
set_passcode
printf one | vauban set one/item && printf two | vauban set two/item --require presence || fail 'set failed'

# Another word, Ctrl-C, or no user to prompt: nothing is erased.
for answer in 'send eras' 'send yes' 'key enter' 'key ctrl-c'; do
    play "$VAUBAN_BUILD/vauban" erase >"$TMPDIR/out" <<STEPS
expect This destroys 2 items and all secrets
expect There is no way back
expect Type erase
$answer
expect nothing was erased
STEPS
    [ $? = 128 ] || { cat "$TMPDIR/out"; fail "\"$answer\" is not cancelled"; }
done
expect_status 36 vauban erase --no-input
expect_status 36 detached erase --passcode-fd 3 3<<<"$passcode"
expect_text '--yes-erase-everything' "$TMPDIR/err"
expect_status 51 vauban erase --yes-erase-everything --passcode-fd 0 <<<'wrong one'
# --forgotten is refused as long as no wrong passcode was entered.
expect_status 51 vauban erase --forgotten --yes-erase-everything
[ "$(vauban get one/item)" = one ] || fail 'an item is gone'

play "$VAUBAN_BUILD/vauban" erase >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'erase failed'; }
expect Type erase
send erase
expect Passcode
secret $passcode
expect The keychain is erased
STEPS
expect_status 44 vauban list one
expect_status 44 vauban get two/item
[ -z "$(vauban list)" ] || fail 'an item remained after erasing'
vauban status >"$TMPDIR/out"
expect_text 'not set: anyone' "$TMPDIR/out"
expect_text 'the keychain was erased' "$TMPDIR/out"

# The new keychain, which a script erases; without a passcode, none is required.
printf new | vauban set one/item || fail 'nothing can be stored after erasing'
set_passcode
expect_status 0 detached erase --yes-erase-everything --passcode-fd 3 3<<<"$passcode"
printf new | vauban set one/item 2>/dev/null || fail 'nothing can be stored after erasing again'
expect_status 0 detached erase --forgotten --yes-erase-everything
[ -z "$(vauban list)" ] || fail 'an item remained after erasing'
expect_status 0 vauban stop
[ -z "$(vauban list)" ] || fail 'an item returned after a restart'
echo 'erased items are gone, and only a confirmed erasure removes them'
