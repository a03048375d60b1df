#!/usr/bin/env bash
# The sheet of a user of the installed service: a program's own name and icon, and consent with the chosen answer.
# proves: C-095 C-097 C-104
set -u
[ -x "$VAUBAN_BUILD/vauban-sheet" ] || { echo 'the sheet is not built: there is no GTK 4 here'; exit 77; }
for tool in Xvfb xdotool import dbus-run-session; do command -v "$tool" >/dev/null || { echo "there is no $tool here"; exit 77; }; done
/usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null || { echo 'there is no gir1.2-atspi-2.0 here'; exit 77; }
. Tests/Scripts/lib/system-rooms.sh
cp "$VAUBAN_BUILD/vauban-sheet" Tests/Scripts/lib/desktop.py "$bin/" && cp "$bin/keychain-caller" /usr/local/games/bin/mail && chmod 755 "$bin"/* /usr/local/games/bin/mail
shots=$PWD/.build/test-results/sheet
mkdir -p "$shots"
# The desktop's menu has an entry for it, which root owns.
mount -t tmpfs -o mode=755 tmpfs /usr/local/share && mkdir /usr/local/share/applications || { echo 'it cannot mount here'; exit 77; }
printf '[Desktop Entry]\nType=Application\nName=Example Mail\nIcon=emblem-mail\nExec=/usr/local/games/bin/mail %%U\n' >/usr/local/share/applications/mail.desktop
start_rooms
with_passcode alice passcode set 2>/dev/null || { echo 'no passcode could be set'; exit 1; }
equals "$(as vauban-test-alice /usr/local/games/bin/mail add a 'of mail')" 0 || exit 1
equals "$(as vauban-test-alice /usr/local/games/bin/mail guard b 'guarded')" 0 || exit 1
own=$TMPDIR/alice
# at_desktop <<STEPS: as alice.
at_desktop() {
    as vauban-test-alice XDG_RUNTIME_DIR="$own" TMPDIR="$own" "$bin/desktop.py" "$bin/vauban-sheet" "$own" >"$TMPDIR/desktop" \
        2>"$TMPDIR/desktop.err" && cp "$own"/*.png "$shots/" && return
    cat "$TMPDIR/desktop"; grep -v dbus "$TMPDIR/desktop.err"; return 1
}
# start NAME COMMAND: a step runs it to send the request without a terminal; `ended NAME` waits, and prints the outcome.
cat >"$own/start" <<'START'
#!/bin/bash
name=$1; shift
setsid bash -c '"$@" >"$HOME/$0.out" 2>&1; echo "status $?" >>"$HOME/$0.out"' "$name" "$@" </dev/null >/dev/null 2>&1 &
echo $! >"$HOME/$name.pid"
START
cat >"$own/ended" <<'ENDED'
#!/bin/bash
tail -s 0.02 --pid="$(cat "$HOME/$1.pid")" -f /dev/null
cat "$HOME/$1.out"
grep -qF -- "$2" "$HOME/$1.out"
ENDED
chmod 755 "$own/start" "$own/ended"
check 'a program is shown by its name in the menu' at_desktop <<STEPS
start
run $own/start b /usr/local/games/bin/mail get b
sees Example Mail
sees /usr/local/games/bin/mail · process
shot application
type alice passcode
key Return
gone
run $own/ended b 'guarded'
STEPS
check 'a program that requests the item of another is shown with it, and a refusal is obeyed' at_desktop <<STEPS
start
run $own/start c $bin/vauban get callers/a --owner program:/usr/local/games/bin/mail
sees wants to read a secret that another program keeps
sees program:/usr/local/games/bin/mail
sees Only this once
sees Until the keychain locks
sees Always
shot consent
click Don’t Allow
gone
run $own/ended c 'status 128'
STEPS
check 'consent until the lock holds for the next time' at_desktop <<STEPS
start
run $own/start c $bin/vauban get callers/a --owner program:/usr/local/games/bin/mail
focus Vauban passcode
type alice passcode
key Tab
key Down
shot consent-chosen
click Allow
gone
run $own/ended c 'of mail'
run $own/start c $bin/vauban get callers/a --owner program:/usr/local/games/bin/mail
run $own/ended c 'of mail'
STEPS
finish
