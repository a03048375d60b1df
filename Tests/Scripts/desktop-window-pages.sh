#!/usr/bin/env bash
# Pages of the desktop application, with keyboard, pointer and a screen reader's bus: who used an item; passwords to change, of which
# nothing stays in memory; the settings, and what they change. Their pictures stay in .build/test-results/desktop.
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

# Who may read an item, and who did. By the keyboard back to the item.
at_desktop <<STEPS
start
click wiki, bert, Password
click Access
sees Access to “wiki”
sees Every program of yours: in user mode
sees Read
sees Added
shot access
focus Back
key Return
focus Reveal
STEPS

# Passwords to change are looked for when the user asks, and those that need approval are left out. Nothing of a value stays.
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

# The settings: what takes the passcode is named, what does not is changed at once, and what fails stays as it was.
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
shot settings
click Copy vauban settings --idle 15m
sees Copied: vauban settings --idle 15m
run [ "\$($TMPDIR/pasted)" = 'vauban settings --idle 15m' ]
click Settings
focus Programs that use the Secret Service, such as mail programs
key Tab
focus Chromium, Chrome and Firefox, with Vauban’s extension
key Tab
focus ssh and git, with Vauban’s agent
key Tab
focus Keep the last ten values of each item, and deleted items for thirty days
key space
sees No more will be kept.
run "$VAUBAN_BUILD/vauban" settings --json | grep -q '"keepsHistory" *: *false'
focus Keep the last ten values of each item, and deleted items for thirty days
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
shot settings-programs
focus ssh and git, with Vauban’s agent
key space
sees Disabled. The keys stay here.
run [ ! -e "$HOME/.config/systemd/user/vauban-ssh-agent.socket" ]
STEPS

# Dark.
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
echo 'a user sees who used an item, finds passwords to change, and changes settings'
