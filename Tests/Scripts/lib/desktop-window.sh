# For tests of the desktop application: as sheet.sh, with the application in place of the sheet. To be sourced first.
# Its pictures stay in .build/test-results/desktop.
player=${player:-window.py}
player_tools=${player_tools:-Xvfb xdotool import xclip}
. Tests/Scripts/lib/sheet.sh
sheet=$VAUBAN_BUILD/vauban-desktop
[ -x "$sheet" ] || { echo 'the desktop application is not built: there is no GTK 4 here'; exit 77; }
shots=$PWD/.build/test-results/desktop
mkdir -p "$shots"
# pasted: prints the content of the clipboard, or nothing if it is not text.
printf '#!/bin/bash\nxclip -o -selection clipboard 2>/dev/null\nexit 0\n' >"$TMPDIR/pasted" && chmod +x "$TMPDIR/pasted"
# approve [STEPS]: opens a terminal of the user that answers the next prompt with the passcode, or by the steps in a file. To be run as a step
# before the one that prompts.
cat >"$TMPDIR/steps-to-approve" <<STEPS
expect Prompts appear here
run touch $TMPDIR/prompt_agent
expect asscode
secret $passcode
expect Accepted
key ctrl-c
STEPS
cat >"$TMPDIR/approve" <<APPROVE
#!/bin/bash
rm -f "$TMPDIR/prompt_agent"
"$VAUBAN_BUILD/pty-play" --seconds "$hang_seconds" -- "$VAUBAN_BUILD/vauban" approve <"\${1:-$TMPDIR/steps-to-approve}" >"$TMPDIR/approve.out" 2>&1 &
echo \$! >"$TMPDIR/approve.pid"
until [ -e "$TMPDIR/prompt_agent" ]; do kill -0 \$! || { cat "$TMPDIR/approve.out"; exit 1; }; done
APPROVE
chmod +x "$TMPDIR/approve"
