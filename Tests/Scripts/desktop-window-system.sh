#!/usr/bin/env bash
# The desktop application of a user of the installed service: it shows the items of `vauban list` and none of programs, it shows and revokes
# the user's consent that a program reads an item, and no other program of the user can read its memory.
# limit: 600
set -u
[ -x "$VAUBAN_BUILD/vauban-desktop" ] || { echo 'the desktop application is not built: there is no GTK 4 here'; exit 77; }
for tool in Xvfb xdotool import dbus-run-session; do command -v "$tool" >/dev/null || { echo "there is no $tool here"; exit 77; }; done
/usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null || { echo 'there is no gir1.2-atspi-2.0 here'; exit 77; }
. Tests/Scripts/lib/system-rooms.sh
cp "$VAUBAN_BUILD/vauban-desktop" Tests/Scripts/lib/desktop.py Tests/Scripts/lib/window.py "$bin/" &&
    cp "$bin/keychain-caller" /usr/local/games/bin/mail && chmod 755 "$bin"/* /usr/local/games/bin/mail
shots=$PWD/.build/test-results/desktop
mkdir -p "$shots"
start_rooms
with_passcode alice passcode set 2>/dev/null || { echo 'no passcode could be set'; exit 1; }
equals "$(as vauban-test-alice /usr/local/games/bin/mail add a 'of mail')" 0 || exit 1
printf 'tulips-and-rain-7' | alice set github/anna || { echo 'set failed'; exit 1; }
printf 'lantern-fish-11' | alice set wiki/bert || { echo 'set failed'; exit 1; }
cat >"$TMPDIR/allow" <<PLAY
expect asscode
secret alice passcode
expect Allowed
PLAY
for item in github/anna wiki/bert; do
    play alice "$bin/vauban" allow /usr/local/games/bin/mail $item <"$TMPDIR/allow" >"$TMPDIR/shown" || { cat "$TMPDIR/shown"; exit 1; }
done
own=$TMPDIR/alice
# at_desktop <<STEPS: runs the steps as alice.
at_desktop() {
    as vauban-test-alice XDG_RUNTIME_DIR="$own" TMPDIR="$own" "$bin/window.py" "$bin/vauban-desktop" "$own" >"$TMPDIR/desktop" \
        2>"$TMPDIR/desktop.err" && cp "$own"/*.png "$shots/" && return
    cat "$TMPDIR/desktop"; grep -v dbus "$TMPDIR/desktop.err"; return 1
}
check 'the window shows the items of the command line' at_desktop <<STEPS
start
sees 2 items
hides callers
click github, anna, Password
click Reveal
sees tulips-and-rain-7
shot system
click History
sees There are no earlier passwords.
click Back
sees Reveal
click Access
sees You, with vauban or in this window, and these programs:
sees program:/usr/local/games/bin/mail
sees with vauban-desktop
shot access-system
focus Back
click Revoke program:/usr/local/games/bin/mail
sees program:/usr/local/games/bin/mail may not read it any more.
sees No other program.
shot access-revoked
run $bin/vauban allow 2>/dev/null | grep -q 'mail.*wiki/bert' && ! $bin/vauban allow 2>/dev/null | grep 'mail.*github/anna'
run $bin/vauban lock 2>/dev/null
sees Your keychain is locked
STEPS
with_passcode alice unlock 2>/dev/null || { echo 'the keychain could not be unlocked'; exit 1; }
check 'no other program of the user can read its memory' at_desktop <<STEPS
start
sees 2 items
run pid=\$(pgrep -P \$PPID -x vauban-desktop) && [ -n "\$pid" ] && ! dd if=/proc/\$pid/mem of=/dev/null count=1 2>/dev/null && ! ls /proc/\$pid/fd 2>/dev/null
STEPS
finish
