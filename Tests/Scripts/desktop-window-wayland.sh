#!/usr/bin/env bash
# The desktop application under Wayland (sway): by the keyboard alone an item is found, revealed and copied, and the lock hides and clears it.
# Its pictures stay in .build/test-results/desktop.
# limit: 600
set -u
player=window-wayland.py
player_tools='sway swaymsg swaybg wtype grim setpriv wl-paste'
. Tests/Scripts/lib/desktop-window.sh
set_passcode
printf 'tulips-and-rain-7' | vauban set github/anna || fail 'set failed'
printf 'the vault secret' | vauban set bank/anna --require presence || fail 'set --require failed'

at_desktop <<STEPS
start
sees 2 items
focus Search
type github
sees 1 item
key Return
focus github, anna, Password
sees Reveal
key Tab
focus Reveal
key Return
sees tulips-and-rain-7
shot wayland
key Tab
focus Copy Password
key Return
sees Copied.
run timeout $hang_seconds bash -c 'until [ "\$(wl-paste --no-newline 2>/dev/null)" = tulips-and-rain-7 ]; do :; done'
run "$VAUBAN_BUILD/vauban" lock 2>/dev/null
sees Your keychain is locked
hides tulips
shot wayland-locked
forgot tulips-and-rain-7
run ! wl-paste --no-newline 2>/dev/null | grep tulips
STEPS
unlock
at_desktop <<STEPS
start
run swaymsg -q output HEADLESS-1 resolution 2560x1600 scale 2
sees 2 items
key Tab
shot wayland-scale-2
STEPS
echo 'a user at a Wayland desktop finds and reads items in a window'
