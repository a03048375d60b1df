#!/usr/bin/env bash
# Backups in system mode: the items of all of a user's programs are backed up and restored after the user's consent, by the user alone, and each
# program finds its own items again; what stays on the device stays with its user too.
# proves: C-058 C-059
set -u
. Tests/Scripts/lib/system-rooms.sh
for name in mail chat; do cp "$bin/keychain-caller" /usr/local/games/bin/$name; done
chmod 755 /usr/local/games/bin/*
start_rooms
by() { who=$1; shift; as "vauban-test-$who" "$@"; }
printf 'a passphrase of its own\n' >"$TMPDIR/passphrase"
# backed_up USER WORDS...: with passcode and passphrase on descriptors, without a terminal.
backed_up() {
    who=$1; shift; as "vauban-test-$who" setsid --wait "$bin/vauban" "$@" --passcode-fd 3 --passphrase-fd 4 3<"$TMPDIR/$who.passcode" \
        4<"$TMPDIR/passphrase" 2>"$TMPDIR/err" </dev/null
}
check 'alice sets a passcode' eval 'with_passcode alice passcode set 2>/dev/null'
check 'bob sets a passcode' eval 'with_passcode bob passcode set 2>/dev/null'
check 'her programs add items' eval 'equals "$(by alice /usr/local/games/bin/mail add secretname x)" 0 && equals "$(by alice /usr/local/games/bin/chat add othername y)" 0'
check 'she adds some with the command line' eval 'printf "by hand" | alice set notes/me 2>/dev/null && printf here | alice add here/x --this-device 2>/dev/null'
check 'her backup has the items of all programs' backed_up alice backup "$TMPDIR/alice/one.backup"
check 'and all of it' grep -q '4 items backed up. Verified.' "$TMPDIR/err"
check 'there is no backup without her approval' refused 36 as vauban-test-alice setsid --wait "$bin/vauban" backup "$TMPDIR/alice/none" --passphrase-fd 4 4<"$TMPDIR/passphrase"
check 'nor with a wrong passcode' \
    refused 51 as vauban-test-alice setsid --wait "$bin/vauban" backup "$TMPDIR/alice/none" --passcode-fd 3 --passphrase-fd 4 3<"$TMPDIR/bob.passcode" 4<"$TMPDIR/passphrase"
check 'and no file is left' eval '[ ! -e "$TMPDIR/alice/none" ] && [ ! -e "$TMPDIR/alice/none.partial" ]'
check 'there is no restore without her approval' \
    refused 36 as vauban-test-alice setsid --wait "$bin/vauban" restore "$TMPDIR/alice/one.backup" --passphrase-fd 4 4<"$TMPDIR/passphrase"

kill "$keychain_pid"; wait "$keychain_pid" 2>/dev/null
rm -f "$state/keychain/$(id -u vauban-test-alice)"/keychain.db*
start_keychain
eventually alice list >/dev/null 2>&1
check 'after the loss of the database she restores everything' backed_up alice restore "$TMPDIR/alice/one.backup"
check 'what stays on the device included' grep -q '4 items added, 0 replaced, 0 unchanged, 0 not restored' "$TMPDIR/err"
check 'each program finds its own items' \
    eval 'equals "$(by alice /usr/local/games/bin/mail get secretname)" "0 x" && equals "$(by alice /usr/local/games/bin/chat get othername)" "0 y"'
check 'and no others' eval 'equals "$(by alice /usr/local/games/bin/mail get othername)" "-25300"'
check 'and she finds hers' eval 'equals "$(alice get notes/me)" "by hand" && equals "$(alice get here/x)" here'

cp "$TMPDIR/alice/one.backup" "$TMPDIR/bob/" && chown vauban-test-bob "$TMPDIR/bob/one.backup"
check 'items that stay on the device are not restored for another user' eval 'backed_up bob restore "$TMPDIR/bob/one.backup"; [ $? = 1 ]'
check 'and are named' grep -q 'Not restored: here/x: it stays on the device' "$TMPDIR/err"
check 'everything else is restored' eval 'equals "$(by bob /usr/local/games/bin/mail get secretname)" "0 x" && equals "$(bob get notes/me)" "by hand"'
finish
