#!/usr/bin/env bash
# Attacks in user mode, where all programs of the user are one owner: what it prevents and what it does not. Each check is an attack of
# Manual/attacks.md.
set -u
[ "${VAUBAN_TEST_USERS:-0}" = 1 ] || { echo 'it needs root, to be several users'; exit 77; }
command -v setpriv >/dev/null && command -v gcc >/dev/null || { echo 'there is no setpriv or gcc here'; exit 77; }
unset VAUBAN_HOME XDG_RUNTIME_DIR XDG_DATA_HOME
bin=$TMPDIR/bin own=$TMPDIR/alice
mkdir "$bin" && cp "$VAUBAN_BUILD"/{rooms-testing,authd,vauban-witness,vauban-watcher,vauban-reader,vauban,hardening-probe,keychain-caller} "$bin/" || exit 77
for name in attacker impostor trespasser; do gcc -O1 -o "$bin/$name" "Tests/Scripts/lib/$name.c" || exit 1; done
chmod 755 "$TMPDIR" "$bin" "$bin"/*
for user in alice bob; do install -d -m 700 -o vauban-test-$user -g vauban-test-$user "$TMPDIR/$user"; done
# The folder of the keychain is named, so that an installed service is not used.
home=$own/keychain
by() { who=$1; shift; setpriv --reuid "vauban-test-$who" --regid "vauban-test-$who" --clear-groups env HOME="$TMPDIR/$who" VAUBAN_HOME="$home" "$@"; }
alice() { by alice "$bin/vauban" "$@"; }
. Tests/Scripts/lib/deadline.sh
. Tests/Scripts/lib/attack-report.sh
. Tests/Scripts/lib/room-name.sh
until_said() { timeout "$hang_seconds" tail -n +1 -F "$2" 2>/dev/null | grep -q -m 1 -e "$1" || { cat "$2"; echo "    it did not say: $1"; return 1; }; }
trap 'alice stop >/dev/null 2>&1' EXIT
service() { by alice sh -c 'printf "version 1\nlauncher %s\n" "$0" >"$1/service"' "$bin/rooms-testing" "$1"; }
by alice mkdir -m 700 "$home" && service "$home"
mine='caller'
equals "$(by alice DBUS_SYSTEM_BUS_ADDRESS=unix:path=/false "$bin/keychain-caller" add a "of $mine")" 0 || exit 1
launcher=$(sed -n 's/^launcher \([0-9]*\) .*/\1/p' "$home/lock")
# The launcher starts some of them a little later, and a room's filter of system calls is the last of its protections.
all_run() { rooms=$(cat /proc/"$launcher"/task/*/children); [ "$(wc -w <<<"$rooms")" -ge 5 ] || ! kill -0 "$launcher"; }
is_filtered() { [ ! -e "/proc/$1" ] || grep -qs '^Seccomp:[[:space:]]*2' "/proc/$1/status"; }
awaited 'the launcher has five children' all_run
for pid in $rooms; do awaited "process $pid has a filter of system calls" is_filtered "$pid"; done
room() { for child in $rooms; do [ "$(room_name "$child")" = "$1" ] && echo "$child"; done; }

secret='^(ptrace|memory file|process_vm_readv|pidfd_getfd|environ|maps|auxv|fd/2): '
nothing_read() {
    by alice "$bin/hardening-probe" attack "$1" >"$TMPDIR/probe" 2>&1; kill -0 "$1" &&
        [ "$(grep -cE "${secret}refused (1|13)\$" "$TMPDIR/probe")" = 8 ] || { cat "$TMPDIR/probe"; return 1; }
}
all_read() { "$bin/hardening-probe" attack "$1" >"$TMPDIR/probe" 2>&1; [ "$(grep -cE "${secret}done" "$TMPDIR/probe")" = 8 ] || { cat "$TMPDIR/probe"; return 1; }; }
check 'U01 the launcher and five rooms run' equals "$(echo $rooms | wc -w)" 5
for pid in $launcher $rooms; do
    check "U01 the memory of the rooms, by a program of the same user: refused ($(room_name "$pid"))" nothing_read "$pid"
    check "U01 control: root reads all of it ($(room_name "$pid"))" all_read "$pid"
done
check 'U02 the device secret and the database, by a program of the same user: succeeds' \
    eval '[ "$(by alice cat "$home/enclave/device-secret" | wc -c)" -ge 32 ] && by alice cat "$home/keychain/$(id -u vauban-test-alice)/keychain.db" >/dev/null'
check 'U02 by another user: refused' \
    equals "$(by bob "$bin/trespasser" look "$home"; by bob "$bin/trespasser" look "$home/enclave/device-secret")" "$(printf 'refused 13\nrefused 13')"
cp "$bin/keychain-caller" "$own/other" && printf other >>"$own/other"; chown vauban-test-alice "$own/other"
check 'U03 another program of the user reads every item: succeeds' equals "$(by alice "$own/other" get a)" "0 of $mine"
check 'U04 another user'"'"'s program, at the same sockets: refused' equals "$(by bob "$bin/keychain-caller" get a)" -25291
check 'U04 the sockets themselves: refused' equals "$(by bob "$bin/attacker" dial "$home/run/keychain" 0)" 'unreachable 13'
check 'U04 control: the user'"'"'s own program' equals "$(by alice "$bin/attacker" dial "$home/run/keychain" 0)" 'let in'
check 'U05 the enclave'"'"'s socket, as a room: let in, succeeds' equals "$(by alice "$bin/attacker" dial "$home/run/enclave" 1)" 'let in'
check 'U06 an environment with another bus, given to who starts the rooms: it does not reach them' \
    eval '(for pid in $rooms; do tr "\0" "\n" </proc/$pid/environ; done) >"$TMPDIR/environments"; grep -q "^LISTEN_FDS=1" "$TMPDIR/environments" &&
        ! grep -v "^LISTEN_" "$TMPDIR/environments"'
check 'U06 control: who started them was given it' eval 'tr "\0" "\n" <"/proc/$launcher/environ" >"$TMPDIR/environment"; says unix:path=/false "$TMPDIR/environment"'
old=$(room keychaind)
check 'U07 a room killed by another program of the user: succeeds, and another is started' \
    eval 'by alice bash -c "kill -KILL $old" && tail -s 0.02 --pid="$old" -f /dev/null && equals "$(by alice "$bin/keychain-caller" get a)" "0 of $mine"'

# Folders and planted files. tried HOME: what a client does with such a folder; it starts the launcher, which reports only to its starter why it
# does not run. launched HOME WHY: the launcher is started once more, as a client does it.
tried() { by alice VAUBAN_HOME="$1" timeout "$hang_seconds" "$bin/vauban" list >"$TMPDIR/tried" 2>&1; }
launched() { by alice "$bin/rooms-testing" --home "$1" --sockets "$1/run" --ready-descriptor 3 >"$TMPDIR/launched" 2>&1 3>/dev/null; says "$2" "$TMPDIR/launched"; }
# is_refused HOME WHY: refused for exactly this reason, and nothing was created in it.
is_refused() { ! tried "$1" && launched "$1" "$2" && [ ! -e "$1/enclave" ] || { cat "$TMPDIR/tried"; return 1; }; }
# plant NAME: a folder of alice that is set up.
plant() { planted=$own/$1; by alice mkdir -m 700 "$planted" && service "$planted"; }
stop_planted() { by alice VAUBAN_HOME="$planted" "$bin/vauban" stop >/dev/null 2>&1; }
plant fine
check 'an unaltered folder is used' eval 'tried "$planted" && [ -e "$planted/enclave" ]'; stop_planted
plant real; by alice ln -s "$planted" "$own/link"
check 'U08 a keychain folder that is a link: refused' is_refused "$own/link" "ould not open the folder $own/link: Not a directory"
plant open; chmod 770 "$planted"
check 'U09 one that others can enter: refused' is_refused "$planted" "$planted is not safe to use: others can enter it"
chmod 711 "$TMPDIR/bob"; by bob mkdir -m 755 "$TMPDIR/bob/his"; service_of_bob=$TMPDIR/bob/his
by bob sh -c 'printf "version 1\nlauncher %s\n" "$0" >"$1/service"' "$bin/rooms-testing" "$service_of_bob"
check 'U10 one of another user: refused' is_refused "$service_of_bob" "$service_of_bob is not safe to use: it belongs to user $(id -u vauban-test-bob)"
by alice sh -c 'echo precious >"$0/precious"' "$own"
for name in lock vauban.log; do
    plant "planted-$name"; by alice ln -s "$own/precious" "$planted/$name"
    check "U11 a planted link in the place of $name: not followed" \
        eval 'tried "$planted"; stop_planted; launched "$planted" "Too many levels of symbolic links" && equals "$(cat "$own/precious")" precious'
done
by alice mkdir -m 700 "$own/elsewhere"
for name in enclave keychain run; do
    plant "planted-$name"; by alice ln -s "$own/elsewhere" "$planted/$name"
    check "U11 a planted link in the place of $name: not followed" \
        eval 'tried "$planted"; stop_planted; says "ould not open the folder $planted/$name: Not a directory" "$planted/vauban.log" && equals "$(ls -A "$own/elsewhere")" ""'
done
plant planted-database; by alice mkdir -m 700 "$planted/keychain" "$planted/keychain/$(id -u vauban-test-alice)"
by alice ln -s "$own/precious" "$planted/keychain/$(id -u vauban-test-alice)/keychain.db"
check 'U11 a planted link in the place of the database: not followed' \
    eval 'tried "$planted"; by alice VAUBAN_HOME="$planted" "$bin/keychain-caller" add a x >"$TMPDIR/added"; stop_planted
        says "keychain.db is not a file of this user" "$TMPDIR/tried" && equals "$(cat "$own/precious")" precious'

# After the launcher has ended, any program of the same user can take its place.
alice stop >/dev/null 2>&1
by alice mkdir -p -m 700 "$home/run"
by alice "$bin/impostor" serve "$home/run/keychain" >"$TMPDIR/false" & false=$!
until_said serving "$TMPDIR/false"
check 'U12 a false keychain in the place of one that does not run: succeeds' \
    eval 'equals "$(by alice "$bin/keychain-caller" add b "its secret")" 0; wait "$false"; equals "$(tail -n 1 "$TMPDIR/false")" "got its secret"'
[ "$failures" = 0 ] || tail -5 "$home/vauban.log"
end_attacks
