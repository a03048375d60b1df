#!/usr/bin/env bash
# Other programs try to read a running room: one of the same user and one of another user, with what a debugger does, and a crash that
# should leave a core. The rooms are the shipped programs in user mode, run as a system user of their own; a plain process of the same
# user in the same place can be read and does leave a core, so that a refusal proves something.
set -u
[ "${VAUBAN_TEST_USERS:-0}" = 1 ] || { echo 'it needs root, to be several users'; exit 77; }
command -v setpriv >/dev/null || { echo 'there is no setpriv here'; exit 77; }
# The build may lie in a folder that only root can enter.
bin=$TMPDIR/bin
mkdir "$bin" && cp "$VAUBAN_BUILD"/{vauban-launcher,enclaved,keychaind,authd,vauban-witness,vauban-watcher,vauban-reader,vauban,hardening-probe,rooms-testing} "$bin/" || exit 1
chmod 755 "$TMPDIR" "$bin"
home=$TMPDIR/home crash=$TMPDIR/crash
install -d -m 700 -o vauban-test-alice -g vauban-test-alice "$home" "$crash"
as() { user=$1; shift; setpriv --reuid "$user" --regid "$user" --clear-groups "$@"; }
alice() { as vauban-test-alice env HOME=/nonexistent VAUBAN_HOME="$home" "$@"; }
failures=0
check() { what=$1; shift; if "$@"; then echo "ok: $what"; else echo "FAILED: $what"; failures=$((failures + 1)); fi; }
started=
trap 'alice "$bin/vauban" stop >/dev/null 2>&1; for pid in $started; do kill -KILL "$pid" 2>/dev/null; done' EXIT

alice "$bin/vauban" status >"$TMPDIR/status" 2>&1 || { cat "$TMPDIR/status"; echo 'the rooms did not start'; exit 1; }
launcher=$(sed -n 's/^launcher \([0-9]*\) .*/\1/p' "$home/lock")
check 'the shipped rooms run' test -n "$launcher"

# attempts USER PID: what can be done, one word a line.
attempts() { as "$1" "$bin/hardening-probe" attack "$2" >"$TMPDIR/attack" 2>&1; cat "$TMPDIR/attack"; }
# The files of /proc that say nothing secret may be open; these must not.
secret='^(ptrace|memory file|process_vm_readv|pidfd_getfd|environ|maps|auxv|fd/2): '
# For want of the right (EPERM, EACCES): a process that has gone refuses everything, too.
all_refused() { attempts "$@" >/dev/null; kill -0 "$2" && [ "$(grep -cE "${secret}refused (1|13)\$" "$TMPDIR/attack")" = 8 ] || { cat "$TMPDIR/attack"; return 1; }; }
all_done() { attempts "$@" >/dev/null; [ "$(grep -cE "${secret}done" "$TMPDIR/attack")" = 8 ] || { cat "$TMPDIR/attack"; return 1; }; }

(exec setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups tail -f /dev/null) & control=$!; started="$started $control"
# setpriv becomes the command a moment after it was started.
until [ "$(cat /proc/$control/comm 2>/dev/null)" = tail ]; do :; done
check 'a plain process of the same user can be read' all_done vauban-test-alice "$control"
check 'and another user cannot' all_refused vauban-test-bob "$control"
# The launcher starts some of them a little later, and a room's filter of system calls is the last of its protections.
rooms=
while [ "$(wc -w <<<"$rooms")" -lt 6 ] && kill -0 "$launcher"; do rooms=$(cat /proc/"$launcher"/task/*/children); done
for pid in $rooms; do while [ -e "/proc/$pid" ] && ! grep -qs '^Seccomp:[[:space:]]*2' "/proc/$pid/status"; do :; done; done
[ "$(echo $rooms | wc -w)" = 6 ] || { echo "the launcher has the children: $rooms"; exit 1; }
for pid in $launcher $rooms; do
    name=$(cat /proc/"$pid"/comm)
    check "$name cannot be read by its own user" all_refused vauban-test-alice "$pid"
    check "$name cannot be read by another user" all_refused vauban-test-bob "$pid"
done
for pid in $rooms; do
    name=$(cat /proc/"$pid"/comm)
    check "$name has a filter of system calls and no new privileges" eval 'grep -q "^Seccomp:[[:space:]]*2" /proc/$pid/status && grep -q "^NoNewPrivs:[[:space:]]*1" /proc/$pid/status'
done

# A crash: the limit is lifted and the working folder is the user's own. The core would lie there or go to a program, and the shell's
# status says which: bit 7 of the wait status is the kernel's word that a core was written.
crashes() { perl -e 'my $pid = fork // die; if (!$pid) { chdir shift @ARGV; exec @ARGV or exit 99 } select(undef, undef, undef, 0.01) until -e "/proc/$pid/exe" && readlink("/proc/$pid/exe") =~ m{/(enclaved|keychaind|authd|vauban-watcher|tail)$} && (split(/\s+/, `grep ^Seccomp: /proc/$pid/status`))[1] == ($ENV{FILTERED} // 2); kill "SEGV", $pid; waitpid $pid, 0; print(($? & 127) . (($? & 128) ? " core\n" : " none\n"))' "$@"; }
run_as="setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups"
if command -v perl >/dev/null && (ulimit -c unlimited) 2>/dev/null; then
    ulimit -c unlimited
    check 'a plain process leaves a core' test "$(FILTERED=0 crashes "$crash" $run_as tail -f /dev/null)" = '11 core'
    for room in enclaved keychaind authd vauban-watcher; do
        state=$crash/$room; install -d -m 700 -o vauban-test-alice -g vauban-test-alice "$state" "$state/s"
        case $room in enclaved) socket=enclave words="--state $state/s" ;; keychaind) socket=keychain words="--state $state/s --enclave-folder $state --enclave-uid 0" ;; authd) socket=authentication words="--enclave-folder $state --enclave-uid 0" ;; vauban-watcher) socket= words="--enclave-folder $state --enclave-uid 0" ;; esac
        install -d -m 755 "$TMPDIR/$room"
        check "$room leaves none" test "$(crashes "$state" "$bin/rooms-testing" with-socket "${socket:+$socket=$TMPDIR/$room/}${socket:--}" -- $run_as "$bin/$room" $words 2>/dev/null)" = '11 none'
    done
    check 'and no core file of a room is there' test -z "$(find "$crash"/*/ -name 'core*' 2>/dev/null)"
else
    echo 'open: core dumps: there is no perl here, or the limit cannot be lifted'
fi

[ "$failures" = 0 ] || { echo "$failures checks failed"; exit 1; }
echo 'no other program reads a room'
