#!/usr/bin/env bash
# Attacks by many users on the single key derivation, with the shipped cost; and parallel passcode guesses. Each check is an attack of
# Manual/attacks.md.
set -u
enclave_program=enclaved
. Tests/Scripts/lib/attacks.sh
# Sixteen more users, who are known to the name service in this mount namespace only.
hostile=$(seq 4100 4115)
cp /etc/passwd "$TMPDIR/passwd" && chmod 644 "$TMPDIR/passwd"
for uid in $hostile; do echo "vauban-test-$uid:x:$uid:$uid::/nonexistent:/usr/sbin/nologin" >>"$TMPDIR/passwd"; done
mount --bind "$TMPDIR/passwd" /etc/passwd || { echo 'it cannot mount here'; exit 77; }
begin_attacks
hostile_user() { uid=$1; shift; setpriv --reuid "$uid" --regid "$uid" --clear-groups env HOME=/nonexistent "$@"; }

# Each adds four items at once, the most that are permitted, with an application password; what is served is reported.
: >"$TMPDIR/served"
pids=
for number in 1 2 3 4; do
    for uid in $hostile; do
        setpriv --reuid "$uid" --regid "$uid" --clear-groups env HOME=/nonexistent /usr/local/games/bin/mail sealed "flood-$number" value >>"$TMPDIR/served" 2>/dev/null &
        pids="$pids $!"
    done
done
served() { wc -l <"$TMPDIR/served"; }
by bob "$bin/vauban" lock 2>/dev/null
# The first one was served, so all others are at the enclave or on their way.
is_served() { [ "$(served)" -ge 1 ]; }
eventually is_served || { echo 'no program was served'; exit 1; }
before=$(served)
with_passcode bob unlock 2>"$TMPDIR/unlocked"; ended=$?
after=$(served)
echo "served before the unlock: $before, after it: $after of 64"
# Requests that are served before this one arrives count too: at most one round of all users, where a single queue would serve all before it.
check 'A120 sixteen users flood with passwords of applications: another user'"'"'s unlock waits for the one that is derived, and for none behind it' \
    eval 'equals "$ended" 0 && [ "$after" -lt 56 ] && [ $((after - before)) -le 24 ]'
# shellcheck disable=SC2086
kill -KILL $pids 2>/dev/null
for pid in $pids; do wait "$pid" 2>/dev/null; done
gone=$(served)
# Each has its four places again, and what was not derived is not stored.
tried() { status=$(hostile_user "$1" /usr/local/games/bin/mail sealed later value | cut -d" " -f1); [ "$status" != -25291 ]; }
free() { eventually tried "$1" && equals "$status" 0; }
stored() { for uid in $hostile; do for number in 1 2 3 4; do hostile_user "$uid" /usr/local/games/bin/mail get "flood-$number"; done; done | grep -vc "^-25300"; }
check 'A121 they hang up: what waits for them leaves the queue and is not carried out' eval 'free 4100 && free 4115 && [ "$(stored)" -le $((gone + 8)) ]'

# Parallel guesses, and the enclave is killed during them.
printf 'a guess\n' >"$TMPDIR/guess"
by bob "$bin/vauban" lock 2>/dev/null
guess_at_once() {
    rm -f "$TMPDIR"/guessed.*
    for number in $(seq 24); do
        (as vauban-test-bob "$bin/vauban" unlock --passcode-fd 3 3<"$TMPDIR/guess" 2>"$TMPDIR/guessed.$number"; echo "ended $?" >>"$TMPDIR/guessed.$number") &
        guessers="$guessers $!"
    done
}
# Only a compared guess is reported as wrong; the others are refused because of the delay, or because too many are being compared.
wrong() { for said in "$TMPDIR"/guessed.*; do grep -qx 'ended 51' "$said" && ! grep -q 'Too many wrong' "$said" && echo wrong; done | wc -l; }
guessers=
guess_at_once; for pid in $guessers; do wait "$pid"; done
compared=$(wrong)
kill -KILL "$enclave_pid"; wait "$enclave_pid" 2>/dev/null; start_enclave
eventually rooms_answer
guessers=
guess_at_once; for pid in $guessers; do wait "$pid"; done
again=$(wrong)
echo "compared: $compared, and $again after a kill"
check 'A122 twenty-four passcodes guessed side by side, before and after a kill of the enclave: five are compared, as in turn' eval 'equals "$compared" 5 && equals "$again" 0'
finish
