#!/usr/bin/env bash
# Synchronized items in system mode: the items of all of a user's programs go to the circle after the user's approval, by the user alone, and
# each program finds its own items on the other device. Another user's keychain represents another device, and root carries the folder.
# proves: C-215 C-217
set -u
. Tests/Scripts/lib/system-rooms.sh
for name in mail chat; do cp "$bin/keychain-caller" /usr/local/games/bin/$name; done
chmod 755 /usr/local/games/bin/*
start_rooms
by() { who=$1; shift; as "vauban-test-$who" "$@"; }
folder=$TMPDIR/shared
install -d -m 777 "$folder"
# sync USER WORDS...: runs vauban sync with the passcode, without a terminal; then root makes the folder readable for both.
sync() {
    who=$1; shift; as "vauban-test-$who" setsid --wait "$bin/vauban" sync "$@" --passcode-fd 3 3<"$TMPDIR/$who.passcode" >"$TMPDIR/shown" \
        2>"$TMPDIR/err" </dev/null; ended=$?; chmod -R a+rwX "$folder"; return $ended
}
check 'alice sets a passcode' eval 'with_passcode alice passcode set 2>/dev/null'
check 'bob sets a passcode' eval 'with_passcode bob passcode set 2>/dev/null'
check 'a program of alice stores two items' \
    eval 'equals "$(by alice /usr/local/games/bin/mail synced-add everywhere x)" 0 && equals "$(by alice /usr/local/games/bin/mail add here y)" 0'
check 'alice starts a circle' sync alice new "$folder" --name hers
check 'one item is sent' grep -q '1 sent' "$TMPDIR/err"
check 'the other device asks' sync bob join "$folder" --name his
check 'alice answers' sync alice approve
check 'the other device shows a code' sync bob join "$folder"
code=$(cat "$TMPDIR/shown")
check 'no device is admitted without her passcode' refused 36 as vauban-test-alice setsid --wait "$bin/vauban" sync approve "$code"
check 'no device is admitted with a wrong passcode' refused 51 as vauban-test-alice setsid --wait "$bin/vauban" sync approve "$code" --passcode-fd 3 3<"$TMPDIR/bob.passcode"
check 'alice admits the other device' sync alice approve "$code"
code=$(cat "$TMPDIR/shown")
check 'the other device joins' sync bob join "$folder" "$code"
check 'the program finds its item there' equals "$(by bob /usr/local/games/bin/mail synced-get everywhere)" '0 x'
check 'another program does not find it there' equals "$(by bob /usr/local/games/bin/chat synced-get everywhere)" -25300
check 'the program does not find an item there that is not synchronizable' equals "$(by bob /usr/local/games/bin/mail get here)" -25300
check 'the program changes the item there' equals "$(by bob /usr/local/games/bin/mail synced-update everywhere z)" 0
check 'the change is sent' sync bob now
check 'the change is read on the first device' eval 'sync alice now && equals "$(by alice /usr/local/games/bin/mail synced-get everywhere)" "0 z"'
finish
