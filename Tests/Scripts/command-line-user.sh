#!/usr/bin/env bash
# The user at a terminal: passcodes, three tries, cancelling, a closed keychain, an item that asks, and what others see.
# proves: C-053 C-078 C-080 C-090 C-097 C-099 C-104
set -u
. Tests/Scripts/lib/command-line.sh

# Too weak is asked again, and says why.
play "$VAUBAN_BUILD/vauban" passcode set >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'no passcode was set'; }
expect New passcode
secret 1234
expect Repeat:
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
printf 'the secret' | vauban set bank/anna --require presence || fail 'adding an item that asks must not ask'
# Listing what there is asks nobody; the line says that reading it will.
expect_status 0 vauban list bank
expect_text 'asks' "$TMPDIR/out"

# It asks at each access, with the caller's name as the system knows it and the reason apart, and the passcode is not shown.
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

# Three tries, each told; then it is over. The right one in time is enough.
play "$VAUBAN_BUILD/vauban" get bank/anna >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'a second try was not imported'; }
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
[ $? = 51 ] || { cat "$TMPDIR/out"; fail 'three wrong tries do not end with 51'; }
unlock

# Ctrl-C and an empty line cancel, and the terminal has its echo again.
for key in ctrl-c enter ctrl-d; do
    play sh -c "'$VAUBAN_BUILD/vauban' get bank/anna; echo ended \$?; stty -a" >"$TMPDIR/out" <<STEPS || fail "no end after $key"
expect Passcode
key $key
expect ended 128
expect isig icanon
expect echo echoe
STEPS
    grep -q -- ' -echo ' "$TMPDIR/out" && fail "no echo after $key"
done
# The same when the process is ended from outside while it asks.
play sh -c "sh -c 'echo \$\$ >$TMPDIR/pid; exec $VAUBAN_BUILD/vauban get bank/anna'; stty -a" >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'no end after a signal'; }
expect Passcode
run kill -TERM \$(cat $TMPDIR/pid)
expect isig icanon
STEPS
grep -q -- ' -echo ' "$TMPDIR/out" && fail 'no echo after a signal'

# Nobody to ask: refused at once, with the word of what to do.
expect_status 36 detached get bank/anna
expect_text 'vauban approve' "$TMPDIR/err"
expect_status 0 detached get plain/item
expect_status 36 vauban get bank/anna --no-input
# The passcode sent along answers, once.
expect_status 0 detached list
[ "$(setsid --wait "$VAUBAN_BUILD/vauban" get bank/anna --passcode-fd 0 <<<"$passcode")" = 'the secret' ] || fail '--passcode-fd does not answer'
setsid --wait "$VAUBAN_BUILD/vauban" get bank/anna --passcode-fd 0 <<<'wrong again' >"$TMPDIR/out" 2>"$TMPDIR/err"
status=$?
[ "$status" = 128 ] || [ "$status" = 51 ] || { cat "$TMPDIR/err"; fail "a wrong passcode sent along ended with $status"; }
unlock

# Locked: refused where nobody can be asked, opened where somebody can; one wrong try is told.
expect_status 0 vauban lock
expect_status 36 detached get plain/item
expect_text 'vauban unlock' "$TMPDIR/err"
expect_status 36 vauban get plain/item --no-input
play "$VAUBAN_BUILD/vauban" get plain/item >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'a closed keychain was not opened'; }
expect The keychain is locked
expect Passcode
secret wrong
expect That was not your passcode. 4 attempts are left
expect Passcode
secret $passcode
expect plain
STEPS
expect_status 0 vauban lock
[ "$(detached get plain/item --passcode-fd 3 3<<<"$passcode")" = plain ] || fail '--passcode-fd does not open'

# After a restart it is before first unlock, and says so.
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

# Changing it.
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
printf 'another long one\n%s\n' "$passcode" | vauban passcode change --passcode-fd 0 --new-passcode-fd 0 2>/dev/null || fail 'two lines of one descriptor are not two passcodes'
expect_status 0 vauban lock
unlock
echo 'the user is asked where they are, three times at most, and nobody else is'
