#!/usr/bin/env bash
# When a device last synchronized: vauban sync and the follower record complete runs, and no others. vauban sync status and vauban doctor
# show the date, after a week with what to do, and doctor shows none on a device that is in no circle.
set -u
umask 022
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/circle.sh
export TZ=UTC
follower=
finish() {
    [ -z "$follower" ] || kill "$follower"
    for home in "$TMPDIR"/*/lock; do VAUBAN_HOME=${home%/lock} vauban stop; done
}
trap 'finish >/dev/null 2>&1' EXIT
record() { echo "$VAUBAN_HOME/sync/last-sync"; }
# aged DATE: the device has last synchronized then.
aged() { printf '%s\n%s\n' "$1" "$folder" >"$(record)"; }
ago() { date -u -d "-$1" +%Y-%m-%dT%H:%M:%SZ; }
# shown: the date of the record, as commands show it.
shown() { sed -n '1s/^\(.*\)T\(..:..\):..Z$/\1 \2/p' "$(record)"; }
says() { grep -qxF -- "$1" "$TMPDIR/out" || { cat "$TMPDIR/out"; fail "there is no line \"$1\""; }; }
status_is() { own 0 sync status; says "Last synchronized: $1"; }
doctor_is() { own 0 doctor; says "Last sync    $1"; }
doctor_is_silent() { own 0 doctor; ! grep -q 'Last sync' "$TMPDIR/out" || { cat "$TMPDIR/out"; fail "$1"; }; }
# unchanged COMMAND...: the command records nothing.
unchanged() { aged "$old"; "$@"; equals "$(head -n 1 "$(record)")" "$old"; }
is_new() { [ -s "$(record)" ] && [ "$(head -n 1 "$(record)")" != "$old" ]; }
old=$(ago '48012 hours')

set_passcode
doctor_is_silent 'doctor speaks of a circle that does not exist'
own 0 sync new "$folder" --name keychain
status_is "$(shown)"; doctor_is "$(shown), with $folder"
equals "$(sed -n 2p "$(record)")" "$folder"; equals "$(stat -c %a "$(record)")" 600
own 0 sync status --json; expect_text "\"lastSynchronized\" : \"$(head -n 1 "$(record)")\"" "$TMPDIR/out"

# A week later both say what to do, and doctor's status stays 0, as for backups.
aged "$old"
status_is "$(shown); it is 2000 days old; run vauban sync to see why"
doctor_is "$(shown), with $folder; it is 2000 days old; run vauban sync to see why"
for age in '6 days' '160 hours'; do aged "$(ago "$age")"; status_is "$(shown)"; done
aged "$(ago '169 hours')"; status_is "$(shown); it is 7 days old; run vauban sync to see why"
# Without a record, or with one that is damaged.
for content in '' 'yesterday\nthere\n'; do
    printf "$content" >"$(record)"
    status_is 'not known'; doctor_is 'none known; run vauban sync'
    own 0 sync status --json; ! grep -q lastSynchronized "$TMPDIR/out" || fail 'the JSON has a date that is unknown'
done
rm "$(record)"; status_is 'not known'

# A device that asks to join has not synchronized, and has done so once it has joined.
new_device laptop; own 0 sync join "$folder" --name laptop
own 0 sync status; ! grep -q 'Last synchronized' "$TMPDIR/out" || fail 'a device that waits has synchronized'
doctor_is_silent 'doctor counts a device that waits as one of the circle'
join laptop keychain; [ -s "$(record)" ] || fail 'nothing is recorded on the device that joined'
item s first 'of the laptop'; sync laptop

# A run that is refused, or not complete, records nothing; the next complete one does.
device keychain; sync keychain
vauban lock; unchanged own 36 sync; unlock
mv "$folder" "$folder.away"; unchanged own 64 sync; mv "$folder.away" "$folder"
device laptop; own 0 sync status; laptop=$(sed -n 's/^Device *laptop *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")
last=$(find "$folder/devices/$laptop"* -type f | sort | tail -n 1)
device keychain; mv "$last" "$TMPDIR/kept"; unchanged own 1 sync; text 'Not complete: '
mv "$TMPDIR/kept" "$last"; own 0 sync; is_new || fail 'a complete run is not recorded'

# A locked keychain does not keep doctor from saying it.
aged "$old"; vauban lock
doctor_is "$(shown), with $folder; it is 2000 days old; run vauban sync to see why"
unlock

# The follower records that it has caught up, also after it could not.
mv "$folder" "$folder.away"
"$VAUBAN_BUILD/vauban" sync --follow --no-input >"$TMPDIR/said" 2>&1 </dev/null & follower=$!
awaited 'the follower finds no folder' grep -q 'Not synchronized' "$TMPDIR/said"
equals "$(head -n 1 "$(record)")" "$old"
mv "$folder.away" "$folder"
awaited 'the follower records its run' is_new
kill "$follower"; wait "$follower" 2>/dev/null; follower=
status_is "$(shown)"

# Who leaves is reminded of nothing.
own 0 sync leave; [ ! -e "$(record)" ] || fail 'the record stays when the device leaves'
doctor_is_silent 'doctor speaks of a circle that the device has left'
echo 'the last complete synchronization is recorded and shown, and an old one is named'
