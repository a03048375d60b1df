#!/usr/bin/env bash
# The sheet under Wayland, with a window manager: sway on an output that exists in memory only, and no X server. It opens as a dialog with the
# keyboard, accepts right and wrong passcodes and a refusal; it closes when the caller ends and when the keychain locks; it appears where the user
# is, beside and above other windows, but not above one that fills the screen. Its pictures stay in .build/test-results/sheet.
# limit: 1200
# proves: C-095 C-097 C-099 C-103 C-104
set -u
. Tests/Scripts/lib/sheet-wayland.sh
set_passcode
printf 'the secret' | vauban set bank/anna --require presence || fail 'set failed'
asker get "$VAUBAN_BUILD/vauban" get bank/anna
asker again "$VAUBAN_BUILD/vauban" get bank/anna
asker ask "$VAUBAN_BUILD/keychain-caller" ask payment

# A dialog in the middle of the screen, of its own size, with the keyboard; a refusal, and a passcode.
at_desktop <<STEPS
start
run [ -z "\${DISPLAY:-}" ]
run $TMPDIR/ask
sees keychain-caller
sees wants to make sure that it is you
sees Message: “payment”
stands native focused floating whole middle shown
focus Vauban passcode
shot wayland
type half a pass
key Escape
gone
run $TMPDIR/ask-ended 0
run grep -qx -- -2 $TMPDIR/ask.out
run $TMPDIR/ask
sees Message: “payment”
type $passcode
key Return
gone
run $TMPDIR/ask-ended 0
run grep -qx 0 $TMPDIR/ask.out
run $TMPDIR/get
sees $(readlink -f "$VAUBAN_BUILD/vauban") · process
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
forgot $passcode
run grep -q 'the secret' $TMPDIR/get.out
STEPS
# Wrong, then right: it stays and grows by the line that reports it; by the keyboard alone.
at_desktop <<STEPS
start
run $TMPDIR/get
sees Vauban passcode
type wrong
key Return
sees That was not your passcode. 4 attempts are left before you have to wait.
focus Vauban passcode
stands native focused floating whole shown
shot wayland-wrong
type x
key Tab
focus Cancel
shot wayland-focus-ring
key Tab
focus Allow
key Tab
focus Vauban passcode
key BackSpace
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
STEPS
# The caller is killed; the keychain locks.
at_desktop <<STEPS
start
run $TMPDIR/get
sees Vauban passcode
run kill -KILL \$(cat $TMPDIR/get.pid)
gone
run $TMPDIR/get-ended 137
run $TMPDIR/get
sees Vauban passcode
run $VAUBAN_BUILD/vauban lock 2>/dev/null
gone
run $TMPDIR/get-ended 36
STEPS
unlock
# Beside another window: it takes the keyboard as every new window does, returns it, and stays where it is when the user changes to another
# workspace. The next prompt appears where they are then.
at_desktop <<STEPS
start
run $TMPDIR/other
run $TMPDIR/get
stands focused floating whole middle shown
run $TMPDIR/sway focus tiling
stands unfocused calm shown
shot wayland-beside
run $TMPDIR/sway focus floating
stands focused
run $TMPDIR/sway workspace 2
stands unfocused calm behind
run $TMPDIR/sway workspace 1
stands focused shown
run $TMPDIR/sway workspace 2
run $TMPDIR/again
run kill -KILL \$(cat $TMPDIR/get.pid)
run $TMPDIR/get-ended 137
stands focused floating shown
type $passcode
key Return
gone
run $TMPDIR/again-ended 0
STEPS
# Under a window that fills the screen it waits unseen, until that one closes or the user changes to the sheet.
at_desktop <<STEPS
start
run $TMPDIR/other
run $TMPDIR/sway fullscreen enable
run $TMPDIR/get
stands unfocused calm behind
run $TMPDIR/sway fullscreen disable
stands unfocused calm shown
run $TMPDIR/sway focus floating
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
STEPS
# Dark; and on a screen with four pixels for each.
at_desktop <<STEPS
start GTK_THEME=Adwaita:dark
run $TMPDIR/get
sees Vauban passcode
type wrong
key Return
sees That was not your passcode
shot wayland-dark
key Escape
gone
STEPS
at_desktop <<STEPS
start
run $TMPDIR/sway output HEADLESS-1 resolution 2560x1600 scale 2
run $TMPDIR/get
sees Vauban passcode
stands native focused floating whole middle
shot wayland-scale-2
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
STEPS
echo 'a user at a Wayland desktop sees the caller, and answers'
