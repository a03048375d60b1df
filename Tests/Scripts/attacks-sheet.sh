#!/usr/bin/env bash
# What other programs on a display can do to the sheet, tried under X11. Each check is an attack of Manual/attacks.md.
set -u
. Tests/Scripts/lib/sheet.sh
command -v xinput >/dev/null && command -v setpriv >/dev/null || { echo 'there is no xinput or setpriv here'; exit 77; }
set_passcode
printf 'the secret' | vauban set bank/anna --require presence || fail 'set failed'
asker get "$VAUBAN_BUILD/vauban" get bank/anna
failures=0
check() { what=$1; shift; if "$@"; then echo "ok: $what"; else echo "FAILED: $what"; failures=$((failures + 1)); fi; }

# A program that listens to the display's keyboard, and another that looks at its screen. What the listener hears while the same is typed
# where nobody minds says which key is which.
cat >"$TMPDIR/listen" <<'LISTEN'
#!/bin/bash
stdbuf -oL xinput test-xi2 --root >"$TMPDIR/$1" &
echo $! >"$TMPDIR/listener"
until grep -q . "$TMPDIR/$1"; do :; done
LISTEN
cat >"$TMPDIR/heard" <<'HEARD'
#!/bin/bash
# Until the last key is there: Return, which only the one is.
until [ "$(grep -A 2 RawKeyPress "$TMPDIR/$1" | grep -c 'detail: 36')" = 1 ]; do :; done
kill "$(cat "$TMPDIR/listener")"
grep -A 2 RawKeyPress "$TMPDIR/$1" | sed -n 's/.*detail: //p' >"$TMPDIR/$1.keys"
HEARD
# Another program of the same person has no rights over others.
cat >"$TMPDIR/peek" <<'PEEK'
#!/bin/bash
pid=$(pgrep -n -f "$1") || exit 1
for file in mem environ maps; do
    setpriv --bounding-set=-all --inh-caps=-all --no-new-privs head -c 1 "/proc/$pid/$file" >/dev/null 2>>"$TMPDIR/peeked" && echo "read $file" >>"$TMPDIR/peeked"
done
exit 0
PEEK
chmod +x "$TMPDIR/listen" "$TMPDIR/heard" "$TMPDIR/peek"
at_desktop <<STEPS
start
run $TMPDIR/get
sees Vauban passcode
run $TMPDIR/peek $sheet
run import -window root $TMPDIR/seen.png
type wrong
key Return
sees 4 tries are left
run $TMPDIR/listen secret
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
run $TMPDIR/heard secret
run $TMPDIR/listen known
run xdotool type -- "$passcode" && xdotool key Return
run $TMPDIR/heard known
STEPS
check 'A90 another program on an X11 display reads the keys that are typed into the sheet: succeeds' eval '[ "$(wc -l <"$TMPDIR/secret.keys")" -ge ${#passcode} ] && cmp "$TMPDIR/secret.keys" "$TMPDIR/known.keys"'
check 'A91 it takes a picture of the sheet: succeeds, and sees the question' eval '[ "$(identify -format %k "$TMPDIR/seen.png")" -gt 50 ]'
check 'A92 it types into the sheet: succeeds, and a wrong passcode counts' expect_text 'ok: sees 4 tries are left' "$TMPDIR/desktop"
check 'A93 it reads the memory of the sheet: refused' eval '! grep -q "^read" "$TMPDIR/peeked" && [ "$(grep -c "Permission denied" "$TMPDIR/peeked")" = 3 ]'
[ "$failures" = 0 ] || { echo "$failures checks failed"; exit 1; }
