# For the tests of the sheet: a keychain of the test's own, and a user at a desktop who is played (desktop.py). To be sourced first.
# Who wants another desktop than X11's sets `player` before, and `player_tools`, what it takes.
# After this there are, beside what command-line.sh brings: at_desktop, asker, the pictures' folder.
sheet=$VAUBAN_BUILD/vauban-sheet
[ -x "$sheet" ] || { echo 'the sheet is not built: there is no GTK 4 here'; exit 77; }
for tool in ${player_tools:-Xvfb xdotool import} dbus-run-session; do command -v "$tool" >/dev/null || { echo "there is no $tool here"; exit 77; }; done
/usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null || { echo 'there is no gir1.2-atspi-2.0 here'; exit 77; }
. Tests/Scripts/lib/command-line.sh
export XDG_RUNTIME_DIR=$TMPDIR
export VAUBAN_BUILD TMPDIR
shots=$PWD/.build/test-results/sheet
mkdir -p "$shots"
# at_desktop <<STEPS
at_desktop() {
    "Tests/Scripts/lib/${player:-desktop.py}" "$sheet" "$shots" >"$TMPDIR/desktop" 2>"$TMPDIR/desktop.err" && return
    cat "$TMPDIR/desktop"; grep -v dbus "$TMPDIR/desktop.err"
    # What the askers said, and how they ended.
    for told in "$TMPDIR"/*.out "$TMPDIR"/*.status; do [ ! -s "$told" ] || { echo "${told##*/}: $(tail -n 3 "$told")"; }; done
    fail 'the desktop did not show what it should'
}
# asker NAME COMMAND...: a script TMPDIR/NAME that starts the command without a terminal, behind its back, and returns when NAME.pid has its
# process; its output goes to NAME.out, its end to NAME.status. NAME-ended waits for that end, by its process and no clock.
asker() {
    name=$1; shift
    printf '#!/bin/bash\nrm -f "$TMPDIR/%s."{status,pid}\nsetsid bash -c '"'"'%s >"$TMPDIR/%s.out" 2>&1 & echo $! >"$TMPDIR/%s.pid"; wait $!; echo $? >"$TMPDIR/%s.status"'"'"' </dev/null >/dev/null 2>&1 &\necho $! >"$TMPDIR/%s.waiter"\nuntil [ -s "$TMPDIR/%s.pid" ]; do :; done\n' \
        "$name" "$*" "$name" "$name" "$name" "$name" "$name" >"$TMPDIR/$name"
    printf '#!/bin/bash\ntail -s 0.02 --pid="$(cat "$TMPDIR/%s.waiter")" -f /dev/null\n[ "$(cat "$TMPDIR/%s.status")" = "$1" ] || { cat "$TMPDIR/%s.out"; echo "it ended with $(cat "$TMPDIR/%s.status"), not with $1"; exit 1; }\n' \
        "$name" "$name" "$name" "$name" >"$TMPDIR/$name-ended"
    chmod +x "$TMPDIR/$name" "$TMPDIR/$name-ended"
}
# start_approver: a terminal of the user's at which the next question is answered with the passcode; it is there once $TMPDIR/approver is.
start_approver() {
    play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/approve.out" <<STEPS &
expect Prompts appear here
run touch $TMPDIR/approver
expect Program:
expect asscode
secret $passcode
expect Accepted
key ctrl-c
STEPS
    approver=$!
}
await_approver() {
    wait "$approver"
    grep -q Accepted "$TMPDIR/approve.out" || { cat "$TMPDIR/approve.out"; fail 'the approver was not asked'; }
}
