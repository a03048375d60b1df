#!/usr/bin/env bash
# vauban sync --schedule: systemd accepts the units that it writes, and their command synchronizes without the user. A locked keychain does not
# count as a failure. Without systemd, or while the keychain is locked, nothing is written.
set -u
. Tests/Scripts/lib/command-line.sh
command -v systemd-analyze >/dev/null || { echo 'there is no systemd-analyze here'; exit 77; }
export XDG_CONFIG_HOME="$TMPDIR/settings" XDG_RUNTIME_DIR=$TMPDIR/run
units=$XDG_CONFIG_HOME/systemd/user
mkdir "$XDG_CONFIG_HOME" && mkdir -m 700 "$XDG_RUNTIME_DIR"
own() { expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null; }
text() { expect_text "$1" "$TMPDIR/err"; }
nothing() { [ -z "$(find "$XDG_CONFIG_HOME" -mindepth 1)" ] || { find "$XDG_CONFIG_HOME"; fail "$1"; }; }
trap 'vauban stop >/dev/null 2>&1' EXIT
set_passcode
own 0 sync new "$TMPDIR/shared" --name desk
own 53 sync --schedule 5min; text 'from another scheduler, run: vauban sync --no-input'
nothing 'without systemd something was written'

# systemd's own tool needs a manager; this one records its arguments.
mkdir "$XDG_RUNTIME_DIR/systemd" "$TMPDIR/tools" && touch "$XDG_RUNTIME_DIR/systemd/private"
printf '#!/bin/sh\necho "$*" >>"$TMPDIR/called"\n' >"$TMPDIR/tools/systemctl"
chmod 755 "$TMPDIR/tools/systemctl"
export TMPDIR PATH="$TMPDIR/tools:$PATH"
own 64 sync --schedule daily
own 64 sync --unschedule --schedule hourly
vauban lock; own 36 sync --schedule 5min; unlock
nothing 'something was written although the keychain is locked'
for period in 5min 15min hourly; do
    own 0 sync --schedule "$period"; text 'Scheduled: systemd synchronizes every'
    tail -n 1 "$TMPDIR/called" | grep -qx -- '--user --quiet enable --now vauban-sync.timer' || fail 'systemctl was called with other arguments'
    systemd-analyze --user verify "$units/vauban-sync.service" "$units/vauban-sync.timer" >"$TMPDIR/verify" 2>&1 && ! [ -s "$TMPDIR/verify" ] ||
        { cat "$TMPDIR/verify"; fail 'systemd does not accept the units'; }
    systemd-analyze calendar "$(sed -n 's/^OnCalendar=//p' "$units/vauban-sync.timer")" >/dev/null || fail 'systemd does not accept the period'
done
grep -qx 'OnCalendar=hourly' "$units/vauban-sync.timer" || fail 'the period did not change'
# A continuous service replaces the timer, and the reverse.
own 0 sync --schedule follow; text 'Scheduled: systemd synchronizes changes as they come'
tail -n 3 "$TMPDIR/called" | diff - <(printf -- '--user --quiet disable --now vauban-sync.timer\n--user daemon-reload\n--user --quiet enable --now vauban-sync.service\n') ||
    fail 'systemctl was called with other arguments'
[ ! -e "$units/vauban-sync.timer" ] || fail 'the timer was not removed'
systemd-analyze --user verify "$units/vauban-sync.service" >"$TMPDIR/verify" 2>&1 && ! [ -s "$TMPDIR/verify" ] ||
    { cat "$TMPDIR/verify"; fail 'systemd does not accept the service'; }
grep -q '^ExecStart=.* sync --no-input "--follow"$' "$units/vauban-sync.service" || fail 'the service has another command'
own 0 sync --schedule hourly
grep -qx -- '--user --quiet disable --now vauban-sync.service' "$TMPDIR/called" || fail 'the service was not disabled'
# The command of the unit, with its environment; these paths contain no quotes.
command=$(sed -n 's/^ExecStart=//p' "$units/vauban-sync.service" | tr -d '"')
home=$(sed -n 's/^Environment=//p' "$units/vauban-sync.service" | tr -d '"')
printf '{"service":"s","account":"timer","secret":"x","synchronizable":true}' | vauban add --json - 2>/dev/null || fail 'add --json failed'
# shellcheck disable=SC2086
expect_status 0 env -u VAUBAN_HOME "$home" setsid --wait $command </dev/null
text '1 sent.'
vauban lock
# shellcheck disable=SC2086
expect_status "$(sed -n 's/^SuccessExitStatus=\([0-9]*\).*/\1/p' "$units/vauban-sync.service")" env -u VAUBAN_HOME "$home" setsid --wait $command </dev/null
unlock
own 0 sync --unschedule; text 'Synchronization is no longer scheduled.'
nothing 'a file of the schedule was not removed'
own 0 sync --unschedule; text 'No synchronization was scheduled.'
echo 'systemd accepts the schedule, and its command synchronizes'
