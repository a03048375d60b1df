#!/usr/bin/env bash
# The passcode: its strength, the recovery key that is shown once, rolling keys, removing the passcode.
# proves: C-082
set -u
. Tests/Scripts/lib/command-line.sh

# The strength: a refusal gives the reason; for an accepted passcode, the message says how long guessing takes.
for weak in '7391 four digits: whoever has this disk tries them all in at most 42 minutes' '555555 one character again and again' \
    '345678 rows such as 123 or abc' '121212 the same few characters' 'Password1 one of the commonest' 'abc at least 6 characters'; do
    expect_status 64 vauban passcode set --passcode-fd 0 <<<"${weak%% *}"
    expect_text "${weak#* }" "$TMPDIR/err"
done
play "$VAUBAN_BUILD/vauban" passcode set --no-recovery-key >"$TMPDIR/out" <<'STEPS' || { cat "$TMPDIR/out"; fail 'no passcode was set'; }
expect New passcode
secret 123456
expect Too weak
expect New passcode
secret 739150
expect Repeat:
secret 739150
expect Six digits: whoever has this disk tries them all in at most 3 days
expect without it, nobody can open
absent recovery key, shown
STEPS

# On a terminal a recovery key is created and shown once, on the alternate screen, which is cleared.
new_keychain
play "$VAUBAN_BUILD/vauban" passcode set >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'no passcode was set'; }
expect New passcode
secret $passcode
expect Repeat:
secret $passcode
expect [?1049h
expect shown only once
expect Write it on paper
expect can read everything
expect Press Return
send x
expect [2J
expect [?1049l
expect The passcode is set
expect or the recovery key, nobody can open
STEPS
key=$(shown_key "$TMPDIR/out")
is_key "$key" || { cat "$TMPDIR/out"; fail 'no recovery key was shown'; }
not_kept "$key"
not_kept "$passcode"
vauban status >"$TMPDIR/out" || fail 'status failed'
expect_text 'Recovery key set' "$TMPDIR/out"
# A terminal without an alternate screen shows it too, and a signal leaves the terminal restored.
new_keychain
TERM=dumb play sh -c "sh -c 'echo \$\$ >$TMPDIR/pid; exec $VAUBAN_BUILD/vauban passcode set'; stty -a" >"$TMPDIR/out" \
    <<STEPS || { cat "$TMPDIR/out"; fail 'the signal did not end the command'; }
expect New passcode
secret $passcode
expect Repeat:
secret $passcode
expect Press Return
absent [?1049h
run kill -TERM \$(cat $TMPDIR/pid)
expect isig icanon
STEPS
is_key "$(shown_key "$TMPDIR/out")" || fail 'no recovery key was shown on a plain terminal'

# With the passcode on a descriptor, a recovery key is created only on request; it is then the only line on standard output.
new_keychain
expect_status 0 vauban passcode set --passcode-fd 0 <<<"$passcode"
[ ! -s "$TMPDIR/out" ] || fail 'something was printed'
grep -q 'guess' "$TMPDIR/err" && fail 'the strength is printed without a terminal'
vauban status >"$TMPDIR/out"
expect_text 'Recovery key none' "$TMPDIR/out"
new_keychain
expect_status 0 vauban passcode set --recovery-key --passcode-fd 0 <<<"$passcode"
[ "$(wc -l <"$TMPDIR/out")" = 1 ] && is_key "$(cat "$TMPDIR/out")" || { cat "$TMPDIR/out"; fail 'the recovery key is not the only line'; }
expect_status 64 vauban passcode set --recovery-key --no-recovery-key --passcode-fd 0 <<<"$passcode"
# If the recovery key cannot be written, the command fails.
new_keychain
vauban passcode set --recovery-key --passcode-fd 0 <<<"$passcode" >/dev/full 2>"$TMPDIR/err" && fail 'the command succeeded although the recovery key could not be written'
expect_text 'to create another: vauban passcode recovery-key' "$TMPDIR/err"

# Another recovery key, and removing it; a wrong passcode changes nothing.
expect_status 0 vauban passcode recovery-key --passcode-fd 0 <<<"$passcode"
first=$(cat "$TMPDIR/out")
is_key "$first" || fail 'no new recovery key'
expect_status 51 vauban passcode recovery-key --passcode-fd 0 <<<'wrong one'
[ ! -s "$TMPDIR/out" ] || fail 'a recovery key was printed that was not set'
play "$VAUBAN_BUILD/vauban" passcode recovery-key >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'no new recovery key on the terminal'; }
expect Passcode
secret $passcode
expect Press Return
key enter
expect new recovery key
STEPS
second=$(shown_key "$TMPDIR/out")
is_key "$second" && [ "$first" != "$second" ] || fail 'the second recovery key is missing or equals the first'
expect_status 51 vauban recover --recovery-key-fd 0 --new-passcode-fd 0 <<<"$first"$'\n'"another long one"
unlock
expect_status 0 vauban passcode recovery-key --remove --passcode-fd 0 <<<"$passcode"
expect_status 51 vauban passcode recovery-key --remove --passcode-fd 0 <<<"$passcode"
expect_text 'No recovery key exists' "$TMPDIR/err"
expect_status 51 vauban recover --recovery-key-fd 0 --new-passcode-fd 0 <<<"$second"$'\n'"another long one"
expect_text 'vauban erase --forgotten' "$TMPDIR/err"

# Changing with --roll creates new keys and wraps each item with them; the items stay readable, also after a restart.
new_keychain
set_passcode
printf one | vauban set one/item && printf two | vauban set two/item --when after-first-unlock || fail 'set failed'
printf three | vauban set three/item --require presence || fail 'set --require failed'
expect_status 0 vauban passcode roll
play "$VAUBAN_BUILD/vauban" passcode change --roll >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'change --roll failed'; }
expect Current passcode
secret $passcode
expect New passcode
secret another long one
expect Repeat:
secret another long one
expect is changed
expect wrapped with the newest keys
STEPS
vauban status >"$TMPDIR/out"
grep -q 'older keys' "$TMPDIR/out" && fail 'older keys are still in use after a roll'
expect_status 0 vauban passcode roll
expect_text 'already' "$TMPDIR/err"
expect_status 0 vauban stop
expect_status 51 vauban unlock --passcode-fd 0 <<<"$passcode"
expect_status 0 vauban unlock --passcode-fd 0 <<<'another long one'
[ "$(vauban get one/item)" = one ] && [ "$(vauban get two/item)" = two ] || fail 'an item is not readable after the roll'
[ "$(vauban get three/item --passcode-fd 0 <<<'another long one')" = three ] || fail 'an item that requires approval is not readable after the roll'
printf 'another long one\n%s\n' "$passcode" | vauban passcode change --roll --passcode-fd 0 --new-passcode-fd 0 2>/dev/null || fail 'change --roll from a descriptor failed'
# While the keychain is locked the items cannot be wrapped; the next unlock continues that without a message.
expect_status 0 vauban lock
printf '%s\n%s\n' "$passcode" 'another long one' | vauban passcode change --roll --passcode-fd 0 --new-passcode-fd 0 2>"$TMPDIR/err" || fail 'change --roll while locked failed'
vauban unlock --passcode-fd 0 <<<'another long one' 2>"$TMPDIR/err" || fail 'the keychain could not be unlocked'
[ "$(cat "$TMPDIR/err")" = 'Unlocked.' ] || fail 'unlock printed a message about keys'
[ "$(vauban get one/item)" = one ] || fail 'an item is not readable after a roll while locked'
expect_status 0 vauban passcode change --passcode-fd 0 --new-passcode-fd 0 <<<'another long one'$'\n'"$passcode"

# A roll that is interrupted can be continued later; many items make it take long enough.
scripts/make-csv 3000 >"$TMPDIR/p.csv"
vauban import "$TMPDIR/p.csv" 2>/dev/null || fail 'the import failed'
play "$VAUBAN_BUILD/vauban" passcode change --roll >"$TMPDIR/out" <<STEPS
expect Current passcode
secret $passcode
expect New passcode
secret another long one
expect Repeat:
secret another long one
expect Wrapping items with the new keys: 
key ctrl-c
STEPS
broken=$?
[ "$broken" = 130 ] || [ "$broken" = 0 ] || { cat "$TMPDIR/out"; fail "Ctrl-C while wrapping ended with $broken"; }
vauban status >"$TMPDIR/out"
# The rooms may have finished before Ctrl-C arrived.
rolled='in one go'
if grep -q 'run: vauban passcode roll' "$TMPDIR/out"; then
    expect_status 0 vauban passcode roll
    expect_text 'wrapped with the newest keys' "$TMPDIR/err"
    rolled="of which $(grep -oE '^[0-9]+' "$TMPDIR/err") items after it was broken off"
fi
vauban status >"$TMPDIR/out"
grep -q 'older keys' "$TMPDIR/out" && fail 'an interrupted roll was not completed'
[ "$(vauban list | wc -l)" = 3003 ] && [ "$(vauban get one/item)" = one ] || fail 'an item was lost'
vauban get --server site-12.example | grep -q '^pw-12-' || fail 'an imported item is not readable'
expect_status 0 vauban passcode change --passcode-fd 0 --new-passcode-fd 0 <<<'another long one'$'\n'"$passcode"

# Removing: requires confirmation and the passcode, and warns of the consequences.
expect_status 51 vauban passcode remove --passcode-fd 0 <<<'wrong one'
play "$VAUBAN_BUILD/vauban" passcode remove >"$TMPDIR/out" <<'STEPS'
expect are destroyed
expect protected by nothing
expect Type yes
send no
expect Cancelled
STEPS
[ $? = 128 ] || { cat "$TMPDIR/out"; fail '"no" does not end with 128'; }
vauban status >"$TMPDIR/out"
expect_text 'set; 4 attempts left' "$TMPDIR/out"
expect_status 36 detached passcode remove
play "$VAUBAN_BUILD/vauban" passcode remove >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'the passcode was not removed'; }
expect Type yes
send yes
expect Passcode
secret $passcode
expect is removed
STEPS
expect_status 51 vauban passcode remove --yes --passcode-fd 0 <<<"$passcode"
[ "$(vauban get one/item)" = one ] || fail 'an item was lost with the passcode'
expect_status 51 vauban get three/item
expect_text 'No passcode is set' "$TMPDIR/err"
set_passcode
[ "$(vauban get three/item --passcode-fd 0 <<<"$passcode")" = three ] || fail 'an item that requires approval cannot be read after a new passcode was set'
expect_status 0 vauban passcode remove --passcode-fd 0 <<<"$passcode"
# The strength is estimated by the order in which an attacker guesses: words with years, names, dates, rows of keys, the user's login name.
# worth PASSCODE TEXT: the text is printed when this passcode is set.
worth() {
    new_keychain
    play "$VAUBAN_BUILD/vauban" passcode set --no-recovery-key >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail "$1 was not set"; }
expect New passcode
secret $1
expect Repeat:
secret $1
expect The passcode is set
STEPS
    expect_text "$2" "$TMPDIR/out"
}
own=$(id -un | tr -dc a-z)
for weak in Summer2024 'Anna1987!' 'p4ssw0rd!x' lkjhgf2024 "${own}2024"; do
    worth "$weak" 'tries words, names, dates and rows of keys first needs about'
    grep -qE 'needs about [0-9]+ (seconds?|minutes?|hours?|days?) ' "$TMPDIR/out" || { cat "$TMPDIR/out"; fail "$weak is rated as strong"; }
done
worth 19870612 'dates and rows of keys first, which takes about'
for strong in 'dwarf.prenatal.tidings.unpaved.bolt' 'k7vq2mzrw4'; do worth "$strong" 'needs more than a thousand years'; done
echo "a passcode is rated, recovered, rolled ($rolled) and removed as the manual describes"
