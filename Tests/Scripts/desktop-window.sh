#!/usr/bin/env bash
# The desktop application on its own display, with keyboard, pointer and a screen reader's bus, over real rooms: items are found by search,
# revealed, copied, edited, added, deleted and restored; codes; the prompt for an item that requires approval, and the text if no prompt can
# be shown; the lock, which removes every secret from the screen, the clipboard and memory; names for screen readers on each page. Its
# pictures stay in .build/test-results/desktop.
# proves: C-028
# limit: 1200
# resource: clipboard
set -u
. Tests/Scripts/lib/desktop-window.sh
set_passcode
printf 'tulips-and-rain-7' | vauban set github/anna || fail 'set failed'
printf 'basket-case-0815' | vauban set --url https://anna@shop.example/basket || fail 'set --url failed'
vauban edit --server shop.example --label 'Shop' --comment 'the card ends with 42' --tag home || fail 'edit failed'
printf 'the vault secret' | vauban set bank/anna --require presence || fail 'set --require failed'
printf 'otpauth://totp/GitHub:anna?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=86400' | vauban code add github/anna || fail 'code add failed'
printf 'a\0b' | vauban set blob/anna || fail 'set of bytes failed'
# code: the present code, which changes at midnight (UTC). If that is near, the next one.
code() { until [ $(($(date +%s) % 86400)) -lt 86100 ]; do timeout 1 tail -f /dev/null; done; vauban code get github/anna; }

# Found by name, revealed, copied; the lock hides and clears it.
at_desktop <<STEPS
start
sees 5 items
sees github, anna, Password
sees bank, anna, Password
hides tulips
named
shot items
focus Search
type basket
sees 1 item
click Shop, shop.example/anna, Password
sees https://shop.example/basket
sees the card ends with 42
sees Can be read while the keychain is unlocked.
named
shot page-website
key ctrl+f
key ctrl+a
type git
sees 2 items
click github, anna, Password
hides https://shop.example/basket
click Reveal
sees tulips-and-rain-7
named
shot revealed
click Copy Password
sees Copied. The clipboard is cleared in 45 seconds
run "$VAUBAN_BUILD/vauban" lock 2>/dev/null
sees Your keychain is locked
hides tulips
hides github
named
shot locked
run [ -z "\$($TMPDIR/pasted)" ]
forgot tulips-and-rain-7
run $TMPDIR/approve
click Unlock
sees 5 items
click github, anna, Password
click Copy Password
sees Copied.
run [ "\$($TMPDIR/pasted)" = tulips-and-rain-7 ]
run xclip -o -selection clipboard -t TARGETS | grep -qx x-kde-passwordManagerHint
key ctrl+l
sees Your keychain is locked
focus Unlock
run [ -z "\$($TMPDIR/pasted)" ]
STEPS
unlock

# A revealed secret cannot be selected: a copy made by GTK would stay in the clipboard after the lock.
at_desktop <<STEPS
start
click github, anna, Password
click Reveal
sees tulips-and-rain-7
focus Hide
key shift+Tab
key ctrl+a
key ctrl+c
key ctrl+Insert
click Show Code
sees $(code)
key shift+Tab
key ctrl+a
key ctrl+c
run [ -z "\$($TMPDIR/pasted)" ]
key ctrl+l
sees Your keychain is locked
run [ -z "\$($TMPDIR/pasted)" ]
STEPS
unlock

# An item that requires approval prompts the user; the window says where. Without a prompt agent it says that.
at_desktop <<STEPS
start
click bank, anna, Password
sees each time with your fingerprint or passcode
click Reveal
sees Nothing can show a prompt here
hides the vault secret
shot no-prompt
run $TMPDIR/approve
click Reveal
sees the vault secret
click Hide
hides the vault secret
forgot the vault secret
click blob, anna, Password
hides each time with your fingerprint or passcode
click Reveal
sees The secret is not text
STEPS

# By the keyboard alone: find, open, reveal, hide.
at_desktop <<STEPS
start
focus Search
type github
sees 2 items
key Return
sees Reveal
key Tab
key Tab
focus Reveal
key Return
focus Hide
key Return
focus Reveal
shot keyboard
STEPS

# A code beside its password and as a separate item; hidden and cleared after a time.
at_desktop <<STEPS
start --hide-after 30 --clear-after 1
click github, anna, Password
click Show Code
sees $(code)
sees Valid for
named
shot code
click Copy One-time code
sees Copied. The clipboard is cleared in 1 second
run until [ -z "\$($TMPDIR/pasted)" ]; do :; done
hides $(code)
click github, anna, One-time code
sees Show Code
STEPS

# Tags filter the items, as kinds do, and the list of tags changes with them.
vauban edit github/anna --tag work --tag home 2>/dev/null || fail 'edit --tag failed'
at_desktop <<STEPS
start
click Tag home, 2
sees 2 items
sees github, anna, Password
hides bank, anna, Password
named
shot tags
click Tag work, 1
sees 1 item
hides Shop
click github, anna, Password
sees work, home
click Edit
focus Title
key Tab
key Tab
focus Tags
key ctrl+a
type office
click Save
sees Saved.
sees Tag office, 1
sees Tag home, 1
hides Tag work
sees 5 items
run [ "\$("$VAUBAN_BUILD/vauban" list --tag office)" = "\$("$VAUBAN_BUILD/vauban" list github/anna)" ]
STEPS
vauban edit github/anna --untag office 2>/dev/null || fail 'edit --untag failed'

# A key for one-time codes: an invalid one, the key that a site shows, and a screen without a portal for pictures.
at_desktop <<STEPS
start
click Shop, shop.example/anna, Password
click Add Code
focus Key or otpauth:// address
click Add
sees Type the key, or scan the QR code on the screen.
click Scan the Screen
sees or copy a picture and run vauban code scan --clipboard
named
shot add-code
focus Scan the Screen
key shift+Tab
focus Key or otpauth:// address
type otpauth://totp/Shop:anna
key Return
sees has no secret
key ctrl+a
type GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ
key Return
sees The one-time code was added.
forgot GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ
click Show Code
run "$VAUBAN_BUILD/vauban" code list | grep -q shop.example/anna
sees 6 items
STEPS
vauban delete --yes otpauth:shop.example/anna >/dev/null 2>&1 || fail 'delete of a code failed'

# If the user leaves the page, the picture of the screen is no longer awaited, and nothing is added.
mkdir "$TMPDIR/portal"
at_desktop <<STEPS
start
run /usr/bin/python3 Tests/Scripts/lib/played-portal.py "$TMPDIR/portal" >/dev/null 2>&1 & echo \$! >"$TMPDIR/portal.pid"
run while [ ! -e "$TMPDIR/portal/ready" ]; do kill -0 "\$(cat "$TMPDIR/portal.pid")" || exit 1; done
click Shop, shop.example/anna, Password
click Add Code
click Scan the Screen
sees Looking for a QR code on the screen
run while [ ! -e "$TMPDIR/portal/asked" ]; do kill -0 "\$(cat "$TMPDIR/portal.pid")" || exit 1; done
click Cancel
sees Can be read
run while [ ! -e "$TMPDIR/portal/left" ]; do kill -0 "\$(cat "$TMPDIR/portal.pid")" || exit 1; done
run [ "\$(cat "$TMPDIR/portal/left")" -gt 0 ]
run kill "\$(cat "$TMPDIR/portal.pid")"
run ! "$VAUBAN_BUILD/vauban" code list | grep shop
sees 5 items
STEPS

# An edit of the user name also renames the one-time code.
code=$(code)
at_desktop <<STEPS
start
click github, anna, Password
click Edit
focus Title
key Tab
focus User name
key ctrl+a
type annabel
click Save
sees Saved, with its one-time code.
sees github, annabel, One-time code
click Show Code
sees $code
run [ "\$("$VAUBAN_BUILD/vauban" code get github/annabel)" = $code ]
run ! "$VAUBAN_BUILD/vauban" code get github/anna 2>/dev/null
STEPS
vauban rename github/annabel github/anna 2>/dev/null && vauban rename otpauth:github/annabel otpauth:github/anna || fail 'rename failed'

# An edit, a new password, and the earlier one.
at_desktop <<STEPS
start
click Shop, shop.example/anna, Password
click Edit
focus Title
key ctrl+a
type Flower shop
named
shot edit
click Save
sees Saved.
sees Flower shop, shop.example/anna, Password
run "$VAUBAN_BUILD/vauban" show --server shop.example | grep -q 'Label: *Flower shop'
run "$VAUBAN_BUILD/vauban" show --server shop.example | grep -q 'Tags: *home'
click New Password
sees Generate it: 20 characters
named
shot new-password
click Replace
sees The password was replaced: 20 characters
run [ "\$("$VAUBAN_BUILD/vauban" get --server shop.example | wc -c)" = 20 ]
click History
sees Earlier Passwords of
click Reveal
sees basket-case-0815
named
shot history
click Restore
sees The earlier password is restored
run [ "\$("$VAUBAN_BUILD/vauban" get --server shop.example)" = basket-case-0815 ]
click Delete
sees You can restore it for thirty days
focus Cancel
named
shot delete
click Delete Item
sees “Flower shop” is deleted
run ! "$VAUBAN_BUILD/vauban" show --server shop.example 2>/dev/null
named
shot deleted
click Undo
sees Restored.
run [ "\$("$VAUBAN_BUILD/vauban" get --server shop.example)" = basket-case-0815 ]
click Add Password
focus Website or service
type https://mail.example/
key Tab
focus User name
type bert
click Type it
focus New password
type lantern-fish
named
shot add
click Add
sees mail.example, bert, Password
sees Added.
run [ "\$("$VAUBAN_BUILD/vauban" get --url https://bert@mail.example/)" = lantern-fish ]
forgot lantern-fish
click Add Password
focus Website or service
type wiki
key Return
sees Added with a generated password: 20 characters
STEPS

# A change whose page the user leaves is not made: its prompt is withdrawn, and an answer has no effect.
cat >"$TMPDIR/steps-to-watch" <<STEPS
expect Prompts appear here
run touch $TMPDIR/watcher
expect asscode
run touch $TMPDIR/prompted
expect withdrawn
key ctrl-c
STEPS
cat >"$TMPDIR/watch" <<WATCH
#!/bin/bash
rm -f "$TMPDIR/watcher" "$TMPDIR/prompted"
"$VAUBAN_BUILD/pty-play" --seconds "$hang_seconds" -- "$VAUBAN_BUILD/vauban" approve <"$TMPDIR/steps-to-watch" >"$TMPDIR/watch.out" 2>&1 &
echo \$! >"$TMPDIR/watch.pid"
until [ -e "$TMPDIR/watcher" ]; do kill -0 \$! || { cat "$TMPDIR/watch.out"; exit 1; }; done
WATCH
chmod +x "$TMPDIR/watch"
at_desktop <<STEPS
start
click bank, anna, Password
click New Password
click Type it
focus New password
type another-secret
run $TMPDIR/watch
click Replace
sees Waiting for your answer
run while [ ! -e "$TMPDIR/prompted" ]; do kill -0 "\$(cat "$TMPDIR/watch.pid")" || exit 1; done
click Cancel
sees Can be read
run while kill -0 "\$(cat "$TMPDIR/watch.pid")" 2>/dev/null; do :; done; grep -q withdrawn "$TMPDIR/watch.out"
run $TMPDIR/approve
click History
sees There are no earlier passwords.
STEPS

# An item that is not a password is not called one, and there is no button to replace it by a password.
ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/deploy" && vauban ssh import "$TMPDIR/deploy" >/dev/null 2>&1 || fail 'ssh import failed'
printf 'the spare key is under the pot' | vauban set house && vauban edit house --description 'secure note' || fail 'set of a note failed'
at_desktop <<STEPS
start
focus Search
type house
click house, Note or secret
sees Secure note
sees Note
hides New Password
click Reveal
sees the spare key is under the pot
key ctrl+f
key ctrl+a
type deploy
click ssh-key, deploy, Key
sees Private key
hides New Password
STEPS
vauban delete --yes house >/dev/null 2>&1 && vauban ssh delete --yes deploy >/dev/null 2>&1 || fail 'the note and the key cannot be deleted'

# A copied password is cleared after its time. Then the process ends.
at_desktop <<STEPS
start --clear-after 5
click github, anna, Password
click Copy Password
sees Copied.
key ctrl+q
gone
ends 0
run [ -z "\$($TMPDIR/pasted)" ]
STEPS

# The process outlives the window, and a lock clears the clipboard then too.
at_desktop <<STEPS
start --clear-after 3600
click github, anna, Password
click Copy Password
sees Copied.
key ctrl+q
gone
first anna
run [ "\$($TMPDIR/pasted)" = tulips-and-rain-7 ]
run "$VAUBAN_BUILD/vauban" lock 2>/dev/null
ends 0
run [ -z "\$($TMPDIR/pasted)" ]
STEPS
unlock

# The dark appearance.
at_desktop <<STEPS
start GTK_THEME=Adwaita:dark
click github, anna, Password
sees Show Code
click Reveal
sees tulips-and-rain-7
shot dark
key ctrl+l
sees Your keychain is locked
shot dark-locked
STEPS
unlock

# When the service stops, nothing remains shown. A vauban approve that still waits does not start it again.
at_desktop <<STEPS
start
click github, anna, Password
click Reveal
sees tulips-and-rain-7
run "$VAUBAN_BUILD/vauban" stop
sees Vauban cannot be reached
hides tulips
hides github
forgot tulips-and-rain-7
click Try Again
sees Your keychain is locked
STEPS
kill "$(cat "$TMPDIR/approve.pid")" 2>/dev/null

# Without a keychain the window reports that.
vauban stop >/dev/null 2>&1
rm -rf "$VAUBAN_HOME"
at_desktop <<STEPS
start
sees There is no keychain to show
focus Try Again
shot unavailable
STEPS
expect_status 64 env DISPLAY=:0 "$sheet" --nonsense

# If the application was built, it is installed; otherwise none of its files are.
mkdir "$TMPDIR/programs"
for program in $(scripts/programs) pam_vauban.so vauban-protect; do : >"$TMPDIR/programs/$program"; done
cp --remove-destination "$VAUBAN_BUILD/vauban" "$TMPDIR/programs/vauban"
VAUBAN_DESKTOP=$sheet scripts/stage --system "$TMPDIR/programs" "$TMPDIR/with" /usr/local || fail 'stage failed'
VAUBAN_DESKTOP='' scripts/stage --system "$TMPDIR/programs" "$TMPDIR/without" /usr/local || fail 'stage failed'
cmp "$sheet" "$TMPDIR/with/usr/local/lib/vauban/vauban-desktop" || fail 'the application is not installed'
cmp "$sheet" "$TMPDIR/with/usr/local/bin/vauban-desktop" || fail 'the application is not in the folder of programs'
expect_text 'Exec=vauban-desktop' "$TMPDIR/with/usr/local/share/applications/vauban-desktop.desktop"
(cd "$TMPDIR/without" && find . | grep desktop.1) && fail 'a file of the application is installed although it was not built'
for file in bin/vauban-desktop share/applications/vauban-desktop.desktop share/man/man1/vauban-desktop.1; do
    grep -qx "/usr/local/$file" "$TMPDIR/with/usr/local/lib/vauban/manifest" || fail "the manifest does not name $file"
done
echo 'items are found, read and changed in the window'
