#!/usr/bin/env bash
# Attacks on the connections of other programs and on the sockets: lent and stolen connections, reused process numbers, programs executed before
# and after connecting, false keychains, floods. Each check is an attack of Manual/attacks.md.
set -u
# Keys are derived as in the shipped program: floods are tested on what users have.
enclave_program=enclaved
. Tests/Scripts/lib/attacks.sh
# A program of root's that holds a connection, and one that merely runs.
cp "$TMPDIR/attacker" /usr/local/games/bin/holder; cp "$(command -v tail)" /usr/local/games/bin/runs
cp "$(command -v cat)" /usr/local/games/bin/copies; chmod 755 /usr/local/games/bin/*
install -o vauban-test-bob -m 755 "$TMPDIR/impostor" "$TMPDIR/bob/impostor"; install -o vauban-test-bob -m 755 "$TMPDIR/attacker" "$TMPDIR/bob/attacker"
# Root grants both what mail has, so that a program that is mistaken for one of them would get it.
grant "$bin_of_root"/{mail,known,holder,runs,copies}
begin_attacks
alice_uid=$(id -u vauban-test-alice)
check 'the programs that are impersonated would get the secret' equals "$(by alice /usr/local/games/bin/holder get a)" 'value of mail'

# Connections. A program that uses another one's connection is refused with the reason, and the connection ends.
foreign='refused 1: another process wrote on this connection; closed'
check 'A28 a connection that a child inherits: ended' equals "$(by alice /usr/local/games/bin/holder inherit a)" "$foreign"
check 'A29 a connection that was passed to another process: ended' equals "$(by alice /usr/local/games/bin/holder pass a)" "$foreign"
coproc HOLDER { exec setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups /usr/local/games/bin/holder hold; }
read -r -t "$hang_seconds" descriptor holder <&"${HOLDER[0]}"
if [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ]; then
    check 'A30 a connection taken out of another program (pidfd_getfd): ended' equals "$(attack take "$holder" "$descriptor" a)" "$foreign"
else
    check 'A30 a connection taken out of another program (pidfd_getfd): Yama lets nobody take it' equals "$(attack take "$holder" "$descriptor" a)" 'not taken 1'
    check 'A30 where root takes it: ended' equals "$("$TMPDIR/attacker" take "$holder" "$descriptor" a)" "$foreign"
fi
exec {HOLDER[1]}>&-
check 'A31 a program executed after asking: judged as before' equals "$(attack late a /usr/local/games/bin/runs -f /dev/null)" 'refused 13'
# because TEXT WANTED GOT: the outcome, and the reason in keychaind's log.
because() { equals "$3" "$2" && logged "$1"; }
check 'while keychaind sleeps a program waits, and is served as what it is' equals "$(held by alice /usr/local/games/bin/holder wait a)" 'value of mail'
mark_log
check 'A32 a program executed between connecting and the look: not greeted' because foreignSender closed "$(held attack early a /usr/local/games/bin/runs -f /dev/null)"
mark_log
check 'A33 the same, through a program that passes on what it reads: no descriptor, not greeted' \
    because 'the process descriptor is missing' closed "$(held attack relay a /usr/local/games/bin/copies)"
if by alice unshare -Ur --pid --fork true 2>/dev/null; then
    check 'A34 the same in a user namespace, where the sender can be forged: asked' \
        equals "$(held as vauban-test-alice unshare -Ur --pid --fork --mount-proc --kill-child sh -c '"$@"; exit' - "$own/attacker" forge a /usr/local/games/bin/runs -f /dev/null)" 'refused 23'
else
    not_tried A34 'no user namespaces here'
fi
if [ -w /proc/sys/kernel/ns_last_pid ]; then
    mark_log
    check 'A35 a number that was given again before the look: not greeted' \
        because 'the enclave cannot say who the caller is' 'closed before a word' "$(held "$TMPDIR/attacker" number "$alice_uid" a /usr/local/games/bin/runs -f /dev/null)"
    # With or without a reply: the end of the process may be noticed before the message.
    check 'A36 a connection that was taken, and the number of its owner as well: ended' \
        eval 'said=$(numbered "$TMPDIR/attacker" successor "$alice_uid" a /usr/local/games/bin/holder); [ "$said" = closed ] || equals "$said" "$foreign"'
    check 'A36 control: while its owner lives its connection answers' equals "$(by alice /usr/local/games/bin/holder wait a)" "$(printf 'ready\nvalue of mail')"
else
    not_tried 'A35 A36' 'the kernel lets nobody choose process numbers (ns_last_pid)'
fi
stands() { attack stand /usr/local/games/bin/runs -f /dev/null -- "$bin/vauban" get "$1" </dev/null 2>"$TMPDIR/stands"; }
check 'A37 behind the command line, in the place of a better-known program: asked, and nobody is there' \
    eval 'equals "$(stands callers/a)" "" && says "nothing can show the prompt" "$TMPDIR/stands"'

# Floods: bob is served meanwhile, and identified by his program.
equals "$(by bob /usr/local/games/bin/mail add b 'of bob')" 0 || exit 1
served() { equals "$(by bob timeout "$hang_seconds" /usr/local/games/bin/mail get b)" '0 of bob'; }
# Each is refused with the reason, and its connection ends; the same message in its correct form, sent in the same way, is served.
while read -r kind why; do
    check "A38 a message that is none ($kind): that connection ends" equals "$(attack garbage "$kind" a)" "refused 1: $why; closed"
done <<'KINDS'
header the message is too large
secret the message is too large
empty a message has no header
tag the message has a wrong type
length the message has no length that is right
version version 2 is not known; this Vauban speaks version 1
trailing the message has a field too many
value a value came with a request that has none
descriptor a descriptor came where none belongs
descriptors a message carries too many descriptors
text name is not UTF-8
KINDS
check 'A38 control: the message as it should be' equals "$(by alice /usr/local/games/bin/holder garbage sound a)" 'value of mail'
check 'A38 and another user meanwhile' served
# while_they WORD…: each of the users in \$flooders runs an attack; waits until all have begun, and checks whether bob is served.
while_they() {
    mkfifo -m 666 "$TMPDIR/keep"; flooding=()
    for user in $flooders; do
        rm -f "$TMPDIR/flood.$user"
        (exec setpriv --reuid "$user" --regid "$(id -g "$user" 2>/dev/null || echo "$user")" --clear-groups "$bin/attacker" "$@" <"$TMPDIR/keep" >"$TMPDIR/flood.$user" 2>&1) & flooding+=($!)
    done
    # They begin when it is opened, and end when it is closed.
    exec {keep}>"$TMPDIR/keep"
    told=0
    for user in $flooders; do until_said "^[fc][a-z]*ing" "$TMPDIR/flood.$user" || told=1; done
    served || told=1
    exec {keep}>&-
    rm "$TMPDIR/keep"
    wait "${flooding[@]}"
    return $told
}
install -m 755 "$TMPDIR/attacker" "$bin/attacker"
flooders=vauban-test-alice
# Only its share is greeted at once; its own idle connections are closed for its later ones.
check 'A39 a thousand connections: not all of them are served, and others meanwhile' \
    eval 'while_they overflow 1000 && grep -q "^flooding [0-9]" "$TMPDIR/flood.$flooders" && [ "$(cut -d " " -f 2 "$TMPDIR/flood.$flooders")" -lt 1000 ]'
check 'A40 requests whose answers are never read: others are served meanwhile' eval 'while_they choke a && grep -q "^choking [1-9]" "$TMPDIR/flood.$flooders"'
check 'and alice afterwards' equals "$(by alice timeout "$hang_seconds" /usr/local/games/bin/mail get a)" '0 of mail'
# Users that every system has, and uids without a user, as processes with subordinate uids can have.
people=$(getent passwd daemon bin sys games man lp mail news uucp proxy www-data backup list irc | cut -d : -f 1 | xargs)
flooders=$people
check 'A39 thousands by many users at once: others are served meanwhile' while_they flood 300
flooders=$(seq 200001 200100)
check 'A39 thousands by a hundred numbers that nobody has: others are served meanwhile' while_they flood 40
flooders=$people
check 'A40 the same by many users at once' \
    eval 'while_they choke a && equals "$(for user in $people; do cat "$TMPDIR/flood.$user"; done | grep -c "^choking [1-9]")" "$(echo $people | wc -w)"'
check 'and alice afterwards' equals "$(by alice timeout "$hang_seconds" /usr/local/games/bin/mail get a)" '0 of mail'

# False sockets.
for role in 0 1 2 3 4 5 6 7; do
    for user in vauban-test-alice vauban-test-bob nobody $people; do echo "$(as $user "$TMPDIR/attacker" dial /run/vauban/enclave $role)"; done >"$TMPDIR/dialed"
    check "A41 the enclave's socket, as a room or a reader, by each of many users: closed (role $role)" equals "$(sort -u "$TMPDIR/dialed")" 'closed before a word'
done
check 'A41 control: keychaind'"'"'s user is let in, in its own role' equals "$(as vauban-test-keychain "$TMPDIR/attacker" dial /run/vauban/enclave 1)" 'let in'
check 'A42 a socket in the place of a room'"'"'s: refused' equals "$(impostor serve /run/vauban/keychain)" 'not removed 13, not bound 98'
check 'A42 one beside it: refused' equals "$(impostor serve /run/vauban/other)" 'not removed 2, not bound 13'
check 'A42 and the room still serves' equals "$(by alice /usr/local/games/bin/mail get a)" '0 of mail'
# false_keychain USER: serves in a folder of that user, in the background, until a client has connected.
false_keychain() {
    home=$TMPDIR/$1/false; by "$1" mkdir -p "$home/run"; chmod 755 "$TMPDIR/$1" "$home" "$home/run"
    : >"$TMPDIR/false"
    behind "$1" "$TMPDIR/$1/impostor" serve "$home/run/keychain" >"$TMPDIR/false" & false=$!; until_said serving "$TMPDIR/false"
}
check 'A43 a false keychain of the same user, by VAUBAN_HOME: succeeds' \
    eval 'false_keychain alice && equals "$(by alice VAUBAN_HOME="$home" /usr/local/games/bin/mail add new "its secret")" 0; wait "$false"
        equals "$(tail -n 1 "$TMPDIR/false")" "got its secret"'
check 'A44 a false keychain of another user: nothing is said to it' \
    eval 'false_keychain bob && equals "$(by alice VAUBAN_HOME="$home" /usr/local/games/bin/mail add new "its secret")" -25291; wait "$false"
        equals "$(tail -n 1 "$TMPDIR/false")" "it went without a word"'
# The launcher that is named there leaves a mark when it is started.
by alice mkdir -p "$own/data/vauban" "$own/runtime/vauban" && chmod -R 700 "$own/data" "$own/runtime" &&
    printf '#!/bin/sh\necho started >%s/started\n' "$own" >"$own/launcher" && chmod 755 "$own/launcher"
by alice sh -c 'printf "version 1\nlauncher %s/launcher\n" "$0" >"$0/data/vauban/service"' "$own"
elsewhere() { as vauban-test-alice XDG_DATA_HOME="$own/data" XDG_RUNTIME_DIR="$own/runtime" /usr/local/games/bin/mail get a; }
check 'A45 folders of the user'"'"'s in the environment: not believed where the service is installed' eval 'equals "$(elsewhere)" "0 of mail" && [ ! -e "$own/started" ]'
mv /etc/vauban/rooms /etc/vauban/aside
check 'A45 control: where none is installed they are believed' eval 'equals "$(elsewhere)" -25291 && [ -e "$own/started" ]'
mv /etc/vauban/aside /etc/vauban/rooms
finish
