#!/usr/bin/env bash
# The desktop application with a keychain that keeps no history: before a password is replaced, the window warns that the present one will be
# lost, and afterwards it is. A deletion promises to be undone only if it can be.
# limit: 600
set -u
. Tests/Scripts/lib/desktop-window.sh
set_passcode
printf 'tulips-and-rain-7' | vauban set github/anna || fail 'set failed'
vauban settings --history off >/dev/null 2>&1 || fail 'settings failed'
at_desktop <<STEPS
start
click github, anna, Password
click New Password
click Replace
sees the present one will be lost
run [ "\$("$VAUBAN_BUILD/vauban" get github/anna)" = tulips-and-rain-7 ]
click Replace
sees The previous one is not kept.
run [ "\$("$VAUBAN_BUILD/vauban" get github/anna | wc -c)" = 20 ]
run "$VAUBAN_BUILD/vauban" settings --history on >/dev/null
click New Password
click Replace
sees The previous one is in the history.
STEPS
vauban undo github/anna 2>/dev/null || fail 'the earlier password is not in the history'
vauban undo github/anna --version 2 2>/dev/null && fail 'the password that the window declared lost is in the history'

# The history is turned off while the window asks, and is off when it asks again.
printf 'lantern-1' | vauban set wiki/bert || fail 'set failed'
at_desktop <<STEPS
start
click github, anna, Password
click Delete
sees You can restore it for thirty days.
run "$VAUBAN_BUILD/vauban" settings --history off >/dev/null
click Delete Item
sees It cannot be restored.
sees Your keychain no longer keeps deleted items, so nothing was deleted.
hides You can restore it for thirty days.
run "$VAUBAN_BUILD/vauban" get github/anna >/dev/null
focus Cancel
named
shot delete-for-good
click Delete Item
sees “github” is deleted
sees It cannot be restored.
hides Undo
run ! "$VAUBAN_BUILD/vauban" get github/anna 2>/dev/null
run [ -z "\$("$VAUBAN_BUILD/vauban" list --deleted 2>/dev/null)" ]
click wiki, bert, Password
click Delete
sees It cannot be restored.
run "$VAUBAN_BUILD/vauban" settings --history on >/dev/null
click Delete Item
sees You can restore it here, or for thirty days with vauban undelete.
click Undo
sees Restored.
STEPS
echo 'a password is lost only after the window has warned of it'
