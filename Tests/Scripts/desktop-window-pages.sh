#!/usr/bin/env bash
# Pages of the desktop application, with keyboard, pointer and a screen reader's bus: the uses of an item; passwords to change, of which
# nothing stays in memory; the settings and their effects, with a prompt where the passcode is required. Their pictures stay in
# .build/test-results/desktop. On each page, whatever takes the keyboard has a name for screen readers.
# limit: 600
set -u
. Tests/Scripts/lib/desktop-window.sh
set_passcode
printf 'tulips-and-rain-7' | vauban set github/anna || fail 'set failed'
printf 'tulips-and-rain-7' | vauban set gitlab/anna || fail 'set failed'
printf 'lantern-1' | vauban set wiki/bert || fail 'set failed'
printf 'basket-case-0815' | vauban set --url https://anna@shop.example/basket || fail 'set --url failed'
printf 'tulips-and-rain-7' | vauban set bank/anna --require presence || fail 'set --require failed'
vauban get wiki/bert >/dev/null || fail 'get failed'

# The programs that may read an item, and its uses. Back to the item by the keyboard.
at_desktop <<STEPS
start
click wiki, bert, Password
click Access
sees Access to “wiki”
sees Every program of yours: in user mode
sees Read
sees Added
named
shot access
focus Back
key Return
focus Reveal
STEPS

# Passwords to change are searched on request, and those that require approval are left out. No value stays in memory.
at_desktop <<STEPS
start
click Passwords to Change
focus Check Passwords
hides Reused
run ! "$VAUBAN_BUILD/vauban" log | grep -q 'github.*desktop'
key Return
sees 4 passwords were checked. 1 was left out, since it needs your approval.
sees Reused: 1 password used by 2 items
sees Short: 1 item with fewer than 12 characters
hides Old:
hides tulips
named
shot check
forgot tulips-and-rain-7
forgot lantern-1
forgot basket-case-0815
key Tab
focus Show github, anna
key Tab
focus Show gitlab, anna
key Return
focus Reveal
hides Reused
click New Password
click Replace
sees The password was replaced
click Passwords to Change
click Check Passwords
sees 4 passwords were checked
sees Short
hides Reused
key ctrl+l
sees Your keychain is locked
hides Short
STEPS
unlock

# The settings: one that requires no passcode is changed at once, and one whose change fails is unchanged.
mkdir -p "$HOME/.config/environment.d"
echo 'SSH_AUTH_SOCK=/another' >"$HOME/.config/environment.d/60-vauban-ssh.conf"
at_desktop <<STEPS
start
sees 5 items
key ctrl+comma
sees When the machine sleeps.
sees A passcode is set.
sees There is none: if you forget the passcode
sees There is no fingerprint reader.
named
shot settings
sees Where a command is shown, run it in a terminal.
sees this window receives neither
sees where the prompt appears, and never in this window
hides vauban settings
focus Programs that use the Secret Service, such as mail programs
key Tab
focus Chromium, Chrome and Firefox, with Vauban’s extension
key Tab
focus ssh and git, with Vauban’s agent
key Tab
focus Keep the last ten secrets of each item, and deleted items for thirty days
key space
sees No more will be kept.
run "$VAUBAN_BUILD/vauban" settings --json | grep -q '"keepsHistory" *: *false'
focus Keep the last ten secrets of each item, and deleted items for thirty days
key space
sees They are kept.
run "$VAUBAN_BUILD/vauban" settings --json | grep -q '"keepsHistory" *: *true'
key shift+Tab
focus ssh and git, with Vauban’s agent
key space
sees already exists with other content
run rm "$HOME/.config/environment.d/60-vauban-ssh.conf"
focus ssh and git, with Vauban’s agent
key space
sees Enabled. From the next login on, ssh and git
run [ -e "$HOME/.config/systemd/user/vauban-ssh-agent.socket" ]
named
shot settings-programs
focus ssh and git, with Vauban’s agent
key space
sees Disabled. The keys stay here.
run [ ! -e "$HOME/.config/systemd/user/vauban-ssh-agent.socket" ]
STEPS

# A setting that requires the passcode is changed only by a prompt, wherever prompts appear, which names the change.
sed 's/^expect asscode/expect to lock your keychain after 15 minutes without use (now: never), and to lock your keychain with the screen\n&/' \
    "$TMPDIR/steps-to-approve" >"$TMPDIR/steps-to-change"
cat >"$TMPDIR/steps-to-wait" <<STEPS
expect Prompts appear here
run touch $TMPDIR/prompt_agent
expect asscode
run touch $TMPDIR/asked
expect withdrawn
run touch $TMPDIR/withdrawn
key ctrl-c
STEPS
settings_are() { printf '"%s" settings --json | tr -d "[:space:]" | grep -q %s' "$VAUBAN_BUILD/vauban" "'\"graceSeconds\":$1,\"idleSeconds\":$2,'"; }
vauban passcode recovery-key --passcode-fd 3 3<<<"$passcode" >/dev/null 2>&1 || fail 'no recovery key was made'
to_locks='key Tab
focus Chromium, Chrome and Firefox, with Vauban’s extension
key Tab
focus ssh and git, with Vauban’s agent
key Tab
focus Keep the last ten secrets of each item, and deleted items for thirty days
key Tab'
to_change="focus Programs that use the Secret Service, such as mail programs
$to_locks
focus Without use: Never
key Right
focus Without use: 5 minutes
key Right
focus Without use: 15 minutes
key Tab
focus Lock with the screen
key space
key Tab
focus From sleep: At once
key Tab
focus Change"
# After a failure, and after Cancel, the page shows the actual settings again.
at_desktop <<STEPS
start
sees 5 items
key ctrl+comma
sees A recovery key is set.
$to_change
named
shot settings-change
key Return
sees Nothing can show a prompt here
run $(settings_are 0 0)
$to_change
run $TMPDIR/approve $TMPDIR/steps-to-wait
key Return
sees Waiting for your answer: vauban approve
focus Cancel
named
shot settings-waiting
run until [ -e $TMPDIR/asked ]; do :; done
key Return
hides Waiting for your answer
run until [ -e $TMPDIR/withdrawn ]; do :; done
run $(settings_are 0 0)
$to_change
run $TMPDIR/approve $TMPDIR/steps-to-change
key Return
sees Changed.
sees When the machine sleeps or the screen is locked; after 15 minutes without use.
run $(settings_are 0 900)
shot settings-changed
focus Programs that use the Secret Service, such as mail programs
$to_locks
focus Without use: 15 minutes
key Tab
key Tab
focus From sleep: At once
key Tab
focus Copy vauban passcode change --roll
key Return
sees Copied: vauban passcode change --roll
run [ "\$($TMPDIR/pasted)" = 'vauban passcode change --roll' ]
key Tab
focus Change Passcode
key Tab
focus Make Recovery Key
key Tab
focus End Recovery Key
run $TMPDIR/approve
key Return
sees The recovery key no longer works.
sees There is none: if you forget the passcode
run ! "$VAUBAN_BUILD/vauban" status --json | grep -q '"recoveryKeyIsSet" *: *true'
STEPS
vauban settings --idle never --lock-with-screen off --passcode-fd 3 3<<<"$passcode" >/dev/null 2>&1 || fail 'settings failed'

# Another passcode and a recovery key: typed and shown in the sheet, while the window waits and has neither.
next='9 lanterns over Ghent'
at_desktop <<STEPS
start
beside $VAUBAN_BUILD/vauban-sheet
sees 5 items
key ctrl+comma
press Change Passcode
sees Waiting for your answer: the Vauban window on your desktop
turn
sees vauban-desktop
sees wants to change your passcode to a new one that you type here
focus Current passcode
type $passcode
key Tab
focus New passcode
type $next
key Tab
focus Repeat the new passcode
sees whoever has this disk and tries words, names, dates and rows of keys first needs
type $next
shot settings-new-passcode
key Return
gone
turn
sees The passcode is changed.
hides Waiting for your answer
shot settings-passcode-changed
forgot $next
forgot $passcode
run ! printf '%s\n' '$passcode' | "$VAUBAN_BUILD/vauban" passcode recovery-key --passcode-fd 0 >/dev/null 2>&1
press Make Recovery Key
turn
sees wants to make a recovery key
focus Vauban passcode
type $next
key Return
sees Your recovery key
focus Recovery key: eight groups of six digits, not read to screen readers until you press F2
key Tab
focus I have written it down
shot settings-recovery-key
turn
sees Waiting for your answer: the Vauban window on your desktop
run "$VAUBAN_BUILD/vauban" status --json | grep -q '"recoveryKeyIsSet" *: *true'
turn
key space
click Done
gone
turn
sees The new recovery key was shown with its prompt.
sees A recovery key is set.
press Make Recovery Key
turn
sees wants to make a recovery key
key Escape
gone
turn
hides Waiting for your answer
sees A recovery key is set.
STEPS
# The same in a terminal, where the two entries must also match: back to the earlier passcode.
cat >"$TMPDIR/steps-to-renew" <<STEPS
expect Prompts appear here
run touch $TMPDIR/prompt_agent
expect to change your passcode to a new one that you type here
expect Current passcode
secret $next
expect New passcode
secret $passcode
expect Repeat
secret $passcode and more
expect The entries differ. Try again.
secret 123
expect Too weak: at least 6 characters are needed
secret $passcode
expect Repeat
secret $passcode
expect Accepted
key ctrl-c
STEPS
cat >"$TMPDIR/steps-to-write" <<STEPS
expect Prompts appear here
run touch $TMPDIR/prompt_agent
expect to make a recovery key, which is shown here once
expect asscode
secret $passcode
expect Your recovery key, shown only once
expect Press Return when you have written it down
key enter
expect Accepted
key ctrl-c
STEPS
at_desktop <<STEPS
start
sees 5 items
key ctrl+comma
press Change Passcode
sees Nothing can show a prompt here
run $TMPDIR/approve $TMPDIR/steps-to-renew
press Change Passcode
sees The passcode is changed.
run $TMPDIR/approve $TMPDIR/steps-to-write
press Make Recovery Key
sees The new recovery key was shown with its prompt.
run $TMPDIR/approve
press End Recovery Key
sees The recovery key no longer works.
STEPS

# The dark appearance.
at_desktop <<STEPS
start GTK_THEME=Adwaita:dark
click wiki, bert, Password
click Access
sees Last uses
shot access-dark
click Passwords to Change
click Check Passwords
sees Short
shot check-dark
click Settings
sees Recovery key
shot settings-dark
STEPS
echo 'the window shows the uses of an item, finds passwords to change, and changes settings'
