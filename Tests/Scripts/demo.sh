#!/usr/bin/env bash
# The demo of `make run`: without a terminal, on a terminal, and interrupted; its keychain is removed each time.
set -u
. Tests/Scripts/lib/command-line.sh
[ -x "$VAUBAN_BUILD/vauban-launcher" ] || { echo 'vauban-launcher is not built'; exit 77; }
unset VAUBAN_HOME

gone() {
    folder=$(sed -n 's/^The demo keychain in \(.*\) is removed\.$/\1/p' "$TMPDIR/out")
    [ -n "$folder" ] || { cat "$TMPDIR/out"; fail 'the demo does not say that it cleaned up'; }
    [ ! -e "$folder" ] || fail "$folder is still there"
    # From a file, so that the search itself does not contain its text.
    printf '%s' "$folder" >"$TMPDIR/folder"
    if grep -lsaF -f "$TMPDIR/folder" /proc/[0-9]*/cmdline; then fail 'something of the demo still runs'; fi
}

setsid --wait scripts/demo </dev/null >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'the demo failed without a terminal'; }
for text in '200 added' 'Vauban asks for your approval' '4 of spades' 'Locked.' 'exit code 36' 'Unlocked.' 'vauban setup'; do expect_text "$text" "$TMPDIR/out"; done
gone

play scripts/demo >"$TMPDIR/out" <<STEPS || { cat "$TMPDIR/out"; fail 'the demo failed on a terminal'; }
expect New passcode
secret $passcode
expect Repeat:
secret $passcode
expect Press Return
key enter
expect 200 added
expect Secret for bank/anna
secret mine
expect Repeat:
secret mine
expect Passcode
secret $passcode
expect mine
expect Locked
expect Passcode
secret $passcode
expect Unlocked
expect Passcode
secret $passcode
expect mine
expect What comes next
STEPS
gone

play scripts/demo >"$TMPDIR/out" <<STEPS
expect New passcode
secret $passcode
expect Repeat:
key ctrl-c
expect is removed
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out"; fail 'Ctrl-C does not end the demo'; }
gone
echo 'the demo shows the main job and leaves nothing'
