#!/usr/bin/env bash
# What programs do to the connections of others and to the doors, tried: lent and stolen connections, process numbers that were
# another's, programs executed before and after connecting, false keychains, floods. Each check is an attack of Manual/attacks.md.
set -u
. Tests/Scripts/lib/attacks.sh
# A program of root's that holds a connection, and one that merely runs.
cp "$TMPDIR/attacker" /usr/local/games/bin/holder; cp "$(command -v tail)" /usr/local/games/bin/runs; cp "$(command -v cat)" /usr/local/games/bin/copies; chmod 755 /usr/local/games/bin/*
install -o vauban-test-bob -m 755 "$TMPDIR/impostor" "$TMPDIR/bob/impostor"; install -o vauban-test-bob -m 755 "$TMPDIR/attacker" "$TMPDIR/bob/attacker"
# root grants both what mail has, so that whoever is taken for one of them would get it.
cat >/etc/vauban/entitlements/attacks.plist <<'PLIST'
<plist version="1.0"><dict>
<key>vauban-applications</key><array><string>program:/usr/local/games/bin/mail</string><string>program:/usr/local/games/bin/holder</string><string>program:/usr/local/games/bin/runs</string><string>program:/usr/local/games/bin/copies</string></array>
<key>application-identifier</key><string>TEAM.mail</string>
</dict></plist>
PLIST
chmod 644 /etc/vauban/entitlements/attacks.plist
begin_attacks
alice_uid=$(id -u vauban-test-alice)
check 'those whose names are taken would get the secret' equals "$(by alice /usr/local/games/bin/holder get a)" 'value of mail'

# Connections.
check 'A28 a connection that a child inherits: ended' equals "$(by alice /usr/local/games/bin/holder inherit a)" 'refused 1'
check 'A29 a connection that was passed to another process: ended' equals "$(by alice /usr/local/games/bin/holder pass a)" 'refused 1'
coproc HOLDER { exec setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups /usr/local/games/bin/holder hold; }
read -r -t 20 descriptor holder <&"${HOLDER[0]}"
check 'A30 a connection taken out of another program (pidfd_getfd): ended' eval 'said=$(attack take "$holder" "$descriptor" a); [ "$said" = "not taken 1" ] || equals "$said" "refused 1"'
exec {HOLDER[1]}>&-
check 'A31 a program executed after asking: judged as before' equals "$(attack late a /usr/local/games/bin/runs -f /dev/null)" 'refused 13'
check 'A32 a program executed between connecting and the look: not greeted' equals "$(held attack early a /usr/local/games/bin/runs -f /dev/null)" closed
check 'A33 the same, through a program that passes on what it reads: no descriptor, not greeted' equals "$(held attack relay a /usr/local/games/bin/copies)" closed
if by alice unshare -Ur --pid --fork true 2>/dev/null; then
    check 'A34 the same in a user namespace, where the sender can be forged: asked' equals "$(held as vauban-test-alice unshare -Ur --pid --fork --mount-proc --kill-child sh -c '"$@"; exit' - "$own/attacker" forge a /usr/local/games/bin/runs -f /dev/null)" 'refused 23'
else
    echo 'A34 is not tried: no user namespaces here'
fi
if [ -w /proc/sys/kernel/ns_last_pid ]; then
    check 'A35 a number that was given again before the look: not greeted' equals "$(held "$TMPDIR/attacker" number "$alice_uid" a /usr/local/games/bin/runs -f /dev/null)" 'closed before a word'
    # With a word or without one: the end of the process may be seen before the message.
    check 'A36 a connection that was taken, and the number of its owner as well: ended' eval 'said=$("$TMPDIR/attacker" successor "$alice_uid" a /usr/local/games/bin/holder); [ "$said" = closed ] || equals "$said" "refused 1"'
else
    echo 'A35 and A36 are not tried: the kernel lets nobody choose process numbers'
fi
stands() { attack stand /usr/local/games/bin/runs -f /dev/null -- "$bin/vauban" get "$1" </dev/null 2>"$TMPDIR/stands"; }
check 'A37 behind the command line, in the place of a better-known program: asked, and nobody is there' eval 'equals "$(stands callers/a)" "" && grep -q "nowhere to ask" "$TMPDIR/stands"'

# Floods: bob is served meanwhile, and known by his program's name.
equals "$(by bob /usr/local/games/bin/mail add b 'of bob')" 0 || exit 1
served() { equals "$(by bob timeout 20 /usr/local/games/bin/mail get b)" '0 of bob'; }
check 'A38 messages that are none: that connection ends' eval 'equals "$(attack garbage)" "refused 1" && served'
# while_it WORD… : runs an attack, waits until it has begun, and sees whether bob is served.
while_it() {
    mkfifo "$TMPDIR/keep"
    behind alice "$own/attacker" "$@" <"$TMPDIR/keep" >"$TMPDIR/flood" 2>&1 & flooding=$!
    exec {keep}>"$TMPDIR/keep"
    until_said "^[fc][a-z]*ing" "$TMPDIR/flood" && served
    told=$?
    exec {keep}>&-
    rm "$TMPDIR/keep"
    wait "$flooding"
    return $told
}
check 'A39 a thousand connections: 256 of them are served, and others meanwhile' eval 'while_it flood 1000 && equals "$(cat "$TMPDIR/flood")" "flooding 256"'
check 'A40 requests whose answers are never read: others are served meanwhile' eval 'while_it choke a'
check 'and alice afterwards' equals "$(by alice timeout 20 /usr/local/games/bin/mail get a)" '0 of mail'

# False doors.
check 'A41 the enclave'"'"'s door, as a room or a reader: closed' eval '(for role in 0 1 2 3 4 5 6 7; do equals "$(attack dial /run/vauban/enclave $role)" "closed before a word" || exit 1; done)'
check 'A42 a socket in the place of a room'"'"'s: refused' eval 'impostor serve /run/vauban/keychain | grep -q "^not bound" && equals "$(impostor serve /run/vauban/other)" "not bound 13" && equals "$(by alice /usr/local/games/bin/mail get a)" "0 of mail"'
# false_keychain PERSON: serves in a folder of that person's, in the background, until one has come.
false_keychain() { home=$TMPDIR/$1/false; by "$1" mkdir -p "$home/run"; chmod 755 "$TMPDIR/$1" "$home" "$home/run"; behind "$1" "$TMPDIR/$1/impostor" serve "$home/run/keychain" >"$TMPDIR/false" & false=$!; until_said serving "$TMPDIR/false"; }
check 'A43 a false keychain of the same person, by VAUBAN_HOME: succeeds' eval 'false_keychain alice && equals "$(by alice VAUBAN_HOME="$home" /usr/local/games/bin/mail add new "its secret")" 0; wait "$false"; equals "$(tail -n 1 "$TMPDIR/false")" "got its secret"'
check 'A44 a false keychain of another person: nothing is said to it' eval 'false_keychain bob && [ "$(by alice VAUBAN_HOME="$home" /usr/local/games/bin/mail add new "its secret")" != 0 ]; wait "$false"; equals "$(tail -n 1 "$TMPDIR/false")" "it went without a word"'
mkdir -p "$own/data/vauban" && printf 'version 1\nlauncher %s\n' "$own/attacker" >"$own/data/vauban/service" && chown -R vauban-test-alice "$own/data"
check 'A45 folders of the person'"'"'s in the environment: not believed where the service is installed' equals "$(by alice XDG_DATA_HOME="$own/data" XDG_RUNTIME_DIR="$own/data" /usr/local/games/bin/mail get a)" '0 of mail'
finish
