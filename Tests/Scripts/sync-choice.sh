#!/usr/bin/env bash
# The user chooses which items are shared: set, add and edit mark an item and remove the mark; for an item that must stay on a device, they
# refuse with the way out.
set -u
. Tests/Scripts/lib/command-line.sh
folder=$TMPDIR/shared
own() { expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null; }
text() { expect_text "$1" "$TMPDIR/err"; }
marked() { vauban show "$1" | grep -q '^Synchronizes: *yes$'; }
set_passcode
printf local | vauban add local/x 2>/dev/null || fail 'add failed'
own 0 sync new "$folder" --name desk
text 'No item is shared yet. To share one: vauban edit NAME --sync'

# Marked when it is added and later, with the secret and without it.
printf chosen | vauban set chosen/x --sync || fail 'set --sync failed'
printf added | vauban add added/x --sync || fail 'add --sync failed'
own 0 edit local/x --sync
for name in chosen/x added/x local/x; do marked $name || fail "$name is not marked"; done
own 0 sync; text '0 changes received, 3 sent.'
[ "$(vauban get local/x)" = local ] || fail 'edit --sync changed the secret'
# Without the option the mark is unchanged.
printf again | vauban update chosen/x; marked chosen/x || fail 'update removed the mark'
own 0 edit chosen/x --label Chosen; marked chosen/x || fail 'edit removed the mark'
own 0 sync; text '0 changes received, 1 sent.'

# Unmarked: removed from the other devices, and still here.
own 0 edit local/x --no-sync
printf newer | vauban set chosen/x --replace --no-sync || fail 'set --no-sync failed'
for name in chosen/x local/x; do marked $name && fail "$name is still marked"; done
own 0 sync; text '0 changes received, 2 sent.'
[ "$(vauban get chosen/x)$(vauban get local/x)" = newerlocal ] || fail 'an item that is no longer shared has another secret here'

# Items that stay on this device.
printf asks | vauban add asks/x --require presence || fail 'add --require failed'
own 64 edit asks/x --sync; text 'asks/x needs your approval for each use, so it stays on this device; to share it, give --require nothing too'
printf here | vauban add here/x --this-device || fail 'add --this-device failed'
own 64 edit here/x --sync; text 'here/x stays on this device; to share it, give --no-this-device too'
own 64 edit here/x --sync --this-device; text '--sync cannot be combined'
expect_status 64 vauban add new/x --sync --require presence <<<x; text '--sync cannot be combined'
own 44 get new/x
own 0 edit here/x --sync --no-this-device; marked here/x || fail 'an item that may leave the device is not marked'
own 64 edit added/x --require presence; text 'added/x is shared with your other devices, so it needs no approval; give --no-sync too'
own 64 edit added/x --this-device; text 'added/x is shared with your other devices; give --no-sync too'
expect_status 64 vauban set added/x --replace --this-device <<<x; text 'added/x is shared with your other devices; give --no-sync too'
marked asks/x && fail 'a refused edit marked an item'
# Two devices would reset each other's counter.
printf 'otpauth://hotp/C:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0' | vauban code add c/anna 2>/dev/null || fail 'code add failed'
own 64 edit otpauth:c/anna --sync; text 'so it cannot be synchronizable'
marked otpauth:c/anna && fail 'a key with a counter is shared'
echo 'items are shared with --sync, and those that must stay on a device are refused with the way out'
