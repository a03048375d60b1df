#!/usr/bin/env bash
# What programs do to the connections of others and to the doors, tried: lent and stolen connections, process numbers that were
# another's, programs executed before and after connecting, false keychains, floods. Each check is an attack of Manual/attacks.md.
set -u
. Tests/Scripts/lib/attacks.sh
# A program of root's that holds a connection, and one that merely runs.
cp "$TMPDIR/attacker" /srv/bin/holder; cp "$(command -v tail)" /srv/bin/runs; cp "$(command -v cat)" /srv/bin/copies; chmod 755 /srv/bin/*
install -o vauban-test-bob -m 755 "$TMPDIR/impostor" "$TMPDIR/bob/impostor"; install -o vauban-test-bob -m 755 "$TMPDIR/attacker" "$TMPDIR/bob/attacker"
# root grants both what mail has, so that whoever is taken for one of them would get it.
cat >/etc/vauban/entitlements/attacks.plist <<'PLIST'
<plist version="1.0"><dict>
<key>vauban-applications</key><array><string>program:/srv/bin/mail</string><string>program:/srv/bin/holder</string><string>program:/srv/bin/runs</string><string>program:/srv/bin/copies</string></array>
<key>application-identifier</key><string>TEAM.mail</string>
</dict></plist>
PLIST
chmod 644 /etc/vauban/entitlements/attacks.plist
begin_attacks
alice_uid=$(id -u vauban-test-alice)
check 'those whose names are taken would get the secret' equals "$(by alice /srv/bin/holder get a)" 'value of mail'

# Connections.
check 'A28 a connection that a child inherits: ended' equals "$(by alice /srv/bin/holder inherit a)" 'refused 1'
check 'A29 a connection that was passed to another process: ended' equals "$(by alice /srv/bin/holder pass a)" 'refused 1'
coproc HOLDER { exec setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups /srv/bin/holder hold; }
read -r -t 20 descriptor holder <&"${HOLDER[0]}"
check 'A30 a connection taken out of another program (pidfd_getfd): ended' eval 'said=$(attack take "$holder" "$descriptor" a); [ "$said" = "not taken 1" ] || equals "$said" "refused 1"'
exec {HOLDER[1]}>&-
check 'A31 a program executed after asking: judged as before' equals "$(attack late a /srv/bin/runs -f /dev/null)" 'refused 13'
check 'A32 a program executed between connecting and the look: not greeted' equals "$(held attack early a /srv/bin/runs -f /dev/null)" closed
check 'A33 the same, through a program that passes on what it reads: no descriptor, not greeted' equals "$(held attack relay a /srv/bin/copies)" closed
check 'A34 the same in a user namespace, where the sender can be forged: asked' equals "$(held as vauban-test-alice unshare -Ur --pid --fork --mount-proc --kill-child sh -c '"$@"; exit' - "$own/attacker" forge a /srv/bin/runs -f /dev/null)" 'refused 23'
check 'A35 a number that was given again before the look: not greeted' equals "$(held "$TMPDIR/attacker" number "$alice_uid" a /srv/bin/runs -f /dev/null)" 'closed before a word'
check 'A36 a connection that was taken, and the number of its owner as well: ended' equals "$("$TMPDIR/attacker" successor "$alice_uid" a /srv/bin/holder)" 'refused 1'
finish
