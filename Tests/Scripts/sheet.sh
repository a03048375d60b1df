#!/usr/bin/env bash
# The sheet on its own display, with keyboard and pointer: the caller and its reason, right and wrong passcodes, refusals, a delay, callers and
# sheets that are killed, consent, names full of escape codes, light and dark, right to left. Its pictures stay in .build/test-results/sheet.
# proves: C-095 C-096 C-097 C-098 C-099 C-100 C-101 C-103 C-104
# proves-equivalent: C-110
# limit: 1200
set -u
. Tests/Scripts/lib/sheet.sh
set_passcode
printf 'the secret' | vauban set bank/anna --require presence || fail 'set failed'
asker get "$VAUBAN_BUILD/vauban" get bank/anna
# A program with the worst name and reason.
bad="$TMPDIR/"$'bank\e[2J\u202emoc.live'
cp "$VAUBAN_BUILD/keychain-caller" "$bad"
printf '#!/bin/bash\nexec "%s" ask $%s "No, _thanks"\n' "$bad" "'pay\\e[31m\\n\\u202eFrom: your bank'" >"$TMPDIR/evil-caller" && chmod +x "$TMPDIR/evil-caller"
asker evil "$TMPDIR/evil-caller"

# A right answer; the terminal of the caller names the place of the prompt.
at_desktop <<STEPS
start
run $TMPDIR/get
sees wants to read a secret that is given out only with your approval
sees $(readlink -f "$VAUBAN_BUILD/vauban") · process
sees Message: “get bank/anna”
sees Vauban passcode
focus Vauban passcode
shot passcode
type $passcode
key Return
gone
first wants to read
first get bank/anna
run $TMPDIR/get-ended 0
forgot $passcode
run grep -q 'the secret' $TMPDIR/get.out && grep -q 'Waiting for your answer: the Vauban window on your desktop' $TMPDIR/get.out
STEPS
for page in Manual/prompts.md SECURITY.md; do
    grep -qF "a separate window, not part of the requesting program's window" $page || fail "$page does not name its application"
done
# Wrong, then right: it stays, reports it, and is empty again.
at_desktop <<STEPS
start
run $TMPDIR/get
sees Vauban passcode
type wrong
click Allow
sees That was not your passcode. 4 attempts are left before you have to wait.
focus Vauban passcode
shot passcode-wrong
type $passcode
click Allow
gone
run $TMPDIR/get-ended 0
STEPS
# A refusal in each way: the key, the button, the window's own.
at_desktop <<STEPS
start
run $TMPDIR/get
sees Vauban passcode
type half a pass
key Escape
gone
run $TMPDIR/get-ended 128
run $TMPDIR/get
sees Vauban passcode
click Cancel
gone
run $TMPDIR/get-ended 128
run $TMPDIR/get
sees Vauban passcode
click Close
gone
run $TMPDIR/get-ended 128
STEPS
# By the keyboard alone: the order of the focus, and the effect of Return.
at_desktop <<STEPS
start
run $TMPDIR/get
focus Vauban passcode
type x
key Tab
focus Cancel
key Tab
focus Allow
key Tab
focus Vauban passcode
key shift+Tab
focus Allow
key shift+Tab
focus Cancel
key Return
gone
run $TMPDIR/get-ended 128
STEPS
# The caller is killed, which ends the prompt. Then the sheet, during a prompt: there is no other agent, and that is reported at once.
at_desktop <<STEPS
start
run $TMPDIR/get
sees Vauban passcode
run kill -KILL \$(cat $TMPDIR/get.pid)
gone
run $TMPDIR/get-ended 137
run $TMPDIR/get
sees Vauban passcode
kill
run $TMPDIR/get-ended 36
STEPS
# The prompt of a killed sheet moves to the prompt agent's terminal.
start_prompt_agent
at_desktop <<STEPS
start
run until [ -e $TMPDIR/prompt_agent ]; do kill -0 $prompt_agent || exit 1; done
run $TMPDIR/get
sees Vauban passcode
kill
run $TMPDIR/get-ended 0
STEPS
await_prompt_agent
# A lock ends the prompt.
at_desktop <<STEPS
start
run $TMPDIR/get
sees Vauban passcode
run $VAUBAN_BUILD/vauban lock 2>/dev/null
gone
run $TMPDIR/get-ended 36
STEPS
unlock
# Dark, and right to left.
at_desktop <<STEPS
start GTK_THEME=Adwaita:dark
run $TMPDIR/get
sees Vauban passcode
shot passcode-dark
type wrong
key Return
sees That was not your passcode
shot passcode-wrong-dark
key Escape
gone
STEPS
at_desktop <<STEPS
start LC_ALL=C.UTF-8 LANGUAGE=ar
run $TMPDIR/get
sees Vauban passcode
shot passcode-right-to-left
key Escape
gone
STEPS
# The right passcode resets the attempts.
at_desktop <<STEPS
start
run $TMPDIR/get
sees Vauban passcode
type $passcode
key Return
gone
run $TMPDIR/get-ended 0
STEPS
# How bad names and reasons are shown.
at_desktop <<STEPS
start
run $TMPDIR/evil
sees bank\\u{1b}[2J\\u{202e}moc.live
sees wants to make sure that it is you
sees Message: “pay[31m From: your bank”
shot escape-codes
click No, _thanks
gone
run $TMPDIR/evil-ended 0
run grep -qx -- -2 $TMPDIR/evil.out
STEPS
# Three wrong ones end a prompt; after the fifth there is a delay, which is counted down.
wrong_three='type wrong
key Return
sees 4 attempts are left
type wrong
key Return
sees 3 attempts are left
type wrong
key Return
gone'
at_desktop <<STEPS
start
run $TMPDIR/get
sees Vauban passcode
$wrong_three
run $TMPDIR/get-ended 51
run $TMPDIR/get
sees 2 attempts are left
type wrong
key Return
sees 1 attempt is left
type wrong
key Return
sees Too many wrong passcodes
sees You can try again in
snap locked-out
run $TMPDIR/get-ended 51
key Escape
gone
STEPS
# If it was built it is installed, and starts with a desktop; otherwise nothing of it is.
mkdir "$TMPDIR/programs"
for program in $(scripts/programs) pam_vauban.so vauban-protect; do : >"$TMPDIR/programs/$program"; done
# Completions come from the program itself.
cp --remove-destination "$VAUBAN_BUILD/vauban" "$TMPDIR/programs/vauban"
VAUBAN_SHEET=$sheet scripts/stage --system "$TMPDIR/programs" "$TMPDIR/with" /usr/local || fail 'stage failed'
VAUBAN_SHEET='' scripts/stage --system "$TMPDIR/programs" "$TMPDIR/without" /usr/local || fail 'stage failed'
cmp "$sheet" "$TMPDIR/with/usr/local/lib/vauban/vauban-sheet" || fail 'the sheet is not installed'
expect_text 'ExecStart=/usr/local/lib/vauban/vauban-sheet' "$TMPDIR/with/usr/local/lib/systemd/user/graphical-session.target.wants/vauban-sheet.service"
expect_text 'Exec=/usr/local/lib/vauban/vauban-sheet' "$TMPDIR/with/etc/xdg/autostart/vauban-sheet.desktop"
(cd "$TMPDIR/without" && find . | grep sheet) && fail 'there is something of a sheet that was not built'
for file in vauban-sheet.desktop vauban-sheet.service; do grep -q "/$file\$" "$TMPDIR/with/usr/local/lib/vauban/manifest" || fail "the manifest does not name $file"; done
echo 'a user at a desktop sees the caller, and answers'
