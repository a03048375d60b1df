#!/usr/bin/env bash
# The transcripts of Manual/command-line.md are true: each command of its console blocks is run, in order, in one new keychain, without a
# terminal, and its output is compared line by line. Every verb occurs in them, except those that are named below.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
unset DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS SSH_AUTH_SOCK
mkdir "$TMPDIR/work"
export PATH="$VAUBAN_BUILD:$PATH" TZ=UTC LC_ALL=C.UTF-8

# Replaces only what differs from run to run: dates and times, the folder of the keychain, the digits of a recovery key, and fingerprints of
# keys.
narrow() {
    sed -E -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z/DATE/g' -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}/DATE/g' \
        -e "s|$VAUBAN_HOME|FOLDER|g" -e 's|/home/anna/keychain|FOLDER|g' -e 's/([0-9]{6}-){7}[0-9]{6}/KEY/g' -e 's|SHA256:[A-Za-z0-9+/]{43}|FINGERPRINT|g' -e 's/[[:space:]]+$//'
}
# run COMMAND: runs it in a shell without a terminal; a missing newline at the end of the output is added.
run() { (cd "$TMPDIR/work" && setsid --wait bash -c "$1" </dev/null 2>&1) | sed -e '$a\' | narrow; }

commands=0
command=
: >"$TMPDIR/wanted"
compare() {
    [ -n "$command" ] || return 0
    commands=$((commands + 1))
    run "$command" >"$TMPDIR/said"
    narrow <"$TMPDIR/wanted" | diff - "$TMPDIR/said" >"$TMPDIR/difference" || { echo "$ $command"; cat "$TMPDIR/difference"
        fail "the manual's transcript (<) differs from the output of vauban (>)"; }
    : >"$TMPDIR/wanted"
}
while IFS= read -r line; do
    case $line in
        '$ '*) compare; command=${line#\$ } ;;
        *) printf '%s\n' "$line" >>"$TMPDIR/wanted" ;;
    esac
done < <(sed -n '/^```console$/,/^```$/p' Manual/command-line.md | grep -v '^```')
compare
[ "$commands" -gt 40 ] || fail "the manual shows only $commands commands"

# These need a terminal, another user's approval, the installed service, a sensor, a client, a server, or the time of day.
elsewhere=' setup code finger approve adopt serve ssh-agent secret-service enable disable login sdk recover disallow give protect codesign team integrity ats '
for verb in $(vauban help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' | grep -vx vauban); do
    case $elsewhere in *" $verb "*) continue ;; esac
    sed -n '/^```console$/,/^```$/p' Manual/command-line.md | grep -qE "^\\$ .*vauban $verb( |\$)" || fail "the manual shows no transcript of vauban $verb"
done
echo "the $commands commands of the manual print what it shows"
