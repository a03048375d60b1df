#!/usr/bin/env bash
# A user-mode keychain beside an installed service: commands mention it, and `vauban adopt` moves it. Covers kills at many points, existing
# items, items that cannot be moved, and unsafe sources. Real rooms, real users.
set -u
. Tests/Scripts/lib/system-rooms.sh
export TERM=xterm
for program in vauban-watcher vauban-reader vauban-launcher; do
    cp "$VAUBAN_BUILD/$program" "$bin/" || { echo "$program is not built"; exit 77; }
done
# The disk of the room is small, so that it can be filled.
mount -t tmpfs -o "size=24m,mode=700,uid=$(id -u vauban-test-keychain),gid=$(id -g vauban-test-keychain)" tmpfs "$state/keychain" || { echo 'it cannot mount here'; exit 77; }

# user_mode USER: a keychain as `vauban setup` leaves it, with the launcher for tests.
user_mode() {
    home=$TMPDIR/$1/${2:-.local/share}/vauban
    as "vauban-test-$1" mkdir -p -m 700 "$home"
    printf 'version 1\nlauncher %s\n' "$bin/rooms-testing" | as "vauban-test-$1" tee "$home/service" >/dev/null
}
caller() { as vauban-test-alice "$bin/keychain-caller" "$@"; }
values() { for name in "$@"; do printf '%s=' "$name"; "${of[@]}" get "$name" 2>/dev/null </dev/null | sha256sum | cut -c1-16; done; }

unchanged() { values $names | diff "$TMPDIR/before" - | head -n 5; [ "${PIPESTATUS[1]}" = 0 ]; }

# Before the installation: alice and bob each have their own keychain; hers has a passcode, his has none.
mv /etc/vauban/rooms /etc/vauban/later
user_mode bob; bobs=$home
user_mode alice; alices=$home
printf 'the older passcode\n' >"$TMPDIR/older.passcode"
as vauban-test-alice "$bin/vauban" passcode set --passcode-fd 3 3<"$TMPDIR/older.passcode" 2>/dev/null || { echo 'user mode does not start'; exit 1; }
{ echo 'name,url,username,password,note'
    for number in $(seq 120); do echo "site $number,https://site$number.example/,anna,value $number,\"note, $number\""; done; } >"$TMPDIR/alice/export.csv"
chmod 644 "$TMPDIR/alice/export.csv"
alice import "$TMPDIR/alice/export.csv" 2>/dev/null
printf 'of github' | alice set github/anna 2>/dev/null
printf 'no account' | alice set plain 2>/dev/null
printf 'an account' | alice set weak/anna 2>/dev/null
printf 'a\0b\n\377' | alice set bytes/anna --keep-newline 2>/dev/null
printf '' | alice set empty/anna --empty 2>/dev/null
head -c 900000 /dev/urandom | alice set large/anna 2>/dev/null
printf 'on a port' | alice set --server s.example --account anna --protocol https --port 8443 --path /x --when after-first-unlock 2>/dev/null
printf 'of the bank' | alice set bank/anna --require presence 2>/dev/null
printf 'of the safe' | alice set safe/anna --require presence 2>/dev/null
check 'programs add items in user mode' equals "$(caller add tool 'of the tool') $(caller add app 'of the app' TEAM.app) $(caller rich rich 'of rich')" '0 0 0'
check 'one of them under an application password' equals "$(caller sealed sealed 'of sealed')" 0
rich=$(caller show rich)
check 'an item has every attribute' eval '[ $(wc -w <<<"$rich") -gt 12 ]'
names="github/anna plain weak/anna bytes/anna empty/anna large/anna s.example/anna callers/tool callers/app $(seq -f 'site%g.example/anna' 120)"
of=(alice); values $names >"$TMPDIR/before"
count=$(alice list 2>/dev/null | wc -l)
check 'there is something to move' \
    eval '[ "$count" = 133 ] && [ "$(wc -l <"$TMPDIR/before")" = 129 ] && ! grep -q "=$(printf "" | sha256sum | cut -c1-16)" <(grep -v empty "$TMPDIR/before")'
printf 'of bob' | bob set github/bob 2>/dev/null
alice stop 2>/dev/null; bob stop 2>/dev/null
check 'without a service there is nothing to move to' refused 53 alice adopt

# The installation.
mv /etc/vauban/later /etc/vauban/rooms
start_rooms
hidden="Your user-mode keychain in $alices is not part of the installed service"
check 'status reports it' eval 'alice status 2>/dev/null | grep -q "^Own keychain the user-mode keychain in $alices is not part"'
check 'a get that finds nothing reports it' eval 'refused 44 alice get github/anna && grep -q "$hidden; to move it, run: vauban adopt" "$TMPDIR/out"'
check 'so does an empty list' eval 'alice list 2>&1 | grep -q "$hidden"'
check 'a user without one gets no such report' \
    eval 'rm -rf "$TMPDIR/bob.kept" && mv "$bobs" "$TMPDIR/bob.kept" && refused 44 bob get github/bob && ! grep -q "user-mode" "$TMPDIR/out" &&
        ! bob status 2>/dev/null | grep -q "Own keychain" && refused 0 bob adopt && grep -q "No user-mode keychain to move" "$TMPDIR/out"; mv "$TMPDIR/bob.kept" "$bobs"'
chmod 711 "$TMPDIR/alice"
check 'another user finds no keychain of hers' \
    eval 'refused 0 as vauban-test-bob env XDG_DATA_HOME="$TMPDIR/alice/.local/share" "$bin/vauban" adopt &&
        grep -q "No user-mode keychain to move" "$TMPDIR/out" && refused 0 env XDG_DATA_HOME="$TMPDIR/alice/.local/share" "$bin/vauban" adopt'
chmod 700 "$TMPDIR/alice"
check 'it is never moved into another of her folders' \
    eval 'refused 64 as vauban-test-alice env VAUBAN_HOME="$TMPDIR/alice/elsewhere" "$bin/vauban" adopt && [ ! -e "$TMPDIR/alice/elsewhere" ]'

# adopt [OPTION...]: with both passcodes on descriptors, without a terminal.
adopt() {
    as vauban-test-alice setsid --wait "$bin/vauban" adopt --source-passcode-fd 4 --passcode-fd 3 "$@" 3<"$TMPDIR/alice.passcode" \
        4<"${source_passcode:-$TMPDIR/older.passcode}" >"$TMPDIR/out" 2>&1 </dev/null
}
ends() { want=$1; shift; "$@"; got=$?; [ $got = "$want" ] || { cat "$TMPDIR/out"; echo "    ended with $got, not $want"; return 1; }; }
said() { grep -qF -- "$1" "$TMPDIR/out" || { cat "$TMPDIR/out"; return 1; }; }
has() { of=(alice); [ "$(alice list 2>/dev/null </dev/null | grep -vc '^There are')" = "$1" ]; }
# The rooms of the old keychain end with the command, even if it fails.
stopped() { ! as vauban-test-alice flock -n -E 9 "$alices/lock" true || return 0; return 1; }

check 'a keychain with a passcode is not moved into one without' eval 'ends 51 adopt && said "passcode set"'
check 'alice sets a passcode' eval 'with_passcode alice passcode set 2>/dev/null'
cp "$TMPDIR/bob.passcode" "$TMPDIR/wrong.passcode"
check 'a wrong passcode of the old keychain is reported as such' eval 'source_passcode=$TMPDIR/wrong.passcode ends 51 adopt && said "the old keychain'"'"'s passcode"'
check 'without a passcode the message says how to provide it' eval 'refused 36 alice adopt --no-input && grep -q -- "--source-passcode-fd" "$TMPDIR/out"'
check 'the rooms that were started have ended' stopped
check 'these attempts moved nothing' has 0

# On a terminal, with the steps in a file.
typing() { play alice "$bin/vauban" adopt <"$TMPDIR/steps" >"$TMPDIR/out" 2>&1; }

check 'a dry run lists what would be moved and why the rest would not' \
    eval 'ends 1 adopt --dry-run && said "$((count - 1)) would be moved, 0 already here, 1 would not be moved. Nothing was changed." &&
        said "Would move: github/anna" && said "Would move: bank/anna" && said "Would not move: callers/sealed: it opens only with the password of its program"'
check 'it moved nothing, and the old rooms have ended' eval 'has 0 && stopped'
check 'a dry run deletes nothing' eval 'refused 64 alice adopt --dry-run --delete-source && [ -e "$alices/service" ]'

# Killed repeatedly, at a different item each time; both keychains are locked at first.
kill_at() {
    cat >"$TMPDIR/steps"
    as vauban-test-alice "$bin/pty-play" --seconds "$hang_seconds" -- sh -c 'echo $$ >"$HOME/pid"; exec "$0" adopt' "$bin/vauban" <"$TMPDIR/steps" >"$TMPDIR/out" 2>&1
}
alice lock 2>/dev/null
check 'killed before the first item' eval 'ends 137 kill_at <<PLAY
expect your other programs can read the passcode
expect The old keychain has not been unlocked
expect Passcode (
secret a wrong one
expect That was not your passcode
expect cancels
secret the older passcode
expect The keychain is locked
expect Passcode (
secret alice passcode
expect Moving $count items
run kill -9 \$(cat $TMPDIR/alice/pid)
PLAY'
for point in 25 50 100 125; do
    check "killed after $point" eval 'ends 137 kill_at <<PLAY
expect Moving $count items
expect Moving: $point of $count
run kill -9 \$(cat $TMPDIR/alice/pid)
PLAY'
done
check 'each moved item exists once' eval '[ -z "$(alice list 2>/dev/null | cut -f1 | sort | uniq -d)" ] && [ "$(alice list 2>/dev/null | wc -l)" -ge 124 ]'
check 'killed at the first prompt' eval 'ends 137 kill_at <<PLAY
expect Vauban asks
expect read a secret
run kill -9 \$(cat $TMPDIR/alice/pid)
PLAY'
# It still has the old values, read by the old keychain itself, which these kills left running.
old() { as vauban-test-alice env VAUBAN_HOME="$alices" "$bin/vauban" "$@"; }
of=(old); check 'nothing has changed in the old keychain' unchanged
old stop 2>/dev/null

# Items that stay: one that needs its program, one with another value, one with other attributes, one that she declines.
printf 'another value' | alice set github/anna --replace 2>/dev/null
printf 'on a port' | alice set --server s.example --account anna --protocol https --port 8443 --path /x 2>/dev/null
alice delete weak/anna 2>/dev/null
printf 'an account' | alice set weak/anna --when after-first-unlock 2>/dev/null
cat >"$TMPDIR/steps" <<PLAY
expect Passcode (
secret the older passcode
expect Moving $count items
expect 2 items need your approval
expect Not moved: callers/sealed
expect bank/anna
run printf later | env VAUBAN_HOME=$alices $bin/vauban set meanwhile/anna
expect Passcode (
secret the older passcode
expect compare bank/anna
expect Passcode (
secret alice passcode
expect safe/anna
expect Passcode (
key ctrl-c
expect Not moved: safe/anna: Cancelled
expect 1 item was added to the old keychain in the meantime
expect 4 not moved
expect callers/app (of TEAM.app)
expect The old keychain is kept
PLAY
check 'she moves it, and declines one item' eval 'ends 1 typing'
count=$((count + 1))
check 'items that were written there meanwhile are moved too' equals "$(alice get meanwhile/anna 2>/dev/null)" later
check 'an item with another value is named and stays' said 'Not moved: github/anna: an item of this name is already here, with another secret'
check 'an item with another protection is named and stays' said 'Not moved: weak/anna: an item of this name is already here, with other attributes'
check 'an item that needs its program is named and stays' said 'Not moved: callers/sealed: it opens only with the password of its program'
check 'if some stay nothing is deleted' eval '[ -e "$alices/service" ] && [ ! -e "$alices/adopted" ] && ends 1 adopt --delete-source && [ -e "$alices/service" ]'
check 'status still reports it' eval 'alice status 2>/dev/null | grep -q "^Own keychain the user-mode keychain in .* is not part"'
check 'existing items are unchanged' equals "$(alice get github/anna 2>/dev/null)" 'another value'

# The user resolves it with the commands that adopt prints.
check 'the remaining items can be read and deleted there' \
    eval 'with_old() { as vauban-test-alice env VAUBAN_HOME="$alices" "$bin/vauban" "$@" --passcode-fd 3 3<"$TMPDIR/older.passcode" 2>/dev/null; }
        with_old list | grep -q callers/sealed && with_old delete callers/sealed; old stop 2>/dev/null'
alice delete github/anna 2>/dev/null; alice delete weak/anna 2>/dev/null
cat >"$TMPDIR/steps" <<PLAY
expect Passcode (
secret the older passcode
absent Vauban asks
expect 2 moved, $((count - 3)) already here, 0 not moved.
expect Delete the old keychain? It is deleted only if all its items are here.
expect Type delete
send no
expect still in $alices
PLAY
check 'then everything is moved, and declined items do not prompt again' eval 'ends 0 typing'
of=(alice); check 'every value is the same, byte for byte' unchanged
check 'once each' has $((count - 1))
check 'protections are kept' eval 'alice list 2>/dev/null | grep -q "^s.example/anna.*after-first-unlock" && [ "$(alice list 2>/dev/null | grep -c prompts)" = 2 ]'
cp "$bin/keychain-caller" /usr/local/games/bin/tool; chmod 755 /usr/local/games/bin/tool
check 'a program finds its items only after a permission' equals "$(as vauban-test-alice /usr/local/games/bin/tool get tool)" -25300
for name in tool rich; do with_passcode alice allow /usr/local/games/bin/tool "callers/$name" 2>/dev/null; done
check 'then it reads them' equals "$(as vauban-test-alice /usr/local/games/bin/tool get tool)" '0 of the tool'
check 'with every attribute unchanged' equals "$(as vauban-test-alice /usr/local/games/bin/tool show rich)" "$rich"

# The old keychain is kept until she confirms.
check 'status reports that it is kept, and how to delete it' \
    eval 'alice status 2>/dev/null | grep -q "^Own keychain the user-mode keychain in $alices still exists.*adopt --delete-source"'
check 'a get that finds nothing no longer reports it' eval 'refused 44 alice get nothing/here && ! grep -q "user-mode" "$TMPDIR/out"'
check 'its folder reveals nothing of the moved items' \
    eval '[ "$(wc -l <"$alices/adopting")" = 3 ] && [ "$(wc -l <"$alices/adopted")" = 3 ] && [ "$(wc -l <"$alices/adopted.items")" = "$count" ] &&
        ! grep -aqE "anna|bank|safe|of the" "$alices/adopting" "$alices/adopted" "$alices/adopted.items"'
printf 'newer' | alice set github/anna --replace 2>/dev/null
check 'a wrong passcode deletes nothing' eval 'source_passcode=$TMPDIR/wrong.passcode ends 51 adopt --delete-source && [ -e "$alices/service" ]'
cp -a "$alices" "$TMPDIR/alice/copy"
# A write to it in user mode invalidates the marker.
printf 'later' | with_old set later/anna; old stop 2>/dev/null
check 'items written to it afterwards are reported again' eval 'alice status 2>/dev/null | grep -q "^Own keychain the user-mode keychain in .* is not part"'
rm -rf "$alices" && cp -a "$TMPDIR/alice/copy" "$alices"
check 'an earlier copy of it is recognized' eval 'ends 0 adopt && said "are already moved"'
rm "$alices/adopted"
check 'without the marker everything is compared again' \
    eval 'ends 1 adopt && said "Not moved: github/anna: an item of this name is already here, with another secret" && said "1 not moved."'
printf 'of github' | alice set github/anna --replace 2>/dev/null
check 'until everything is equal' eval 'ends 0 adopt && said "0 moved, $((count - 1)) already here, 0 not moved." && said "is still in"'
printf 'newer' | alice set github/anna --replace 2>/dev/null
check 'killed at the last prompt' eval 'ends 137 kill_at <<PLAY
expect are already moved
expect Delete the old keychain?
expect Type delete
run kill -9 \$(cat $TMPDIR/alice/pid)
PLAY'
cp -a "$alices" "$TMPDIR/alice/kept"
# Moved items are looked up before the old keychain is deleted; one that is missing here is not lost.
alice delete plain 2>/dev/null
check 'not deleted if one of its items is missing here' \
    eval 'ends 44 adopt --delete-source && said "1 item of it, such as plain, is not here" && [ -e "$alices/service" ] && [ ! -e "$alices/adopted" ]'
printf 'of github' | alice set github/anna --replace 2>/dev/null
check 'it is moved again' eval 'ends 0 adopt && said "1 moved" && equals "$(alice get plain 2>/dev/null)" "no account"'
printf 'newer' | alice set github/anna --replace 2>/dev/null
rm -rf "$TMPDIR/alice/kept"; cp -a "$alices" "$TMPDIR/alice/kept"
as vauban-test-alice mkdir -m 700 "$alices.deleted"; as vauban-test-alice touch "$alices.deleted/precious"
check 'nor if another folder has the name of the deleted one' \
    eval '! adopt --delete-source && said "is in the way, so nothing was deleted" && [ -e "$alices/service" ] && [ -e "$alices.deleted/precious" ]'
rm -r "$alices.deleted"
check 'deleted, though a value here is newer now' eval 'ends 0 adopt --delete-source && [ ! -e "$alices" ]'
check 'then it is no longer reported' \
    eval '! alice status 2>/dev/null | grep -q "Own keychain" && ends 0 adopt && said "No user-mode keychain to move" && equals "$(alice get github/anna 2>/dev/null)" newer'
# As kills leave it: erased but still in place, and set aside but still in place.
cp -a "$TMPDIR/alice/kept" "$alices"
check 'erased and not yet removed' \
    eval 'as vauban-test-alice env VAUBAN_HOME="$alices" "$bin/vauban" erase --yes-erase-everything --passcode-fd 3 3<"$TMPDIR/older.passcode" 2>/dev/null
        old stop 2>/dev/null; ends 0 adopt --delete-source && [ ! -e "$alices" ]'
cp -a "$TMPDIR/alice/kept" "$alices.deleted"
check 'a folder of that name whose keys are not known to be destroyed stays' \
    eval 'ends 0 adopt && said "is left in place" && [ -e "$alices.deleted/service" ] && [ -e "$alices.deleted/keychain" ]'
printf 'version 1\nerased\n' | as vauban-test-alice tee "$alices.deleted/erased" >/dev/null; chmod 600 "$alices.deleted/erased"
check 'removed in part' eval '! alice status 2>/dev/null | grep -q "Own keychain" && ends 0 adopt && said "No user-mode keychain to move" && [ ! -e "$alices.deleted" ]'
cp -a "$TMPDIR/alice/kept" "$alices"; rm -f "$alices/adopted"
cat >"$TMPDIR/steps" <<PLAY
expect Passcode (
secret the older passcode
expect Not moved: github/anna
PLAY
check 'with a newer value here it is compared again if the marker is missing' eval 'ends 1 typing'
printf 'of github' | alice set github/anna --replace 2>/dev/null
cat >"$TMPDIR/steps" <<PLAY
expect Passcode (
secret the older passcode
expect Type delete
send delete
expect Passcode of the old keychain, to delete it
secret a wrong one
expect That was not your passcode
expect cancels
secret the older passcode
expect The old keychain and its keys are deleted
PLAY
check 'the old keychain is deleted on the terminal, after the typed word and the passcode' eval 'ends 0 typing && [ ! -e "$alices" ]'

# Invalid sources.
broken() { rm -rf "$alices"; cp -a "$TMPDIR/alice/kept" "$alices"; rm -f "$alices/adopted"; }
broken; printf 'not a database' >"$alices/keychain/$(id -u vauban-test-alice)/keychain.db"
check 'a damaged database is refused, and does not count as empty' \
    eval 'ends 53 adopt --delete-source && said "of the old keychain, so nothing was moved" && [ -e "$alices/service" ]'
check 'and again' eval 'ends 53 adopt --delete-source && [ -e "$alices/service" ]'
broken; for file in $(find "$alices/enclave" -type f -name '*bag*'); do printf 'garbage' >"$file"; done
check 'a damaged key store is refused' eval 'ends 53 adopt --delete-source && [ -e "$alices/service" ]'
broken; chmod 755 "$alices"
check 'a folder that others can enter is refused' eval 'ends 53 adopt && said "others can enter it"'
broken; chmod 000 "$alices"
check 'an unreadable folder is reported, and refused' \
    eval 'alice status 2>/dev/null | grep -q "^Own keychain the user-mode keychain in .* is not part" && ends 53 adopt && said "open the folder"'
chmod 700 "$alices"; broken; mv "$alices" "$TMPDIR/alice/real"; as vauban-test-alice ln -s "$TMPDIR/alice/real" "$alices"
check 'a folder that is a link is refused' ends 53 adopt
rm -rf "$alices" "$TMPDIR/alice/real"; broken
check 'only one adopt runs at a time' \
    eval 'as vauban-test-alice flock "$alices/adopting.lock" true && exec 8<"$alices/adopting.lock" && flock -n 8 && ends 53 adopt && said "Another vauban adopt"; exec 8<&-'
printf 'version 1\nlauncher /nonexistent/vauban-launcher\n' >"$alices/service"
check 'if its programs are missing the installed ones open it' eval 'ends 0 adopt && said "0 moved" && said "is still in"'
check 'and delete it' eval 'ends 0 adopt --delete-source && [ ! -e "$alices" ]'

# A keychain without a passcode, into one without, on a disk that becomes full.
check 'if neither has a passcode there is no prompt' \
    eval 'refused 0 setsid --wait setpriv --reuid vauban-test-bob --regid vauban-test-bob --clear-groups env HOME="$TMPDIR/bob" "$bin/vauban" adopt && said "1 moved" &&
        equals "$(bob get github/bob 2>/dev/null)" "of bob"'
mv /etc/vauban/rooms /etc/vauban/later
for number in 1 2 3 4; do head -c 700000 /dev/urandom | bob set "big/$number" 2>/dev/null; done
of=(bob); big=$(values big/1 big/2 big/3 big/4)
bob stop 2>/dev/null
mv /etc/vauban/later /etc/vauban/rooms
free=$(df --output=avail -k "$state/keychain" | tail -1)
head -c $(((free - 1800) * 1024)) /dev/zero >"$state/keychain/ballast"
check 'a full disk ends it, and nothing is lost' eval 'refused 53 bob adopt --no-input && said "disk is full" && said "Nothing is lost"'
rm "$state/keychain/ballast"
check 'then it continues' eval 'refused 0 bob adopt --no-input && [ -e "$bobs/adopted" ]'
# The marker belongs to one keychain here: if that was erased or lost, or is on another machine, the old one is the only copy.
check 'an old keychain that was moved into one that no longer exists is the only copy, and stays' \
    eval 'refused 0 bob erase --yes-erase-everything && [ -e "$bobs/adopted" ] && refused 44 bob adopt --no-input --delete-source && said "5 items of it" && [ -e "$bobs/service" ]'
check 'and is reported again' \
    eval 'bob status 2>/dev/null | grep -q "^Own keychain the user-mode keychain in .* is not part" && refused 44 bob get github/bob && said "vauban adopt"'
check 'then it is moved again, and deleted' eval 'refused 0 bob adopt --no-input --delete-source && said "5 moved" && [ ! -e "$bobs" ]'
check 'with every byte' equals "$(values big/1 big/2 big/3 big/4)" "$big"
finish
