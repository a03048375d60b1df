#!/usr/bin/env bash
# The user at a terminal: passcodes, three attempts, cancelling, a locked keychain, an item that requires approval, and callers without a user.
# proves: C-053 C-078 C-080 C-090 C-097 C-099 C-104
set -u
. Tests/Scripts/lib/command-line.sh

# After a weak passcode the user is asked for another, with the reason.
play "$VAUBAN_BUILD/vauban" passcode set >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'no passcode was set'; }
expect New passcode
secret 1234
expect Too weak
expect New passcode
secret $passcode
expect Repeat:
secret $passcode
expect Press Return
key enter
expect The passcode is set
STEPS
grep -q "$passcode" "$TMPDIR/out" && fail 'the passcode was shown'
expect_status 51 vauban passcode set --passcode-fd 0 <<<"$passcode"

printf 'plain' | vauban set plain/item || fail 'set failed'
printf 'the secret' | vauban set bank/anna --require presence || fail 'adding an item that requires approval failed'
# Listing does not prompt; the line shows that reading the item will.
expect_status 0 vauban list bank
expect_text 'prompts' "$TMPDIR/out"

# Each access prompts, with the caller's name as the witness determined it and separately the reason, and the passcode is not shown.
for access in 1 2; do
    play "$VAUBAN_BUILD/vauban" get bank/anna >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail "access $access failed"; }
expect Vauban asks for your approval
expect Program:  vauban (/
expect /vauban · process
expect Action:   to read a secret that is given out only with your approval
expect Message:  “get bank/anna”
expect Attempt 1 of 3
expect Passcode
secret $passcode
expect the secret
STEPS
    grep -q "$passcode" "$TMPDIR/out" && fail 'the passcode was shown'
done

# Three attempts, each counted on the terminal; then the prompt ends. The right passcode among them suffices.
play "$VAUBAN_BUILD/vauban" get bank/anna >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'the right passcode at the second attempt was not accepted'; }
expect Attempt 1 of 3. You have
expect Passcode
secret wrong one
expect 4 attempts are left before you have to wait. Attempt 2 of 3
expect Passcode
secret $passcode
expect the secret
STEPS
play "$VAUBAN_BUILD/vauban" get bank/anna >"$TMPDIR/out" <<'STEPS'
expect Attempt 1 of 3
expect Passcode
secret wrong one
expect Attempt 2 of 3
expect Passcode
secret wrong two
expect Attempt 3 of 3
expect Passcode
secret wrong three
expect Authentication failed
STEPS
[ $? = 51 ] || { cat "$TMPDIR/out"; fail 'three wrong attempts do not end with 51'; }
unlock

# Ctrl-C and an empty line cancel, and the terminal echoes again.
for key in ctrl-c enter ctrl-d; do
    play sh -c "'$VAUBAN_BUILD/vauban' get bank/anna; echo ended \$?; stty -a" >"$TMPDIR/out" <<STEPS || fail "$key did not cancel the prompt"
expect Passcode
key $key
expect ended 128
expect isig icanon
expect echo echoe
STEPS
    grep -q -- ' -echo ' "$TMPDIR/out" && fail "the terminal does not echo after $key"
done
# The same if a signal ends the process during the prompt.
play sh -c "sh -c 'echo \$\$ >$TMPDIR/pid; exec $VAUBAN_BUILD/vauban get bank/anna'; stty -a" >"$TMPDIR/out" \
    <<STEPS || { cat "$TMPDIR/out"; fail 'the signal did not end the command'; }
expect Passcode
run kill -TERM \$(cat $TMPDIR/pid)
expect isig icanon
STEPS
grep -q -- ' -echo ' "$TMPDIR/out" && fail 'no echo after a signal'

# Without a prompt agent the request is refused at once, with the way out.
expect_status 36 detached get bank/anna
expect_text 'vauban approve' "$TMPDIR/err"
expect_status 0 detached get plain/item
expect_status 36 vauban get bank/anna --no-input
# A passcode on a descriptor answers once.
expect_status 0 detached list
[ "$(setsid --wait "$VAUBAN_BUILD/vauban" get bank/anna --passcode-fd 0 <<<"$passcode")" = 'the secret' ] || fail '--passcode-fd does not answer the prompt'
setsid --wait "$VAUBAN_BUILD/vauban" get bank/anna --passcode-fd 0 <<<'wrong again' >"$TMPDIR/out" 2>"$TMPDIR/err"
status=$?
[ "$status" = 51 ] || { cat "$TMPDIR/err"; fail "a wrong passcode on a descriptor ended with $status"; }
expect_text 'Authentication failed: the passcode is wrong' "$TMPDIR/err"
unlock

# Locked: refused without a prompt agent, unlocked with one; a wrong attempt is reported.
expect_status 0 vauban lock
expect_status 36 detached get plain/item
expect_text 'vauban unlock' "$TMPDIR/err"
expect_status 36 vauban get plain/item --no-input
play "$VAUBAN_BUILD/vauban" get plain/item >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'a locked keychain was not unlocked'; }
expect The keychain is locked
expect Passcode
secret wrong
expect That was not your passcode. 4 attempts are left
expect Passcode
secret $passcode
expect plain
STEPS
expect_status 0 vauban lock
[ "$(detached get plain/item --passcode-fd 3 3<<<"$passcode")" = plain ] || fail '--passcode-fd does not unlock'

# After a restart the state is before first unlock, which is reported.
expect_status 0 vauban stop
expect_status 36 detached get plain/item
expect_text 'has not been unlocked since it started' "$TMPDIR/err"
expect_status 51 vauban unlock --passcode-fd 0 <<<'wrong'
expect_text '4 attempts left' "$TMPDIR/err"
play "$VAUBAN_BUILD/vauban" unlock >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'unlock failed'; }
expect Passcode
secret $passcode
expect Unlocked
STEPS

# Changing the passcode.
play "$VAUBAN_BUILD/vauban" passcode change >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'the passcode was not changed'; }
expect Current passcode
secret $passcode
expect New passcode
secret another long one
expect Repeat:
secret another long one
expect is changed
STEPS
expect_status 0 vauban lock
expect_status 51 vauban unlock --passcode-fd 0 <<<"$passcode"
expect_status 0 vauban unlock --passcode-fd 0 <<<'another long one'
printf 'another long one\n%s\n' "$passcode" | vauban passcode change --passcode-fd 0 --new-passcode-fd 0 2>/dev/null ||
    fail 'two lines on one descriptor are not read as two passcodes'
expect_status 0 vauban lock
unlock
echo 'the user is prompted at their terminal, with at most three attempts'
