# For tests of the sheet: a separate keychain, and a simulated user at a desktop (desktop.py). To be sourced first.
# A test on another desktop than X11 first sets `player`, and `player_tools`, the tools that it needs.
# Defines, beside the functions of command-line.sh: at_desktop, asker, and the folder of pictures.
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
    # The output and exit status of each caller.
    for told in "$TMPDIR"/*.out "$TMPDIR"/*.status; do [ ! -s "$told" ] || { echo "${told##*/}: $(tail -n 3 "$told")"; }; done
    fail 'a step at the desktop failed'
}
# asker NAME COMMAND...: writes a script TMPDIR/NAME that starts the command in the background without a terminal, and returns when NAME.pid has
# its process number; its output goes to NAME.out, its exit status to NAME.status. The script NAME-ended waits for its end.
asker() {
    name=$1; shift
    printf '#!/bin/bash\nrm -f "$TMPDIR/%s."{status,pid}\nsetsid bash -c '"'"'%s >"$TMPDIR/%s.out" 2>&1 & echo $! >"$TMPDIR/%s.pid"; wait $!; echo $? >"$TMPDIR/%s.status"'"'"' </dev/null >/dev/null 2>&1 &\necho $! >"$TMPDIR/%s.waiter"\nuntil [ -s "$TMPDIR/%s.pid" ]; do :; done\n' \
        "$name" "$*" "$name" "$name" "$name" "$name" "$name" >"$TMPDIR/$name"
    printf '#!/bin/bash\ntail -s 0.02 --pid="$(cat "$TMPDIR/%s.waiter")" -f /dev/null\n[ "$(cat "$TMPDIR/%s.status")" = "$1" ] || { cat "$TMPDIR/%s.out"; echo "it ended with $(cat "$TMPDIR/%s.status"), not with $1"; exit 1; }\n' \
        "$name" "$name" "$name" "$name" >"$TMPDIR/$name-ended"
    chmod +x "$TMPDIR/$name" "$TMPDIR/$name-ended"
}
# start_prompt_agent: opens a terminal of the user that answers the next prompt with the passcode; it is ready when $TMPDIR/prompt_agent exists.
start_prompt_agent() {
    rm -f "$TMPDIR/prompt_agent"
    play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/approve.out" <<STEPS &
expect Prompts appear here
run touch $TMPDIR/prompt_agent
expect Program:
expect asscode
secret $passcode
expect Accepted
key ctrl-c
STEPS
    prompt_agent=$!
}
await_prompt_agent() {
    wait "$prompt_agent"
    grep -q Accepted "$TMPDIR/approve.out" || { cat "$TMPDIR/approve.out"; fail 'the terminal for prompts was not prompted'; }
}
