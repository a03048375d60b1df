#!/usr/bin/env bash
# What a user typed into the desktop application, and what was changed elsewhere meanwhile, is not lost silently: before a page with unsaved
# input is left, the window asks; after a lock it says that nothing was saved; an edit does not overwrite what another program changed; and an
# earlier password stays the one of its row. Addresses of websites are recognized without https. Pictures stay in .build/test-results/desktop.
# limit: 600
set -u
. Tests/Scripts/lib/desktop-window.sh
set_passcode
printf 'tulips-and-rain-7' | vauban set github/anna || fail 'set failed'
printf 'lantern-1' | vauban set wiki/bert || fail 'set failed'

# Leaving a page with unsaved input asks, in each way, and what was typed stays until the user discards it.
at_desktop <<STEPS
start
sees 2 items
click github, anna, Password
click Edit
focus Title
click wiki, bert, Password
hides Title
hides Discard changes?
click github, anna, Password
click Edit
focus Title
key ctrl+a
type Code forge
click wiki, bert, Password
sees Discard changes?
focus Keep Editing
named
shot discard
key Return
hides Discard changes?
focus Title
click Settings
focus Keep Editing
click Passwords to Change
focus Keep Editing
key ctrl+n
focus Keep Editing
key ctrl+q
focus Keep Editing
click Save
sees Saved.
hides Discard changes?
sees Code forge, github/anna, Password
run "$VAUBAN_BUILD/vauban" show github/anna | grep -q 'Label: *Code forge'
click New Password
click Type it
focus New password
type never-kept-0815
click wiki, bert, Password
focus Keep Editing
click Discard
sees Reveal
hides New Password for
forgot never-kept-0815
run [ "\$("$VAUBAN_BUILD/vauban" get github/anna)" = tulips-and-rain-7 ]
click Add Code
focus Key or otpauth:// address
type GEZDGNBVGY3TQOJQ
key ctrl+comma
focus Keep Editing
key Tab
focus Discard
key Return
sees A passcode is set.
forgot GEZDGNBVGY3TQOJQ
key ctrl+n
focus Website or service
type half-typed
key ctrl+n
focus Keep Editing
key ctrl+q
focus Keep Editing
click Discard
gone
ends 0
STEPS

# Cancel discards without a question, and a page without input closes at once.
at_desktop <<STEPS
start
sees 2 items
click Add Password
focus Website or service
type half-typed
click Cancel
sees Select an item, or add a password.
click Add Password
focus Website or service
key ctrl+q
gone
ends 0
STEPS

# A lock does not ask. What was typed is gone, and the window says that it was not saved.
at_desktop <<STEPS
start
sees 2 items
click wiki, bert, Password
click New Password
click Type it
focus New password
type never-kept-0815
key ctrl+l
sees Your keychain is locked
sees Your changes were not saved.
hides Discard changes?
shot locked-unsaved
forgot never-kept-0815
STEPS
unlock
at_desktop <<STEPS
start
sees 2 items
click wiki, bert, Password
key ctrl+l
sees Your keychain is locked
hides Your changes were not saved.
STEPS
unlock

# An edit overwrites nothing that another program changed meanwhile, and what was typed stays on the page.
at_desktop <<STEPS
start
sees 2 items
click wiki, bert, Password
click Edit
focus Title
key Tab
key Tab
key Tab
focus Notes
type of the window
run "$VAUBAN_BUILD/vauban" edit wiki/bert --comment elsewhere --tag home
click Save
sees The item was changed elsewhere meanwhile; nothing was saved. Copy what you typed
shot edit-outdated
run "$VAUBAN_BUILD/vauban" show wiki/bert | grep -q 'Comment: *elsewhere'
run "$VAUBAN_BUILD/vauban" show wiki/bert | grep -q 'Tags: *home'
click Cancel
sees elsewhere
click Edit
focus Title
key ctrl+a
type Wiki of the club
run "$VAUBAN_BUILD/vauban" edit wiki/bert --comment 'elsewhere again'
run printf lantern-2 | "$VAUBAN_BUILD/vauban" set wiki/bert --replace
click Save
sees Saved.
sees elsewhere again
run "$VAUBAN_BUILD/vauban" show wiki/bert | grep -q 'Label: *Wiki of the club'
run [ "\$("$VAUBAN_BUILD/vauban" get wiki/bert)" = lantern-2 ]
STEPS

# An earlier password remains the one of its row when the item gets a new one meanwhile, and one that is gone is not replaced by another.
at_desktop <<STEPS
start
sees 2 items
click Wiki of the club
click History
sees Earlier Passwords of
run printf lantern-3 | "$VAUBAN_BUILD/vauban" set wiki/bert --replace
click Reveal
sees lantern-1
hides lantern-2
click Restore
sees The earlier password is restored
run [ "\$("$VAUBAN_BUILD/vauban" get wiki/bert)" = lantern-1 ]
click History
sees Earlier Passwords of
run "$VAUBAN_BUILD/vauban" history wiki/bert --clear --yes 2>/dev/null
run printf lantern-4 | "$VAUBAN_BUILD/vauban" set wiki/bert --replace
click Restore
sees The history has changed meanwhile; go back and open it again.
run [ "\$("$VAUBAN_BUILD/vauban" get wiki/bert)" = lantern-4 ]
STEPS

# A website without https is a website, and the user name in an address counts if there is no other.
at_desktop <<STEPS
start
sees 2 items
click Add Password
focus Website or service
type Shop.example/login
key Tab
focus User name
type anna
key Return
sees Added with a generated password
sees https://shop.example/login
click Add Password
focus Website or service
type https://carl@mail.example/
key Return
sees Added with a generated password
sees mail.example, carl, Password
run "$VAUBAN_BUILD/vauban" get --url https://anna@shop.example/login >/dev/null
run "$VAUBAN_BUILD/vauban" get --url https://carl@mail.example/ >/dev/null
STEPS
echo 'nothing that was typed or changed elsewhere is lost without a question'
