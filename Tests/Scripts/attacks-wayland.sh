#!/usr/bin/env bash
# Attacks on the sheet by other programs of the user under Wayland (sway). Each check is an attack of Manual/attacks.md.
set -u
. Tests/Scripts/lib/sheet-wayland.sh
command -v convert >/dev/null || { echo 'there is no convert here'; exit 77; }
set_passcode
printf 'the secret' | vauban set bank/anna --require presence || fail 'set failed'
asker get "$VAUBAN_BUILD/vauban" get bank/anna
. Tests/Scripts/lib/attack-report.sh

# A program to which sway reports each released key of the passcode, which sway also delivers to the window; it records what it receives.
cat >"$TMPDIR/listen" <<'LISTEN'
#!/bin/bash
for key in {a..z} space Return; do swaymsg -q "bindsym --release $key nop" || exit 1; done
swaymsg -m -t subscribe '["binding", "tick"]' >"$TMPDIR/told" &
echo $! >"$TMPDIR/listener"
until grep -q '"first": true' "$TMPDIR/told"; do kill -0 $! || exit 1; done
LISTEN
cat >"$TMPDIR/told-all" <<'TOLD'
#!/bin/bash
until grep -q '"symbol": "Return"' "$TMPDIR/told"; do kill -0 "$(cat "$TMPDIR/listener")" || exit 1; done
kill "$(cat "$TMPDIR/listener")"
for key in {a..z} space Return; do swaymsg -q "unbindsym --release $key" || exit 1; done
TOLD
chmod +x "$TMPDIR/listen" "$TMPDIR/told-all"
at_desktop <<STEPS
start
run $TMPDIR/other
run grim $TMPDIR/before.png
run $TMPDIR/get
sees Vauban passcode
stands focused
accepts
run wtype wrong -k Return
sees 4 attempts are left
run grim $TMPDIR/seen.png
run $TMPDIR/listen
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
run $TMPDIR/told-all
run swaymsg -q '[app_id="other"] focus' && wtype known -k Return
run until grep -q known $TMPDIR/heard; do :; done
STEPS
colours() { convert "$1" -gravity center -crop 480x460+0+0 +repage -format %k info:; }
# One key a line, as sway names it.
sed -n 's/.*"symbol": "\([^"]*\)".*/\1/p' "$TMPDIR/told" >"$TMPDIR/told.keys"
{ printf '%s' "$passcode" | sed 's/./&\n/g' | sed 's/^ $/space/'; echo Return; } >"$TMPDIR/known.keys"
check 'A96 another program asks sway for the keys that are typed into the sheet: succeeds' cmp "$TMPDIR/told.keys" "$TMPDIR/known.keys"
check 'A97 it takes a picture of the sheet: succeeds, and sees the question' eval '[ "$(colours "$TMPDIR/before.png")" -lt 10 ] && [ "$(colours "$TMPDIR/seen.png")" -gt 50 ]'
check 'A98 it types into the sheet: succeeds, and a wrong passcode counts' expect_text 'ok: sees 4 attempts are left' "$TMPDIR/desktop"
check 'A99 it listens with a window of its own: refused, it hears what is typed into that one' eval '[ "$(cat "$TMPDIR/heard")" = known ]'

# A user who looks at another window and types into it without a pause while a prompt appears, and once that has the keyboard, the passcode and
# Return. If the machine halted meanwhile, there was a pause, and the user begins again.
cat >"$TMPDIR/type-on" <<'TYPE'
#!/bin/bash
now() { echo "${EPOCHREALTIME//[.,]/}"; }
# keys WORDS...: types, and records the longest time since the keys before, in microseconds.
keys() {
    wtype "$@" || exit 1
    before=$last last=$(now)
    [ $((last - before)) -le "$longest" ] || longest=$((last - before))
}
swaymsg -r -m -t subscribe '["window", "tick"]' >>"$TMPDIR/windows" &
listener=$!
until grep -q '"first": true' "$TMPDIR/windows"; do kill -0 "$listener" || exit 1; done
end=$((SECONDS + ${hang_seconds:-240}))
while [ "$SECONDS" -lt "$end" ]; do
    : >"$TMPDIR/windows"
    longest=0 last=$(now)
    "$TMPDIR/get"
    until grep -q '"change": "focus".*"app_id": "vauban-sheet"' "$TMPDIR/windows"; do keys x; done
    keys "$1" -k Return
    [ "$longest" -ge 500000 ] || break
    kill -KILL "$(cat "$TMPDIR/get.pid")" 2>/dev/null
    while swaymsg -t get_tree | grep -q '"app_id": "vauban-sheet"'; do :; done
done
kill "$listener"
[ "$longest" -lt 500000 ]
TYPE
chmod +x "$TMPDIR/type-on"
at_desktop <<STEPS
start
run $TMPDIR/other
run $TMPDIR/type-on '$passcode'
sees What you just typed was ignored, since it may have been meant for another window.
run [ ! -e $TMPDIR/get.status ]
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
STEPS
check 'A188 it asks while the user types for another window: refused, what was begun there does not count' eval \
    'expect_text "ok: sees What you just typed was ignored" "$TMPDIR/desktop" && grep -q "the secret" "$TMPDIR/get.out"'
end_attacks
