#!/usr/bin/env bash
# More users than databases can be open at once: keychaind, with few descriptors, serves each of them, closes idle ones, and continues.
set -u
. Tests/Scripts/lib/system-rooms.sh
files=512
users=120
cp "$bin/keychain-caller" /usr/local/games/bin/mail && chmod 755 /usr/local/games/bin/mail
printf '200000-200199 each\n' >/etc/vauban/uids && chmod 644 /etc/vauban/uids
start_keychain() {
    room keychain=/run/vauban/keychain vauban-test-keychain prlimit --nofile=$files:$files -- "$bin/keychaind" --state "$state/keychain" $enclave_arguments; keychain_pid=$!
}
start_rooms
first=$keychain_pid
user() { uid=$1; shift; setpriv --reuid "$uid" --regid "$uid" --clear-groups /usr/local/games/bin/mail "$@"; }
each() {
    for number in $(seq 0 $((users - 1))); do
        said=$(user $((200000 + number)) "$1" a "of $number")
        [ "$said" = "$(printf "$2" "$number")" ] || { echo "    user $number: $said"; return 1; }
    done
}
check "$users users keep an item each" each add 0
check 'each user reads their own item' each get '0 of %d'
open=$(ls "/proc/$keychain_pid/fd" | wc -l)
# Six for each database would be more.
check "of the descriptors that they would take, $open are open" [ "$open" -lt "$files" ] && [ $((users * 6)) -gt "$files" ]
check 'keychaind was not restarted' eval 'kill -0 "$first" && [ "$first" = "$keychain_pid" ] && ! grep -qi "illegal\|signal" "$TMPDIR/rooms.log"'
finish
