#!/usr/bin/env bash
# Two new devices that join at the same time: by the codes of one member, by two tokens of one member, and by one recovery key. Either both are
# in the circle, or one is, and the other reports that and joins in another way; every device in the circle was admitted, and all have the
# same items.
# proves: C-215
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
# both COMMAND FIRST SECOND: runs COMMAND for both devices at once, with output in $TMPDIR/DEVICE.out and .err and the status in DEVICE.status.
both() {
    for name in "$2" "$3"; do
        { VAUBAN_HOME=$TMPDIR/$name "$1" "$name" >"$TMPDIR/$name.out" 2>"$TMPDIR/$name.err" </dev/null; echo $? >"$TMPDIR/$name.status"; } &
    done
    wait
}
status_of() { cat "$TMPDIR/$1.status"; }
expect() { for name in "${@:2}"; do [ "$(status_of "$name")" = "$1" ] || { cat "$TMPDIR/$name.err"; fail "$name ended with $(status_of "$name"), not with $1"; }; done; }
command_line() { setsid --wait "$VAUBAN_BUILD/vauban" "$@"; }
passed() { setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 3<<<"$passcode"; }
# members NAMES...: each of these lists exactly these as members, and has every item.
members() {
    for turn in 1 2; do for name in "$@"; do sync "$name"; done; done
    for name in "$@"; do
        device "$name"; own 0 sync status
        equals "$(sed -n 's/^Device *\([^ ]*\) .*/\1/p' "$TMPDIR/out" | sort | paste -sd' ')" "$(printf '%s\n' "$@" | sort | paste -sd' ')"
        for account in $items; do has "$name" "of/$account" "of $account"; done
    done
}
add() { device "$1"; item of "$1" "of $1"; items="${items:-} $1"; }

set_passcode
own 0 sync new "$folder" --name keychain
add keychain; sync keychain
for name in phone tablet; do new_device $name; done

# By codes: both ask, and one member answers and admits them one after the other.
ask() { command_line sync join "$folder" --name "$1"; }
both ask phone tablet; expect 0 phone tablet
device keychain; own 64 sync approve; text 'More than one device asks'
asking=$(sed -n 's/.*--device: //p' "$TMPDIR/err" | tr -d ,)
equals "$(wc -w <<<"$asking")" 2
for identity in $asking; do
    device keychain; own 0 sync approve --device "$identity"
    # One of the two shows a code; the other still waits for an answer.
    both ask phone tablet; expect 0 phone tablet
    for name in phone tablet; do [ ! -s "$TMPDIR/$name.out" ] || new=$name; done
    code=$(cat "$TMPDIR/$new.out")
    device keychain; with 0 sync approve "$code" --device "$identity"; answer=$(cat "$TMPDIR/out")
    device $new; with 0 sync join "$folder" "$answer"
    # From then on only the other device asks.
    ask() { case $1 in "$new") ;; *) command_line sync join "$folder" ;; esac; }
done
add phone; add tablet
members keychain phone tablet

# By tokens: both ask at once, and one run of the member admits both while they synchronize.
for name in one two; do device keychain; with 0 sync token $name --item of/keychain --file "$TMPDIR/token-$name"; new_device $name; done
redeem() { passed sync join "$folder" --token-file "$TMPDIR/token-$1"; }
both redeem one two; expect 0 one two
synchronizes() { command_line sync; }
both synchronizes one keychain
[ "$(status_of keychain)" = 0 ] || { cat "$TMPDIR/keychain.err"; fail 'the member does not admit the devices'; }
for name in one two; do sync $name; has $name of/keychain 'of keychain'; lacks $name of/phone; done
device keychain; own 0 sync status
equals "$(grep -c '^Companion  \(one\|two\) ' "$TMPDIR/out")" 2
with 0 sync remove one; with 0 sync remove two
sync phone; sync tablet

# By one recovery key: exactly one is in the circle, whichever comes first.
device keychain; with 0 sync recovery --make; key=$(cat "$TMPDIR/out"); is_key "$key" || fail 'no recovery key was printed'
for name in desk laptop; do new_device $name; done
recovers() { setsid --wait "$VAUBAN_BUILD/vauban" sync join "$folder" --name "$1" --recovery-key-fd 4 --passcode-fd 3 3<<<"$passcode" 4<<<"$key"; }
both recovers desk laptop
in= out=
for name in desk laptop; do
    case $(status_of $name) in 0) in="$in$name" ;; 51 | 64) out="$out$name" ;; *) cat "$TMPDIR/$name.err"; fail "$name ended with $(status_of $name)" ;; esac
done
# A device that loses after its enclave has made the statement has reported that it is in, and its next run reports the error.
if [ "$in" = desklaptop ]; then
    in= out=
    for name in desk laptop; do
        device $name
        if "$VAUBAN_BUILD/vauban" sync </dev/null >"$TMPDIR/out" 2>"$TMPDIR/err"; then in=$name; else out=$name; text 'an earlier state or altered'; fi
    done
fi
[ -n "$in" ] && [ -n "$out" ] && [ "$in" != "$out" ] || { cat "$TMPDIR"/desk.err "$TMPDIR"/laptop.err; fail "in is \"$in\", out \"$out\""; }
sync keychain; text "$in joined the circle by the recovery key"
device "$out"; vauban sync leave >/dev/null 2>&1
rm -f "$folder"/join/*
join "$out" "$in"
add "$in"; add "$out"
members keychain phone tablet desk laptop
echo 'of two devices that join at once, either both are in the circle, or one is and the other joins again; all have the same items'
