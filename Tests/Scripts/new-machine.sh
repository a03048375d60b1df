#!/usr/bin/env bash
# Manual/new-machine.md, followed step by step from a backup, in user mode with the commands of the manual and the shipped rooms. Both machines
# are this one: the new one is an empty home folder without a keychain, so its enclave makes new device keys. Everything that can move is
# there afterwards, and the rest is named.
# proves: C-059 C-063
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
for program in vauban-launcher enclaved keychaind; do [ -x "$VAUBAN_BUILD/$program" ] || { echo "$program is not built"; exit 77; }; done
[ ! -e /etc/vauban/rooms ] || { echo 'a service is installed here'; exit 77; }
unset VAUBAN_HOME XDG_STATE_HOME XDG_CONFIG_HOME
secret='a passphrase of its own'
with() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 --passphrase-fd 4 3<<<"$passcode" 4<<<"$secret" </dev/null; }
text() { expect_text "$1" "$TMPDIR/err"; }
machine() { mkdir -p "$TMPDIR/$1"; export HOME=$TMPDIR/$1; }
trap 'for home in old new; do HOME=$TMPDIR/$home vauban stop; done >/dev/null 2>&1' EXIT

# The old machine.
machine old
expect_status 0 vauban setup
expect_status 0 vauban passcode set --passcode-fd 0 <<<"$passcode"
grep -q "^launcher .*/vauban-launcher$" "$HOME/.local/share/vauban/service" || fail 'these are not the rooms that are shipped'
printf 'of github' | vauban add github/anna || fail 'add failed'
printf '{"service":"shared","account":"x","secret":"on all devices","synchronizable":true}' | vauban add --json - 2>/dev/null || fail 'add failed'
printf here | vauban add here/x --this-device
printf asks | vauban add asks/x --require presence
vauban ssh new work/key >/dev/null 2>&1 || fail 'no key could be made'
with 0 backup "$TMPDIR/keychain.backup"
text 'Not in the backup: asks/x'
vauban stop >/dev/null 2>&1

# The new one, an empty home: the commands of the manual, in their order.
machine new
mapfile -t steps < <(sed -n '/^## From a backup/,/^## From a circle/p' Manual/new-machine.md | sed -nE 's/^[0-9]+\. [^`]*`(vauban [^`]*)`.*/\1/p')
[ "${steps[*]}" = 'vauban setup vauban passcode set vauban restore keychain.backup vauban doctor vauban backup FOLDER/' ] ||
    fail "the steps of the manual differ: ${steps[*]}"
cd "$TMPDIR" || exit 1
passcode='another battery staple'
for step in "${steps[@]}"; do
    read -r -a words <<<"${step/FOLDER/$TMPDIR/folder}"
    case $step in
        *setup) expect_status 0 vauban setup ;;
        *'passcode set') expect_status 0 vauban passcode set --passcode-fd 0 --recovery-key <<<"$passcode"; is_key "$(cat "$TMPDIR/out")" || fail 'no recovery key was shown' ;;
        *restore*) with 1 "${words[@]:1}"; text '2 items added, 0 replaced, 0 unchanged, 1 not restored.'; text 'Not restored: here/x' ;;
        *doctor) expect_status 0 vauban doctor ;;
        *backup*) with 0 "${words[@]:1}"; text '2 items backed up. Verified.' ;;
    esac
done
cd - >/dev/null || exit 1
[ "$(vauban get github/anna)" = 'of github' ] || fail 'a password did not move'
[ "$(vauban get shared/x)" = 'on all devices' ] || fail 'a synchronizable item did not move'
for name in asks/x here/x work/key; do expect_status 44 vauban get "$name"; done
# The backup is continued here, in a folder of this machine.
expect_status 0 setsid --wait "$VAUBAN_BUILD/vauban" backup --no-input --continue "$TMPDIR/folder" </dev/null
expect_text 'Last backup' <(vauban doctor)
echo 'the steps of the manual move a backup into an empty home with new device keys'
