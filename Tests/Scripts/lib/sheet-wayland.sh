# For tests of the sheet under Wayland: as sheet.sh, on the desktop of wayland.py. To be sourced first.
# Provides, beside the functions of sheet.sh, the script TMPDIR/other, which opens another program's window. Text that is typed there goes to
# TMPDIR/heard, line by line.
player=wayland.py
player_tools='sway swaymsg swaybg wtype grim foot setpriv'
. Tests/Scripts/lib/sheet.sh
cat >"$TMPDIR/other" <<'OTHER'
#!/bin/bash
foot --app-id other sh -c 'cat >"$TMPDIR/heard"' >/dev/null 2>&1 &
until [ -e "$TMPDIR/heard" ] && swaymsg -t get_tree | grep -q '"app_id": "other"'; do kill -0 $! || exit 1; done
OTHER
# sway COMMAND: has sway perform a command. swaymsg waits for three seconds, and then ends with 1.
cat >"$TMPDIR/sway" <<'SWAY'
#!/bin/bash
until swaymsg -q "$@"; do [ $? = 1 ] && [ "$SECONDS" -lt "$hang_seconds" ] || exit 1; done
SWAY
chmod +x "$TMPDIR/other" "$TMPDIR/sway"
