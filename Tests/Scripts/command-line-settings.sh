#!/usr/bin/env bash
# Automatic locking: settings are shown, changed with the passcode, and stored.
set -u
. Tests/Scripts/lib/command-line.sh

settings_have() { vauban settings >"$TMPDIR/out" 2>&1 || fail 'settings failed'; for text in "$@"; do expect_text "$text" "$TMPDIR/out"; done; }

settings_have 'grace             0 seconds' 'idle              never' 'lock-with-screen  off'
# Without a passcode, automatic locking cannot be set.
expect_status 51 vauban settings --idle 15m
set_passcode
expect_status 0 vauban settings --grace 10s --idle 15m --lock-with-screen on --passcode-fd 0 <<<"$passcode"
settings_have 'grace             10 seconds' 'idle              15 minutes' 'lock-with-screen  on'
vauban status >"$TMPDIR/out"
expect_text 'Locks        when the machine sleeps or the screen is locked, 10 seconds later; after 15 minutes without use' "$TMPDIR/out"
# Keeping a history requires no passcode.
settings_have 'history           on'
expect_status 0 vauban settings --history off
expect_text 'vauban history --clear --all' "$TMPDIR/err"
settings_have 'history           off' 'idle              15 minutes'
expect_status 0 vauban settings --history on
settings_have 'history           on'
# One setting at a time does not change the others; numbers without a unit are seconds or minutes.
expect_status 0 vauban settings --idle 120 --passcode-fd 0 <<<"$passcode"
settings_have 'grace             10 seconds' 'idle              2 hours' 'lock-with-screen  on'
expect_status 0 vauban settings --grace 5 --passcode-fd 0 <<<"$passcode"
settings_have 'grace             5 seconds'
play "$VAUBAN_BUILD/vauban" settings --idle never --grace 0 >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'the settings were not changed on a terminal'; }
expect Passcode
secret $passcode
expect Changed
STEPS
settings_have 'grace             0 seconds' 'idle              never' 'lock-with-screen  on'

# An invalid or too long duration is reported before any prompt; a wrong passcode changes nothing.
for wrong in '--grace -1s' '--grace=2h' '--idle=31d' '--idle=soon' '--idle=' '--grace=never' '--grace=99999999999999999999' \
    '--idle=9223372036854775807d' '--lock-with-screen maybe'; do
    # shellcheck disable=SC2086
    expect_status 64 vauban settings $wrong --passcode-fd 0 <<<"$passcode"
done
expect_status 51 vauban settings --grace 1m --passcode-fd 0 <<<'wrong one'
expect_status 36 detached settings --grace 1m
settings_have 'grace             0 seconds'
# Settings are the same after a restart, also while the keychain is locked.
expect_status 0 vauban stop
settings_have 'grace             0 seconds' 'lock-with-screen  on'
# The output as JSON.
json_is() { [ "$(/usr/bin/python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for part in sys.argv[2].split(): value = value[int(part)] if isinstance(value, list) else value[part]
print(json.dumps(value))' "$TMPDIR/out" "$1")" = "$2" ] || { cat "$TMPDIR/out"; fail "$1 is not $2"; }; }
expect_status 0 vauban settings --json
json_is graceSeconds 0; json_is locksWithScreen true; json_is keepsHistory true
expect_status 0 vauban settings --history off --json
json_is keepsHistory false
expect_status 0 vauban status --json
json_is 'locks graceSeconds' 0; json_is mode '"user"'; json_is 'passcode isSet' true; json_is 'passcode recoveryKeyIsSet' false; json_is state '"beforeFirstUnlock"'
json_is folder "\"$VAUBAN_HOME\""; json_is prompts '[]'; json_is warnings '[]'; json_is 'fingers enrolled' false
unlock
expect_status 0 vauban status --json
json_is state '"unlocked"'; json_is 'passcode attemptsLeft' 5
# Without a reader there is nothing to enroll a finger with.
grep -q '"reader" : true' "$TMPDIR/out" || { expect_status 53 vauban finger list --passcode-fd 0 <<<"$passcode"; expect_status 0 vauban status --json; }
grep -qE '"since" : "[0-9-]{10}T[0-9:]{8}Z"' "$TMPDIR/out" || fail '"since" is not a date'
echo 'settings are shown and changed as the manual describes'
