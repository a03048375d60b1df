#!/usr/bin/env bash
# A question in a window that the user does not see, under Wayland: the desktop's own notification says that it waits, and nothing more
# than that; it goes when the sheet has the keyboard and when the question ends, and a click on it brings the sheet. While the sheet is
# seen there is none. The desktop is sway, what shows notifications is dunst. Its pictures stay in .build/test-results/sheet.
set -u
for tool in dunst dunstctl dbus-monitor convert; do command -v "$tool" >/dev/null || { echo "there is no $tool here"; exit 77; }; done
. Tests/Scripts/lib/sheet-wayland.sh
set_passcode
printf 'the secret' | vauban set bank/anna --require presence || fail 'set failed'
asker get "$VAUBAN_BUILD/vauban" get bank/anna
# Whose name and words are the worst: none of them is for a notification.
asker evil "$VAUBAN_BUILD/keychain-caller" ask '"<b>Your bank</b> & %s"'

# What the sheet asks of the desktop, as whoever listens on the bus hears it; the daemon that shows it.
cat >"$TMPDIR/notifier" <<'NOTIFIER'
#!/bin/bash
[ ! -e "$TMPDIR/calls" ] || cat "$TMPDIR/calls" >>"$TMPDIR/calls.before"
: >"$TMPDIR/calls"
dbus-monitor --session "type='method_call',interface='org.freedesktop.Notifications'" >"$TMPDIR/calls" 2>&1 &
until grep -q . "$TMPDIR/calls"; do kill -0 $! || exit 1; done
dunst -config /dev/null >"$TMPDIR/dunst" 2>&1 &
until dunstctl count displayed >/dev/null 2>&1; do kill -0 $! || { cat "$TMPDIR/dunst"; exit 1; }; done
NOTIFIER
# written: waits until all that was asked for until now is written down. The bus keeps the order, and nobody else asks what the daemon can do.
cat >"$TMPDIR/written" <<'WRITTEN'
#!/bin/bash
before=$(grep -c member=GetCapabilities "$TMPDIR/calls")
name=org.freedesktop.Notifications
dbus-send --session --print-reply --dest=$name /org/freedesktop/Notifications $name.GetCapabilities >/dev/null || exit 1
until [ "$(grep -c member=GetCapabilities "$TMPDIR/calls")" -gt "$before" ]; do :; done
WRITTEN
# shown N: waits until so many are to be seen. asked N: how many were ever asked for.
cat >"$TMPDIR/shown" <<'SHOWN'
#!/bin/bash
SECONDS=0; while [ $SECONDS -lt "$hang_seconds" ]; do [ "$(dunstctl count displayed)" = "$1" ] && exit 0; done
echo "there are $(dunstctl count displayed) notifications, not $1"; exit 1
SHOWN
printf '#!/bin/bash\n"$TMPDIR/written" || exit 1\ncount=$(grep -c member=Notify "$TMPDIR/calls"); [ "$count" = "$1" ] || { echo "$count notifications were asked for, not $1"; exit 1; }\n' >"$TMPDIR/asked"
chmod +x "$TMPDIR"/{notifier,written,shown,asked}

# Behind a window that fills the screen; it goes when the sheet is seen, and comes for the next question alone.
at_desktop <<STEPS
start
run $TMPDIR/notifier
run $TMPDIR/other
run swaymsg -q fullscreen enable
run $TMPDIR/get
stands unfocused behind
run $TMPDIR/shown 1
run $TMPDIR/asked 1
shot wayland-notification
run swaymsg -q fullscreen disable
run swaymsg -q focus floating
stands focused shown
run $TMPDIR/shown 0
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
run swaymsg -q focus tiling
run swaymsg -q fullscreen enable
run $TMPDIR/evil
stands unfocused behind
run $TMPDIR/shown 1
run $TMPDIR/asked 2
run kill -KILL \$(cat $TMPDIR/evil.pid)
gone
run $TMPDIR/shown 0
run $TMPDIR/evil-ended 137
run $TMPDIR/get
run $TMPDIR/shown 1
run $VAUBAN_BUILD/vauban lock 2>/dev/null
gone
run $TMPDIR/shown 0
run $TMPDIR/get-ended 36
run $TMPDIR/written
STEPS
unlock
# On a workspace that the user left before it was there for them to see: a click brings it to where they are.
at_desktop <<STEPS
start
run $TMPDIR/notifier
run swaymsg -q 'no_focus [app_id="vauban-sheet"]'
run $TMPDIR/other
run $TMPDIR/get
stands unfocused
run swaymsg -q workspace 2
run $TMPDIR/shown 1
stands unfocused behind
run dunstctl action 0
stands shown
run swaymsg -q focus floating
stands focused shown
run $TMPDIR/shown 0
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
run $TMPDIR/written
STEPS
# Its words are the same whoever asks.
cat "$TMPDIR/calls" >>"$TMPDIR/calls.before"; mv "$TMPDIR/calls.before" "$TMPDIR/calls.told"; : >"$TMPDIR/calls"
[ "$(grep -c 'string "Vauban needs your approval"' "$TMPDIR/calls.told")" = 4 ] || { cat "$TMPDIR/calls.told"; fail 'the notification does not say what it should'; }
# Where it is seen there is none: it counts down for seconds in which one would have come. On a busy machine a window can be there for a
# while before the desktop gives it the keyboard, so what was asked for until then does not count.
printf '#!/bin/bash\n"$TMPDIR/written" || exit 1\ngrep -c member=Notify "$TMPDIR/calls" >"$TMPDIR/asked.before"; exit 0\n' >"$TMPDIR/count"
printf '#!/bin/bash\nexec "$TMPDIR/asked" "$(cat "$TMPDIR/asked.before")"\n' >"$TMPDIR/none-since"
chmod +x "$TMPDIR"/{count,none-since}
wrong='type wrong
key Return'
at_desktop <<STEPS
start
run $TMPDIR/notifier
run $TMPDIR/other
run $TMPDIR/get
stands focused shown
$wrong
sees 4 attempts are left
$wrong
sees 3 attempts are left
$wrong
gone
run $TMPDIR/get-ended 51
run $TMPDIR/get
$wrong
sees 1 attempt is left
$wrong
sees You can try again in
stands focused shown
run $TMPDIR/count
run $TMPDIR/shown 0
counts 3 You can try again in
stands focused shown
run $TMPDIR/none-since
key Escape
gone
run $TMPDIR/none-since
STEPS
# A canary item that is used: the notification says so at once, and to a sheet that starts later, until the user has seen it.
printf bait | vauban set aws/root || fail 'set failed'
vauban canary add aws/root 2>/dev/null || fail 'it is no canary'
at_desktop <<STEPS
start
run $TMPDIR/notifier
run $VAUBAN_BUILD/vauban get aws/root >$TMPDIR/bait
run $TMPDIR/shown 1
run $TMPDIR/written
STEPS
at_desktop <<STEPS
start
run $TMPDIR/notifier
run $TMPDIR/shown 1
run $TMPDIR/written
STEPS
cat "$TMPDIR/calls" >>"$TMPDIR/calls.before"; cat "$TMPDIR/calls.before" >>"$TMPDIR/calls.told"
# A sheet that asked before the daemon was there asks again when it is.
[ "$(grep -c 'string "A canary item in your keychain was used"' "$TMPDIR/calls.told")" -ge 2 ] || { cat "$TMPDIR/calls.told"; fail 'the use of a canary is not told'; }
grep -qE 'bank|anna|aws|bait|keychain-caller|the secret' "$TMPDIR/calls.told" && { cat "$TMPDIR/calls.told"; fail 'the notification says who asks or for what'; }
echo 'a user who does not see the question is told that there is one'
