#!/usr/bin/env bash
# A forgotten passcode: the recovery key typed with errors, given on a descriptor, used, and used again.
set -u
. Tests/Scripts/lib/command-line.sh

expect_status 51 vauban recover
expect_text 'No passcode is set' "$TMPDIR/err"
vauban passcode set --recovery-key --passcode-fd 0 <<<"$passcode" >"$TMPDIR/key" 2>/dev/null || fail 'no passcode could be set'
key=$(cat "$TMPDIR/key")
is_key "$key" || fail 'no recovery key was printed'
printf kept | vauban set plain/item || fail 'set failed'
printf asks | vauban set bank/anna --require presence || fail 'set failed'
expect_status 0 vauban stop

# slip NUMBER: prints the recovery key with another first digit in that group.
group() { cut -d- -f"$1" <<<"$key"; }
slipped=$(awk -F- -v OFS=- '{ $3 = (substr($3, 1, 1) + 1) % 10 substr($3, 2); print }' <<<"$key")

# Typed without echo; an error is reported by its group, and only that group is typed again; with too few digits the user begins again.
play "$VAUBAN_BUILD/vauban" recover >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'recover failed'; }
expect Recovery key, 8 groups of 6 digits
secret ${key%-*}
expect has 48 digits, and this has 42
expect Recovery key
secret no digits at all, and yet of the length: forty-eight signs
expect Recovery key
secret ${slipped//-/ }
expect Group 3 of 8 is mistyped
expect Repeat group 3
secret 12
expect A group has 6 digits
expect Repeat group 3
secret $(group 3)
expect New passcode
secret another long one
expect Repeat:
secret another long one
expect shown only once
expect Press Return
key enter
expect The new passcode is set
STEPS
grep -qF -e "$(group 3)" -e 'another long one' "$TMPDIR/out" && fail 'what was typed was shown'
next=$(shown_key "$TMPDIR/out")
is_key "$next" && [ "$next" != "$key" ] || fail 'no new recovery key was shown'
vauban status >"$TMPDIR/out"
expect_text 'Recovery key set; one was used on 20' "$TMPDIR/out"
expect_status 51 vauban unlock --passcode-fd 0 <<<"$passcode"
expect_status 0 vauban unlock --passcode-fd 0 <<<'another long one'
[ "$(vauban get plain/item)" = kept ] || fail 'an item was lost'
[ "$(vauban get bank/anna --passcode-fd 0 <<<'another long one')" = asks ] || fail 'an item that requires approval was lost'

# A used recovery key is refused; text that is not a recovery key does not reach the enclave, so it does not count as an attempt.
expect_status 51 vauban recover --recovery-key-fd 0 --new-passcode-fd 0 <<<"$key"$'\n'"$passcode"
vauban unlock --passcode-fd 0 <<<'another long one' 2>/dev/null || fail 'the keychain could not be unlocked'
expect_status 64 vauban recover --recovery-key-fd 0 --new-passcode-fd 0 <<<"$slipped"$'\n'"$passcode"
expect_text 'Group 3 of 8 is mistyped' "$TMPDIR/err"
vauban status >"$TMPDIR/out"
expect_text 'set; 5 attempts left' "$TMPDIR/out"
# A new passcode that is too weak changes nothing.
expect_status 64 vauban recover --recovery-key-fd 0 --new-passcode-fd 0 <<<"$next"$'\n'"123456"
# With descriptors a new recovery key is created only on request.
expect_status 0 vauban recover --recovery-key-fd 3 --new-passcode-fd 4 --recovery-key 3<<<"${next//-/}" 4<<<"$passcode"
last=$(cat "$TMPDIR/out")
is_key "$last" || fail 'the new recovery key is not the only line'
expect_status 0 vauban recover --recovery-key-fd 0 --new-passcode-fd 0 <<<"$last"$'\n'"$passcode"
[ ! -s "$TMPDIR/out" ] || fail 'a recovery key was created without a request'
expect_status 51 vauban recover --recovery-key-fd 0 --new-passcode-fd 0 <<<"$last"$'\n'"$passcode"
expect_text 'No recovery key exists' "$TMPDIR/err"
unlock
[ "$(vauban get plain/item)" = kept ] || fail 'an item was lost'

# Ctrl-C at a prompt changes nothing; without a terminal there is no prompt.
expect_status 0 vauban passcode recovery-key --passcode-fd 0 <<<"$passcode"
key=$(cat "$TMPDIR/out")
expect_status 36 detached recover
play "$VAUBAN_BUILD/vauban" recover >"$TMPDIR/out" <<STEPS
expect Recovery key
secret $key
expect New passcode
key ctrl-c
STEPS
[ $? = 128 ] || { cat "$TMPDIR/out"; fail 'Ctrl-C does not end with 128'; }
expect_status 0 vauban lock
unlock

# Another recovery key: the earlier one works until the user has confirmed the new one; a terminal that closes leaves it unconfirmed.
play "$VAUBAN_BUILD/vauban" passcode recovery-key >"$TMPDIR/out" <<STEPS
expect asscode
secret $passcode
expect shown only once
expect Press Return
key ctrl-c
STEPS
[ $? = 1 ] || { cat "$TMPDIR/out"; fail 'a recovery key that was not confirmed is reported as confirmed'; }
expect_text 'so the previous one works too' "$TMPDIR/out"
new=$(shown_key "$TMPDIR/out")
is_key "$new" && [ "$new" != "$key" ] || fail 'no new recovery key was shown'
vauban status >"$TMPDIR/out"
expect_text 'an earlier one works too, since the new one was not confirmed' "$TMPDIR/out"
expect_status 51 vauban passcode recovery-key --confirm --recovery-key-fd 0 <<<"$key"
expect_text 'earlier recovery key' "$TMPDIR/err"
expect_status 64 vauban passcode recovery-key --confirm --recovery-key-fd 0 <<<"${new%-*}"
expect_status 64 vauban passcode recovery-key --confirm --remove
expect_status 0 vauban recover --recovery-key-fd 3 --new-passcode-fd 4 --recovery-key 3<<<"$key" 4<<<"$passcode"
key=$(cat "$TMPDIR/out")
expect_status 51 vauban recover --recovery-key-fd 3 --new-passcode-fd 4 3<<<"$new" 4<<<"$passcode"
# The key that the user wrote down can be checked and confirmed later.
expect_status 0 vauban passcode recovery-key --confirm --recovery-key-fd 0 <<<"$key"
play "$VAUBAN_BUILD/vauban" passcode recovery-key >"$TMPDIR/out" <<STEPS
expect asscode
secret $passcode
expect Press Return
key ctrl-c
STEPS
new=$(shown_key "$TMPDIR/out")
play "$VAUBAN_BUILD/vauban" passcode recovery-key --confirm >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'the new key was not confirmed'; }
expect Recovery key, 8 groups
secret $new
expect This recovery key is right
STEPS
expect_status 51 vauban recover --recovery-key-fd 3 --new-passcode-fd 4 3<<<"$key" 4<<<"$passcode"
expect_text 'recovery key is wrong' "$TMPDIR/err"
vauban status >"$TMPDIR/out"
grep -q 'earlier one' "$TMPDIR/out" && fail 'an earlier key works after the new one was confirmed'
not_kept "$key"
not_kept "$new"
echo 'the recovery key sets a new passcode, and no item is lost'
