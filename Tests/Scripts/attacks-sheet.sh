#!/usr/bin/env bash
# Attacks on the sheet by other programs on an X11 display. Each check is an attack of Manual/attacks.md.
set -u
# A backend of the portal registers on the bus of screen readers without answering there, and hides the sheet from A95's program.
portal=/usr/share/dbus-1/services/org.freedesktop.portal.Desktop.service
. Tests/Scripts/lib/own-mounts.sh
if [ -z "${VAUBAN_WITHOUT_PORTAL:-}" ] && [ -e "$portal" ] && "$has_own_mounts"; then
    export VAUBAN_WITHOUT_PORTAL=1
    # Words of one command, so unquoted on purpose.
    # shellcheck disable=SC2086
    exec unshare $own_mounts bash -c 'mount --bind /dev/null "$1" && exec "$0"' "$0" "$portal"
fi
. Tests/Scripts/lib/sheet.sh
[ "${VAUBAN_TEST_USERS:-0}" = 1 ] || { echo 'it needs the test users, who only root can make'; exit 77; }
for tool in xinput setpriv gcc identify; do command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }; done
set_passcode
printf 'the secret' | vauban set bank/anna --require presence || fail 'set failed'
asker get "$VAUBAN_BUILD/vauban" get bank/anna
. Tests/Scripts/lib/attack-report.sh
quote="'" stars="'[*]'"

# A program that listens to the display's keyboard, and another that captures its screen. What the listener receives while the same text is typed
# elsewhere shows which key is which.
cat >"$TMPDIR/listen" <<'LISTEN'
#!/bin/bash
stdbuf -oL xinput test-xi2 --root >"$TMPDIR/$1" &
echo $! >"$TMPDIR/listener"
# It first lists the devices; that it listens is known from an event.
until grep -q '^EVENT' "$TMPDIR/$1"; do xdotool mousemove_relative 1 0 mousemove_relative -- -1 0; done
LISTEN
cat >"$TMPDIR/heard" <<'HEARD'
#!/bin/bash
# Until the last key has arrived: Return, which occurs once.
until [ "$(grep -A 2 RawKeyPress "$TMPDIR/$1" | grep -c 'detail: 36')" = 1 ]; do :; done
kill "$(cat "$TMPDIR/listener")"
grep -A 2 RawKeyPress "$TMPDIR/$1" | sed -n 's/.*detail: //p' >"$TMPDIR/$1.keys"
HEARD
# A program that listens on the bus of screen readers, and reads an entry at each of its changes.
cat >"$TMPDIR/ears.py" <<'EARS'
import os

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi

# Without this a call to a program that is not scheduled for 800 ms is an error.
seconds_max = int(os.environ["hang_seconds"])
Atspi.set_timeout(seconds_max * 1000, seconds_max * 1000)


def heard(event):
    entry = event.source
    texts = [event.any_data, Atspi.Text.get_text(entry, 0, -1), Atspi.Text.get_string_at_offset(entry, 0, Atspi.TextGranularity.LINE).content]
    texts += [chr(Atspi.Text.get_character_at_offset(entry, place)) for place in range(Atspi.Text.get_character_count(entry))]
    print(event.type, entry.get_name(), *(repr(text) for text in texts), sep="\t", flush=True)


listener = Atspi.EventListener.new(heard)
listener.register("object:text-changed")
print("listens", flush=True)
Atspi.event_main()
EARS
cat >"$TMPDIR/ears" <<'EARS'
#!/bin/bash
/usr/bin/python3 "$TMPDIR/ears.py" >"$TMPDIR/ears.out" 2>&1 &
echo $! >"$TMPDIR/ears.pid"
until grep -q listens "$TMPDIR/ears.out"; do kill -0 $! || exit 1; done
EARS
# As many changes as characters; the deadline only ends a failing test.
cat >"$TMPDIR/ears-heard" <<'EARS'
#!/bin/bash
[ "$(timeout "$hang_seconds" tail -n +1 -F "$TMPDIR/ears.out" | grep -c -m "$1" 'text-changed:insert')" = "$1" ]
status=$?
kill "$(cat "$TMPDIR/ears.pid")"
exit "$status"
EARS
# A program that presses a button and types over the same bus, as assistive software does.
cat >"$TMPDIR/hands" <<'HANDS'
#!/usr/bin/python3
import os
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib

verb, name, *text = sys.argv[1:]
seconds_max = int(os.environ["hang_seconds"])
Atspi.set_timeout(seconds_max * 1000, seconds_max * 1000)


def tried():
    """Whether a part of this name was pressed, or took the text."""
    waiting = [Atspi.get_desktop(0)]
    # An object that did not reply once would stay without children.
    waiting[0].clear_cache()
    while waiting:
        part = waiting.pop()
        try:
            waiting += [part.get_child_at_index(index) for index in range(part.get_child_count())]
            if part.get_name() != name or part.get_role_name() in ("frame", "label"):
                continue
            if Atspi.Action.do_action(part, 0) if verb == "press" else Atspi.EditableText.insert_text(part, 0, text[0], len(text[0])):
                return True
        except GLib.Error as error:
            print(error)
    return False


# The tree changes while it is looked at.
end = time.monotonic() + seconds_max
while not tried():
    if time.monotonic() > end:
        sys.exit(f"{name} is not there over the bus, or takes nothing")
HANDS
# As alice, who has no rights over other users' programs: peek READY COMMAND... starts a program, waits until it is ready, and opens what the
# kernel shows of it.
install -d -o vauban-test-alice -g vauban-test-alice -m 700 "$TMPDIR/alice"
install -m 755 "$sheet" "$TMPDIR/vauban-sheet"
gcc -O1 -o "$TMPDIR/trespasser" Tests/Scripts/lib/trespasser.c || fail 'trespasser does not compile'
cat >"$TMPDIR/peek" <<'PEEK'
#!/bin/bash
ready=$1; shift
mkfifo "$HOME/told" && exec {told}<>"$HOME/told"
"$@" 2>&"$told" &
while read -r -t "$hang_seconds" -u "$told" line; do [[ $line == *$ready* ]] && break; done
for file in mem environ maps; do "$TMPDIR/trespasser" look "/proc/$!/$file"; done
kill $! && echo 'it was there'
rm "$HOME/told"
PEEK
cat >"$TMPDIR/peek-as-alice" <<'PEEK'
#!/bin/bash
out=$1; shift
setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs \
    env -i PATH="$PATH" hang_seconds="$hang_seconds" TMPDIR="$TMPDIR" HOME="$TMPDIR/alice" XDG_RUNTIME_DIR="$TMPDIR/alice" DISPLAY="$DISPLAY" GTK_A11Y=none "$TMPDIR/peek" "$@" >"$TMPDIR/$out"
PEEK
# A program that requests a recovery key or a new passcode, as the desktop application does, and one that looks for digits in everything on the
# bus. Handling takes longer than GTK needs for the earlier keys.
gcc -O1 -I Tests/Scripts/lib -DAUTHENTICATION="\"$VAUBAN_HOME/run/authentication\"" -o "$TMPDIR/impostor" Tests/Scripts/lib/impostor.c || fail 'impostor does not compile'
asker recover "$TMPDIR/impostor" change recovery-key
asker change "$TMPDIR/impostor" change passcode
unread='Recovery key: eight groups of six digits, not read to screen readers until you press F2'
theirs='nine lanterns of mallory 7'
cat >"$TMPDIR/told" <<'TOLD'
#!/usr/bin/python3
import os
import re

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib

seconds_max = int(os.environ["hang_seconds"])
Atspi.set_timeout(seconds_max * 1000, seconds_max * 1000)
waiting, found = [Atspi.get_desktop(0)], 0
while waiting:
    part = waiting.pop()
    try:
        waiting += [part.get_child_at_index(index) for index in range(part.get_child_count())]
        words = [part.get_name() or "", part.get_description() or ""]
        try:
            words.append(Atspi.Text.get_text(part, 0, -1))
        except GLib.Error:
            pass  # It has no text.
    except GLib.Error:
        continue
    found += sum(len(re.findall(r"\b\d{6}\b", word)) for word in words)
print(found)
TOLD
chmod +x "$TMPDIR"/{listen,heard,ears,ears-heard,hands,told}
chmod 755 "$TMPDIR"/{peek,peek-as-alice}
at_desktop <<STEPS
start
run import -window root $TMPDIR/before.png
run $TMPDIR/get
sees Vauban passcode
run $TMPDIR/peek-as-alice peeked 'Prompts cannot appear here now' $TMPDIR/vauban-sheet
run $TMPDIR/peek-as-alice control begun sh -c 'echo begun >&2; exec tail -f /dev/null'
run import -window root $TMPDIR/seen.png
type wrong
key Return
sees 4 attempts are left
run $TMPDIR/hands type 'Vauban passcode' guess
run $TMPDIR/hands press Allow
sees 3 attempts are left
run $TMPDIR/listen secret
run $TMPDIR/ears
type $passcode
run $TMPDIR/ears-heard ${#passcode}
key Return
gone
run $TMPDIR/get-ended 0
run $TMPDIR/heard secret
run $TMPDIR/listen known
run xdotool type -- "$passcode" && xdotool key Return
run $TMPDIR/heard known
run $TMPDIR/change
sees wants to change your passcode to a new one that you type here
focus Current passcode
type $passcode
run $TMPDIR/hands type 'New passcode' '$theirs'
run $TMPDIR/hands type 'Repeat the new passcode' '$theirs'
run $TMPDIR/hands press 'Change Passcode'
run $TMPDIR/told >/dev/null
sees Type your current passcode, then a new one twice.
run ! grep -q done $TMPDIR/change.out
focus Current passcode
key Tab
focus New passcode
hides whoever has this disk
key Tab
focus Repeat the new passcode
sees whoever has this disk
key Return
gone
run $TMPDIR/change-ended 0
run $TMPDIR/recover
sees to make a recovery key, which is shown here once
type $theirs
key Return
sees Your recovery key
focus $unread
key Tab
focus I have written it down
key space
run $TMPDIR/hands press Done
run $TMPDIR/told >$TMPDIR/told.out
sees Your recovery key
sees $unread
key F2
hides not read to screen readers
run $TMPDIR/told >$TMPDIR/told.control
key Return
key Tab
focus I have written it down
key Tab
focus Done
key Return
gone
run $TMPDIR/recover-ended 0
STEPS
check 'A90 another program on an X11 display reads the keys that are typed into the sheet: succeeds' \
    eval '[ "$(wc -l <"$TMPDIR/secret.keys")" -ge ${#passcode} ] && cmp "$TMPDIR/secret.keys" "$TMPDIR/known.keys"'
check 'A91 it takes a picture of the sheet: succeeds, and sees the question' \
    eval '[ "$(identify -format %k "$TMPDIR/before.png")" -lt 10 ] && [ "$(identify -format %k "$TMPDIR/seen.png")" -gt 50 ]'
check 'A92 it types into the sheet: succeeds, and a wrong passcode counts' expect_text 'ok: sees 4 attempts are left' "$TMPDIR/desktop"
check 'A93 it reads the memory of the sheet: refused, and not of a program that hides nothing' eval \
    'equals "$(xargs <"$TMPDIR/peeked")" "refused 13 refused 13 refused 13 it was there" && equals "$(xargs <"$TMPDIR/control")" "done done done it was there"'
# It is notified that something was typed, and how much; everything that it receives or reads consists of stars, or of the dots on the screen.
check 'A94 it listens on the bus of screen readers for what is typed into the sheet: refused, it hears stars' eval \
    '[ "$(grep -c "text-changed:insert" "$TMPDIR/ears.out")" -ge ${#passcode} ] && grep -q "Vauban passcode.*$stars" "$TMPDIR/ears.out" &&
    ! sed 1d "$TMPDIR/ears.out" | cut -f 3- | tr "\t" "\n" | grep -qvE "^$quote[*●]*$quote\$"'
check 'A94 and for a recovery key that it shows: refused, unless the user has it read' eval \
    '[ "$(cat "$TMPDIR/told.out")" = 0 ] && [ "$(cat "$TMPDIR/told.control")" -ge 8 ] && grep -qx done "$TMPDIR/recover.out"'
check 'A94 and for how a new passcode can be guessed while it is typed: refused, until the user goes on' expect_text \
    'ok: hides whoever has this disk' "$TMPDIR/desktop"
check 'A95 it types and presses buttons over that bus: succeeds, and a wrong passcode counts' expect_text 'ok: sees 3 attempts are left' "$TMPDIR/desktop"
# The user's own Return sends it: what was typed there is complete.
check 'A95 it types a new passcode of its own and presses Change Passcode: nothing is sent before the user presses a key' eval \
    'expect_text "ok: run ! grep -q done $TMPDIR/change.out" "$TMPDIR/desktop" && grep -qx done "$TMPDIR/change.out"'
check 'A95 it presses Done below a recovery key: the key stays until the user presses it' eval \
    'expect_text "ok: sees $unread" "$TMPDIR/desktop" && grep -qx done "$TMPDIR/recover.out"'
end_attacks
