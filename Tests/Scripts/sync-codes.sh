#!/usr/bin/env bash
# Two devices never give the same one-time code of a key that counts. A program that shares such a key through Apple's API gets no code of it
# on either device, and the way out that the refusal names works. A key that goes by the time is shared.
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
[ -x "$VAUBAN_BUILD/keychain-caller" ] || { echo 'keychain-caller is not built'; exit 77; }
caller() { "$VAUBAN_BUILD/keychain-caller" "$@"; }
# The keys and codes of RFC 4226 and RFC 6238.
counts='otpauth://hotp/C:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0'
keeps_time='otpauth://totp/C:bert?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
code() { own 0 code get "$@"; equals "$(cat "$TMPDIR/out")" "$want"; }
no_code() { own 64 code get "$1"; text 'so another device could repeat one'; [ ! -s "$TMPDIR/out" ] || fail 'a refused request gave a code'; }

set_passcode
own 0 sync new "$folder" --name desk
equals "$(caller synced-code anna "$counts")" 0
equals "$(caller synced-code bert "$keeps_time")" 0
no_code callers/anna
own 0 sync
new_device laptop
join laptop keychain
for device in keychain laptop; do
    device $device
    no_code callers/anna
    want=287082 code callers/bert --at 59
done

# What was refused has used up no code; after the way out one device has the key, and gives each code once.
own 0 delete --yes otpauth:callers/anna
printf %s "$counts" | vauban code add callers/anna 2>/dev/null || fail 'code add failed'
want=755224 code callers/anna
own 64 edit otpauth:callers/anna --sync; text 'so it cannot be synchronizable'
sync laptop
device keychain; own 0 sync
own 44 code get callers/anna
device laptop; want=287082 code callers/anna
echo 'a key that counts is used by one device'
