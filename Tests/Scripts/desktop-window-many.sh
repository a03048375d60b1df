#!/usr/bin/env bash
# The desktop application with twenty thousand items: a screen reader gets only the visible rows, no value is read, a search finds items
# anywhere in the list, and changes by other programs appear when the user returns to the window.
# limit: 600
set -u
. Tests/Scripts/lib/desktop-window.sh
set_passcode
for part in 0 1 2 3; do
    for number in $(seq $((part * 5125)) $((part * 5125 + 5124))); do
        printf '{"class":"generic password","service":"many %05d","account":"anna","secret":"x"}\n' "$number"
    done | vauban add --json - >/dev/null 2>&1 &
    adding="${adding:-} $!"
done
for process in $adding; do wait "$process" || fail 'add --json failed'; done

at_desktop <<STEPS
start
sees 20500 items
rows 400
type 12345
sees 1 item
click many 12345
sees Reveal
rows 400
key ctrl+f
key ctrl+a
type 20499 anna
sees 1 item
key Return
focus many 20499, anna, Password
key ctrl+f
key ctrl+a
key Delete
sees 20500 items
run "$VAUBAN_BUILD/vauban" delete --yes "many 00000/anna"
run printf other | "$VAUBAN_BUILD/vauban" set "few/anna"
run xdotool mousemove 1115 755 windowfocus 1
key ctrl+f
sees few, anna, Password
hides many 00000
sees 20500 items
rows 400
run ! "$VAUBAN_BUILD/vauban" log --action read | grep .
click few, anna, Password
click Delete
click Delete Item
sees 20499 items
click Undo
sees 20500 items
key ctrl+l
sees Your keychain is locked
hides many
STEPS
echo 'a window of twenty thousand items has few rows, reads no value, and finds each item'
