# For the tests of the sheet under Wayland: as sheet.sh, at the desktop of wayland.py. To be sourced first.
# After this there is, beside what sheet.sh brings: the script TMPDIR/other, which opens another program's window. What is typed into that
# one, line by line, goes to TMPDIR/heard.
player=wayland.py
player_tools='sway swaymsg swaybg wtype grim foot setpriv'
. Tests/Scripts/lib/sheet.sh
cat >"$TMPDIR/other" <<'OTHER'
#!/bin/bash
foot --app-id other sh -c 'cat >"$TMPDIR/heard"' >/dev/null 2>&1 &
until [ -e "$TMPDIR/heard" ] && swaymsg -t get_tree | grep -q '"app_id": "other"'; do kill -0 $! || exit 1; done
OTHER
chmod +x "$TMPDIR/other"
