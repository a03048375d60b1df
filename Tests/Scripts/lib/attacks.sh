# For the attack tests: hostile programs, and what they are tried on. To be sourced instead of system-rooms.sh, as the first thing.
# Each check begins with the name of its attack in Manual/attacks.md; WallsTests compares the names.
command -v gcc >/dev/null && command -v python3 >/dev/null || { echo 'there is no gcc or python3 here'; exit 77; }
. Tests/Scripts/lib/system-rooms.sh
own=$TMPDIR/alice
# mail is a program of root's that keeps the secret `a`; what alice has in her own folder is hostile.
cp "$bin/keychain-caller" /usr/local/games/bin/mail
for name in attacker impostor; do
    gcc -O1 -o "$TMPDIR/$name" "Tests/Scripts/lib/$name.c" 2>"$TMPDIR/gcc" || { cat "$TMPDIR/gcc"; echo "$name does not compile"; exit 1; }
    install -o vauban-test-alice -g vauban-test-alice -m 755 "$TMPDIR/$name" "$own/$name"
done
chmod 755 /usr/local/games/bin/*
by() { who=$1; shift; as "vauban-test-$who" "$@"; }
attack() { by alice "$own/attacker" "$@"; }
impostor() { by alice "$own/impostor" "$@"; }
# behind WHO COMMAND… &: in the background, so that $! is the program's own number.
behind() { who=$1; shift; exec setpriv --reuid "vauban-test-$who" --regid "vauban-test-$who" --clear-groups env HOME="$TMPDIR/$who" "$@"; }
# A person who has a passcode; what mail keeps.
begin_attacks() {
    start_rooms
    with_passcode alice passcode set 2>/dev/null && with_passcode bob passcode set 2>/dev/null || { echo 'no passcode could be set'; exit 1; }
    equals "$(by alice /usr/local/games/bin/mail add a 'of mail')" 0 && equals "$(by alice /usr/local/games/bin/mail get a)" '0 of mail' || exit 1
}
# until_said TEXT FILE: waits until a program has written it there.
until_said() { timeout 30 tail -n +1 -F "$2" 2>/dev/null | grep -q -m 1 -e "$1" || { cat "$2"; echo "    it did not say: $1"; return 1; }; }
# held WORD...: an attack that begins while keychaind sleeps, so that nobody looks before it says `ready`; prints what came of it.
held() {
    kill -STOP "$keychain_pid"
    "$@" >"$TMPDIR/held" 2>&1 </dev/null & held_pid=$!
    until_said ready "$TMPDIR/held" >&2
    kill -CONT "$keychain_pid"
    wait "$held_pid" 2>/dev/null
    sed -n '/^ready$/{n;p}' "$TMPDIR/held"
}
