#!/usr/bin/env bash
# The owner of a uid, with real rooms: four thousand hostile connections from a hundred uids beside another user's work, uids without a user, and
# uids that are used again. The users and their subordinate uids exist only in the mount namespace of this script.
# limit: 1200
set -u
. Tests/Scripts/lib/attacks.sh
# Thirty users with only hostile programs, one of whom has subordinate uids.
cp /etc/passwd "$TMPDIR/passwd"
for number in $(seq 3001 3030); do echo "vauban-test-hostile-$number:x:$number:$number::/nonexistent:/usr/sbin/nologin"; done >>"$TMPDIR/passwd"
echo 'vauban-test-hostile-3001:1000000:65536' >"$TMPDIR/subuid"
chmod 644 "$TMPDIR/passwd" "$TMPDIR/subuid"
[ -e /etc/subuid ] || { echo 'there is no /etc/subuid here'; exit 77; }
mount --bind "$TMPDIR/passwd" /etc/passwd && mount --bind "$TMPDIR/subuid" /etc/subuid || { echo 'it cannot mount here'; exit 77; }
gcc -O1 -o "$TMPDIR/flooder" Tests/Scripts/lib/flooder.c -Wno-unused-function 2>"$TMPDIR/gcc" || { cat "$TMPDIR/gcc"; exit 1; }
begin_attacks
bob_uid=$(id -u vauban-test-bob)
equals "$(by bob /usr/local/games/bin/mail add b 'of bob')" 0 || exit 1
check 'bob stores an item that requires approval' eval 'printf "asks first" | bob set bank/me --require presence 2>/dev/null'

# A flood of connections, at each of the two sockets that every user may reach.
subordinate=$(seq 1000000 1000069); unrelated=$(seq 3001 3030)
# get_b: bob reads, each time with a new process and over a new connection; the duration is printed and not checked.
get_b() {
    longest=0
    for _ in $(seq 20); do
        before=$(date +%s%N)
        equals "$(by bob timeout "$hang_seconds" /usr/local/games/bin/mail get b)" '0 of bob' || return 1
        took=$((($(date +%s%N) - before) / 1000000))
        [ "$took" -le "$longest" ] || longest=$took
    done
    echo "    bob's gets took at most $longest ms each, with the start of the program"
}
get_b && echo '    (the line above: before any flood)'
# break_handshakes USER COUNT: that user opens so many connections and ends each in the middle of the handshake.
break_handshakes() {
    as "vauban-test-$1" python3 -c 'import socket, sys
for _ in range(int(sys.argv[1])):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect("/run/vauban/keychain")
        connection.recv(4096)' "$2"
}
check 'A111 thirty bad connections of one owner: ten lines, and the next about another says how many were left out' eval '
    break_handshakes bob 30 && until_said "user=$(id -u vauban-test-bob) .*connection is refused" "$TMPDIR/rooms.log" && break_handshakes alice 10 && until_said "lines left out" "$TMPDIR/rooms.log" &&
    equals "$(grep -c "user=$(id -u vauban-test-bob) .*connection is refused" "$TMPDIR/rooms.log")" 10'
flood_begins() { # flood_begins SOCKET: returns when each of four thousand connections was tried once
    rm -f "$TMPDIR/keep"; mkfifo "$TMPDIR/keep"
    # What an earlier flood printed must not count: the background shell empties the file only when it runs.
    : >"$TMPDIR/flood"
    # shellcheck disable=SC2086
    "$TMPDIR/flooder" "$1" 40 $subordinate $unrelated <"$TMPDIR/keep" >"$TMPDIR/flood" 2>&1 & flooding=$!
    exec {keep}>"$TMPDIR/keep"
    timeout "$hang_seconds" tail -n +1 -F "$TMPDIR/flood" 2>/dev/null | grep -q -m 1 '^flooding' || { cat "$TMPDIR/flood"; return 1; }
}
flood_ends() { exec {keep}>&-; wait "$flooding"; }
stood() { awk -v first="$1" -v last="$2" '$1 >= first && $1 <= last { all += $2 } END { print all + 0 }' "$TMPDIR/flood"; }

flood_begins /run/vauban/keychain
check 'A110 four thousand connections from a hundred uids, most of them one owner'"'"'s: each owner has a share, and others are served meanwhile' eval '
    echo "    $(stood 1000000 1000069) of 2800 were taken for the subordinate uids, $(stood 3001 3030) of 1200 for unrelated users"
    equals "$(awk "\$1 >= 3002 && \$1 <= 3030 && \$2 < 1" "$TMPDIR/flood")" "" && [ "$(ls "/proc/$keychain_pid/task" | wc -l)" -lt 1200 ] && get_b'
flood_ends

# While the user is prompted, bob has a request in flight: begun before the flood, answered within it.
install -d -m 777 "$TMPDIR/signs" && mkfifo -m 666 "$TMPDIR/signs/asked" "$TMPDIR/signs/flooded"
printf '#!/bin/sh\necho asked >"%s"; cat "%s"\n' "$TMPDIR/signs/asked" "$TMPDIR/signs/flooded" >"$TMPDIR/asked"; chmod 755 "$TMPDIR/asked"
printf 'expect asscode\nrun %s\nsecret bob passcode\nexpect asks first\n' "$TMPDIR/asked" >"$TMPDIR/play"
as vauban-test-bob "$bin/pty-play" --seconds $((2 * hang_seconds)) -- "$bin/vauban" get bank/me \
    <"$TMPDIR/play" >"$TMPDIR/played" 2>&1 & playing=$!
read -r -t "$hang_seconds" _ <>"$TMPDIR/signs/asked" || { cat "$TMPDIR/played"; echo 'bob was not prompted'; exit 1; }
flood_begins /run/vauban/keychain
: >"$TMPDIR/signs/flooded"
check 'a request of bob'"'"'s that waits for him is not closed by the flood' eval 'wait $playing || { cat "$TMPDIR/played"; false; }'
flood_ends
flood_begins /run/vauban/authentication
check 'the same at the socket for prompts: bob reads and is prompted' \
    eval 'get_b && printf "expect asscode\nsecret bob passcode\nexpect asks first\n" |
        as vauban-test-bob "$bin/pty-play" --seconds "$hang_seconds" -- "$bin/vauban" get bank/me >"$TMPDIR/played" 2>&1 || { cat "$TMPDIR/played"; false; }'
flood_ends
lines=$(grep -c 'a connection is refused' "$TMPDIR/rooms.log")
check 'A111 a flood of bad connections: the log stays small' eval '[ "$lines" -lt 600 ] || { echo "    $lines lines"; false; }'
check 'alice is served afterwards' equals "$(by alice timeout "$hang_seconds" /usr/local/games/bin/mail get a)" '0 of mail'

# Uids without a user.
as_number() { number=$1; shift; setpriv --reuid "$number" --regid "$number" --clear-groups env HOME=/nonexistent "$@"; }
refused_as() { as_number "$1" "$bin/vauban" list >"$TMPDIR/out" 2>&1; [ $? != 0 ] && grep -q /etc/vauban/uids "$TMPDIR/out" || { cat "$TMPDIR/out"; false; }; }
check 'A112 a number that nobody has, and one of systemd'"'"'s dynamic users: refused, with what root can do' eval 'refused_as 54321 && refused_as 61200'
check 'a subordinate uid has a keychain of its own' as_number 1000001 "$bin/vauban" list
printf '54321\n61184-65519 each\n' >/etc/vauban/uids; chmod 644 /etc/vauban/uids
check 'and where root allows them they are served' eval 'as_number 54321 "$bin/vauban" list && as_number 61200 "$bin/vauban" list'
chmod 666 /etc/vauban/uids
check 'but not where others could have allowed them' refused_as 54321
rm /etc/vauban/uids

# Uids that are used again.
renamed() { sed -i.was "s/^$1:/$2:/" "$TMPDIR/passwd.now" && cat "$TMPDIR/passwd.now" >/etc/passwd; }
cp "$TMPDIR/passwd" "$TMPDIR/passwd.now"
names_both() {
    as_number "$bob_uid" "$bin/vauban" get mail/me >"$TMPDIR/out" 2>&1
    [ $? != 0 ] && grep -q 'vauban-test-bob.*vauban-test-eve.*vauban-state keep' "$TMPDIR/out" || { cat "$TMPDIR/out"; false; }
}
renamed vauban-test-bob vauban-test-eve
check 'A113 the next holder of a number: the keychain is refused, with what root can do' \
    eval 'names_both && ! equals "$(as_number "$bob_uid" /usr/local/games/bin/mail get b)" "0 of bob" >/dev/null'
check 'root sees whose keychain it is' \
    eval 'Install/vauban/vauban-state --state "$state" list >"$TMPDIR/out"
        grep -q "^$bob_uid *vauban-test-bob *vauban-test-eve *(refused)" "$TMPDIR/out" || { cat "$TMPDIR/out"; false; }'
# The enclave refuses too, and locks what it had loaded.
as_number "$bob_uid" "$bin/vauban" status >/dev/null 2>&1 || true
check 'root sees that she is bob, renamed, and she can still read' \
    eval 'Install/vauban/vauban-state --state "$state" keep "$bob_uid" >/dev/null &&
        as_number "$bob_uid" "$bin/vauban" unlock --passcode-fd 3 3<"$TMPDIR/bob.passcode" 2>"$TMPDIR/out"
        equals "$(as_number "$bob_uid" /usr/local/games/bin/mail get b)" "0 of bob"'
renamed vauban-test-eve vauban-test-carol
check 'another after her is refused too' eval '! as_number "$bob_uid" "$bin/vauban" get mail/me 2>/dev/null'
# As vauban-state does it for the installed service: the rooms end while folders move.
kill "$keychain_pid" "$enclave_pid" "$auth_pid" "$witness_pid"; wait "$keychain_pid" "$enclave_pid" "$auth_pid" "$witness_pid" 2>/dev/null
check 'root sets it aside by the name of its former user' \
    eval 'Install/vauban/vauban-state --state "$state" set-aside vauban-test-eve >"$TMPDIR/out" &&
        [ -d "$state/set-aside/$bob_uid-vauban-test-eve/enclave" ] && [ ! -e "$state/keychain/$bob_uid" ] || { cat "$TMPDIR/out"; false; }'
start_rooms
check 'she begins with an empty keychain' eval 'as_number "$bob_uid" "$bin/vauban" list >"$TMPDIR/out" && [ ! -s "$TMPDIR/out" ] || { cat "$TMPDIR/out"; false; }'
finish
