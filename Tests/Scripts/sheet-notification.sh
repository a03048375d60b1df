#!/usr/bin/env bash
# A prompt in a window that the user does not see, under Wayland: the desktop's own notification says that it waits, and nothing more; it
# disappears when the sheet has the keyboard and when the prompt ends, and a click on it shows the sheet. While the sheet is visible there is
# none. The desktop is sway, and dunst shows notifications. Its pictures stay in .build/test-results/sheet.
set -u
for tool in dunst dunstctl dbus-monitor convert; do command -v "$tool" >/dev/null || { echo "there is no $tool here"; exit 77; }; done
. Tests/Scripts/lib/sheet-wayland.sh
set_passcode
printf 'the secret' | vauban set bank/anna --require presence || fail 'set failed'
asker get "$VAUBAN_BUILD/vauban" get bank/anna
# A program with the worst name and reason: a notification must contain neither.
asker evil "$VAUBAN_BUILD/keychain-caller" ask '"<b>Your bank</b> & %s"'

# The sheet's requests to the desktop, as a listener on the bus receives them; and the daemon that shows notifications.
cat >"$TMPDIR/notifier" <<'NOTIFIER'
#!/bin/bash
[ ! -e "$TMPDIR/calls" ] || cat "$TMPDIR/calls" >>"$TMPDIR/calls.before"
: >"$TMPDIR/calls"
dbus-monitor --session "type='method_call',interface='org.freedesktop.Notifications'" >"$TMPDIR/calls" 2>&1 &
until grep -q . "$TMPDIR/calls"; do kill -0 $! || exit 1; done
dunst -config /dev/null >"$TMPDIR/dunst" 2>&1 &
until dunstctl count displayed >/dev/null 2>&1; do kill -0 $! || { cat "$TMPDIR/dunst"; exit 1; }; done
NOTIFIER
# written: waits until all earlier requests are recorded. The bus keeps the order, and no other program queries the daemon's capabilities.
cat >"$TMPDIR/written" <<'WRITTEN'
#!/bin/bash
before=$(grep -c member=GetCapabilities "$TMPDIR/calls")
name=org.freedesktop.Notifications
dbus-send --session --print-reply --dest=$name /org/freedesktop/Notifications $name.GetCapabilities >/dev/null || exit 1
until [ "$(grep -c member=GetCapabilities "$TMPDIR/calls")" -gt "$before" ]; do :; done
WRITTEN
# shown N: waits until so many are visible. asked N: how many were requested in all.
cat >"$TMPDIR/shown" <<'SHOWN'
#!/bin/bash
SECONDS=0; while [ $SECONDS -lt "$hang_seconds" ]; do [ "$(dunstctl count displayed)" = "$1" ] && exit 0; done
echo "there are $(dunstctl count displayed) notifications, not $1"; exit 1
SHOWN
printf '#!/bin/bash\n"$TMPDIR/written" || exit 1\ncount=$(grep -c member=Notify "$TMPDIR/calls"); [ "$count" = "$1" ] || { echo "$count notifications were asked for, not $1"; exit 1; }\n' >"$TMPDIR/asked"
chmod +x "$TMPDIR"/{notifier,written,shown,asked}

# Behind a window that fills the screen; it disappears when the sheet is visible, and appears for the next prompt alone.
at_desktop <<STEPS
start
run $TMPDIR/notifier
run $TMPDIR/other
run $TMPDIR/sway fullscreen enable
run $TMPDIR/get
stands unfocused behind
run $TMPDIR/shown 1
run $TMPDIR/asked 1
shot wayland-notification
run $TMPDIR/sway fullscreen disable
run $TMPDIR/sway focus floating
stands focused shown
run $TMPDIR/shown 0
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
run $TMPDIR/sway focus tiling
run $TMPDIR/sway fullscreen enable
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
# On a workspace that the user left before the sheet appeared: a click moves it to the present one.
at_desktop <<STEPS
start
run $TMPDIR/notifier
run $TMPDIR/sway 'no_focus [app_id="vauban-sheet"]'
run $TMPDIR/other
run $TMPDIR/get
stands unfocused
run $TMPDIR/sway workspace 2
run $TMPDIR/shown 1
stands unfocused behind
run dunstctl action 0
stands shown
run $TMPDIR/sway focus floating
stands focused shown
run $TMPDIR/shown 0
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
run $TMPDIR/written
STEPS
# Its text is the same for every caller.
cat "$TMPDIR/calls" >>"$TMPDIR/calls.before"; mv "$TMPDIR/calls.before" "$TMPDIR/calls.told"; : >"$TMPDIR/calls"
[ "$(grep -c 'string "Vauban needs your approval"' "$TMPDIR/calls.told")" = 4 ] || { cat "$TMPDIR/calls.told"; fail 'the notification has another text'; }
# While the sheet is visible there is none: the sheet counts down for seconds in which one would have appeared. On a busy machine a window can
# exist for a while before the desktop gives it the keyboard, so earlier requests do not count.
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
# A use of a canary item: the notification reports it at once, and to a sheet that starts later, until the user has seen it.
printf bait | vauban set aws/root || fail 'set failed'
vauban canary add aws/root 2>/dev/null || fail 'the item is not a canary'
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
# The sheet of the second desktop may have sent its request, to a daemon that the bus started for it, before the listener was there.
[ "$(grep -c 'string "A canary item in your keychain was used"' "$TMPDIR/calls.told")" -ge 1 ] || { cat "$TMPDIR/calls.told"; fail 'the use of a canary is not reported'; }
grep -qE 'bank|anna|aws|bait|keychain-caller|the secret' "$TMPDIR/calls.told" && { cat "$TMPDIR/calls.told"; fail 'the notification names the caller or the reason'; }
echo 'a user who does not see the prompt is notified of it'
