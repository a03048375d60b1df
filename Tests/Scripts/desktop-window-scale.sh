#!/usr/bin/env bash
# The desktop application and the sheet at 200 % on a screen of 1920 by 1080: no window is larger than the screen, and nothing is cut off or
# scrolls sideways. Where the sheet for a new passcode would be too tall, it scrolls, and says who asks all the same. Their pictures stay in
# .build/test-results/desktop.
# limit: 900
set -u
. Tests/Scripts/lib/desktop-window.sh
export GDK_SCALE=2 played_screen=1920x1080
set_passcode
printf 'tulips-and-rain-7' | vauban set github/anna || fail 'set failed'
printf 'basket-case-0815-and-then-a-secret-without-an-end-0123456789-0123456789-0123456789' |
    vauban set --url https://anna@shop.example/basket || fail 'set --url failed'
vauban edit --server shop.example --label 'A shop with a long and winding name, which nobody can remember' --comment 'the card ends with 42' \
    --tag home || fail 'edit failed'
printf 'lantern-1' | vauban set wiki/bert || fail 'set failed'
printf 'lantern-2' | vauban set --replace wiki/bert || fail 'set failed'
printf 'otpauth://totp/GitHub:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=86400' | vauban code add github/anna || fail 'code add failed'

at_desktop <<STEPS
start
sees 4 items
fits
shot scale-items
click A shop with a long and winding name
sees https://shop.example/basket
fits
press Reveal
sees basket-case-0815
fits
shot scale-item
press Edit
focus Title
fits
shot scale-edit
press Cancel
sees https://shop.example/basket
press New Password
sees Generate it: 20 characters
fits
press Cancel
sees https://shop.example/basket
press Add Code
focus Key or otpauth:// address
fits
press Cancel
sees https://shop.example/basket
press Access
sees Last uses
fits
shot scale-access
press Back
sees https://shop.example/basket
press Delete
sees You can restore it for thirty days
fits
press Cancel
click wiki, bert, Password
hides https://shop.example/basket
sees Can be read
press History
sees Earlier Passwords of
fits
shot scale-history
press Back
click github, anna, Password
press Show Code
sees Valid for
fits
shot scale-code
press Passwords to Change
press Check Passwords
sees Short
fits
shot scale-check
press Settings
sees A passcode is set.
sees Without use
fits
shot scale-settings
press Add Password
focus Website or service
sees Generate it: 20 characters, or what the rules of the website demand
fits
shot scale-add
key ctrl+l
sees Your keychain is locked
fits
shot scale-locked
STEPS
unlock

# The sheet is as tall as the screen allows, and the keyboard reaches each entry. Its buttons stay in sight.
next='9 lanterns over Ghent'
at_desktop <<STEPS
start
beside $VAUBAN_BUILD/vauban-sheet
sees 4 items
key ctrl+comma
press Change Passcode
sees Waiting for your answer: the Vauban window on your desktop
turn
focus Current passcode
fits
shot scale-new-passcode
type $passcode
key Tab
focus New passcode
type $next
key Tab
focus Repeat the new passcode
sees whoever has this disk and tries words, names, dates and rows of keys first needs
fits
shot scale-new-passcode-typed
type $next
click Cancel
gone
turn
hides Waiting for your answer
press Make Recovery Key
turn
focus Vauban passcode
fits
type $passcode
key Return
sees Your recovery key
focus Recovery key: eight groups of six digits, not read to screen readers until you press F2
fits
shot scale-recovery-key
key Tab
focus I have written it down
key space
click Done
gone
turn
sees The new recovery key was shown with its prompt.
STEPS
echo 'at 200 % everything fits on the screen'
