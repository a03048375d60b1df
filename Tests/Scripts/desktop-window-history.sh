#!/usr/bin/env bash
# The desktop application with a keychain that keeps no history: before a password is replaced, the window warns that the present one will be
# lost, and afterwards it is.
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
echo 'a password is lost only after the window has warned of it'
