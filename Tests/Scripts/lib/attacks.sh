# For the attack tests: hostile programs and their targets. Source this first, instead of system-rooms.sh. Each check begins with the name
# of its attack in Manual/attacks.md; WallsTests compares the names. A check asserts one specific refusal, and beside it a control asserts
# that the same action succeeds for a caller who is allowed, so that no refusal is due to a mistake in the test.
command -v gcc >/dev/null && command -v python3 >/dev/null || { echo 'there is no gcc or python3 here'; exit 77; }
. Tests/Scripts/lib/system-rooms.sh
. Tests/Scripts/lib/attack-report.sh
own=$TMPDIR/alice
# mail is a program of root's that stores the secret `a`; the programs in alice's own folder are hostile.
cp "$bin/keychain-caller" /usr/local/games/bin/mail
for name in attacker impostor trespasser; do
    gcc -O1 -o "$TMPDIR/$name" "Tests/Scripts/lib/$name.c" 2>"$TMPDIR/gcc" || { cat "$TMPDIR/gcc"; echo "$name does not compile"; exit 1; }
    install -o vauban-test-alice -g vauban-test-alice -m 755 "$TMPDIR/$name" "$own/$name"
done
# The same hostile program, installed and granted access by root, to show that its messages are not what is refused.
cp "$TMPDIR/attacker" /usr/local/games/bin/known
chmod 755 /usr/local/games/bin/*
# grant NAME…: grants these applications what mail has, so any program taken for one of them gets it.
grant() {
    { echo '<plist version="1.0"><dict><key>vauban-applications</key><array>'
      for name in "$@"; do printf '<string>%s</string>\n' "$name"; done
      echo '</array><key>application-identifier</key><string>TEAM.mail</string></dict></plist>'; } >/etc/vauban/entitlements/attacks.plist
    chmod 644 /etc/vauban/entitlements/attacks.plist
}
bin_of_root=program:/usr/local/games/bin
by() { who=$1; shift; as "vauban-test-$who" "$@"; }
attack() { by alice "$own/attacker" "$@"; }
impostor() { by alice "$own/impostor" "$@"; }
# strangers ROOM: prints every user but the room's own: two people, nobody, and the users of the other rooms.
strangers() { for user in vauban-test-{alice,bob,enclave,keychain,auth,witness} nobody; do [ "$user" = "$1" ] || echo "$user"; done; }
# each_stranger OF WANT COMMAND…: asserts that the command gets the same answer as each of them.
each_stranger() {
    of=$1 want=$2; shift 2
    for user in $(strangers "$of"); do equals "$(as "$user" "$@")" "$want" || { echo "    as $user"; return 1; }; done
}
trespass() { by alice "$own/trespasser" "$@"; }
# The control: as root, who is allowed.
trespass_as_root() { "$TMPDIR/trespasser" "$@"; }
# behind WHO COMMAND… &: runs it in the background, so that $! is the program's own process number.
behind() { who=$1; shift; exec setpriv --reuid "vauban-test-$who" --regid "vauban-test-$who" --clear-groups env HOME="$TMPDIR/$who" "$@"; }
# Starts the rooms with a user who has a passcode, an item of mail's, and an unsigned item with the same name. A program with an identity of
# its own finds neither. For a program without one, the user would be prompted about the second, and about the first only if the owner is
# named.
begin_attacks() {
    start_rooms
    with_passcode alice passcode set 2>/dev/null && with_passcode bob passcode set 2>/dev/null || { echo 'no passcode could be set'; exit 1; }
    equals "$(by alice /usr/local/games/bin/mail add a 'of mail')" 0 && equals "$(by alice /usr/local/games/bin/mail get a)" '0 of mail' || exit 1
    equals "$(by alice "$(ls /lib64/ld-linux-*.so.2 /lib/ld-linux-*.so.1 2>/dev/null | head -n 1)" /usr/local/games/bin/mail add a 'of nobody')" 0 || exit 1
    [ ! -e /etc/vauban/entitlements/attacks.plist ] || equals "$(by alice /usr/local/games/bin/known get a)" 'value of mail' || exit 1
}
# mark_log: `logged` examines only what the rooms write from here on. logged TEXT: waits until a room has written the text.
mark_log() { marked=$(($(wc -l <"$TMPDIR/rooms.log") + 1)); }
logged() {
    timeout "$hang_seconds" tail -n "+$marked" -F "$TMPDIR/rooms.log" 2>/dev/null | grep -qF -m 1 -e "$1" ||
        { tail -n "+$marked" "$TMPDIR/rooms.log"; echo "    no room's log says: $1"; return 1; }
}
# until_said TEXT FILE: waits until a program has written this text to the file.
until_said() { timeout "$hang_seconds" tail -n +1 -F "$2" 2>/dev/null | grep -q -m 1 -e "$1" || { cat "$2"; echo "    it did not say: $1"; return 1; }; }
# held WORD...: runs an attack that begins while keychaind is stopped, so that it is not inspected before it prints `ready`; prints the
# outcome.
held() {
    numbered hold "$@" >/dev/null
    sed -n '/^ready$/{n;p}' "$TMPDIR/held"
}
hold() {
    kill -STOP "$keychain_pid"
    # What an earlier attack printed must not count: the background shell empties the file only when it runs.
    : >"$TMPDIR/held"
    "$@" >"$TMPDIR/held" 2>&1 </dev/null & held_pid=$!
    eventually is_ready "$held_pid"
    kill -CONT "$keychain_pid"
    wait "$held_pid" 2>/dev/null
}
is_ready() { grep -q '^ready$' "$TMPDIR/held" || ! kill -0 "$1" 2>/dev/null; }
# numbered COMMAND...: runs an attack that may need the process number of an earlier process; again if another program got it first (77).
numbered() {
    local attempt
    for attempt in 1 2 3 4 5; do
        said=$("$@")
        [ $? = 77 ] || break
    done
    echo "$said"
}
# probe USER PROCESS: writes to $TMPDIR/probe what a program of this user can read of the process by a debugger's means.
probe() { as "$1" "$bin/hardening-probe" attack "$2" >"$TMPDIR/probe" 2>&1; }
secret='^(ptrace|memory file|process_vm_readv|pidfd_getfd|environ|maps|auxv|fd/2): '
# Asserts that everything is refused for lack of rights (EPERM, EACCES), by a process that is still running: a process that has ended
# refuses everything.
nothing_read() { probe "$@"; runs "$2" && [ "$(grep -cE "${secret}refused (1|13)\$" "$TMPDIR/probe")" = 8 ] || { cat "$TMPDIR/probe"; return 1; }; }
# The same for what tracing tools place in a process by perf_event_open: samples and a breakpoint. placed_by_root PROCESS prints how many of
# them root can place, and placeable how many in a plain process: where the kernel or a container refuses root too, a refusal shows nothing.
placed='^perf (samples|breakpoint): '
nothing_placed() {
    probe "$@"; runs "$2" && ! grep -qE "${placed}done" "$TMPDIR/probe" && [ "$(grep -cE "${placed}refused (1|13)\$" "$TMPDIR/probe")" -ge "$(placeable)" ] ||
        { cat "$TMPDIR/probe"; return 1; }
}
placed_by_root() { "$bin/hardening-probe" attack "$1" 2>/dev/null | grep -cE "${placed}done"; }
placeable() { sleep infinity >/dev/null & placed_by_root $!; kill $!; }
runs() { [ "$(sed -n 's/^State:[[:space:]]*\([A-Z]\).*/\1/p' "/proc/$1/status" 2>/dev/null)" != Z ] && kill -0 "$1"; }
# The control: root, who is allowed, reads all of it.
all_read() { "$bin/hardening-probe" attack "$1" >"$TMPDIR/probe" 2>&1; [ "$(grep -cE "${secret}done" "$TMPDIR/probe")" = 8 ] || { cat "$TMPDIR/probe"; return 1; }; }
