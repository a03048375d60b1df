#!/usr/bin/env bash
# Other programs try to read a running room, one of the same user and one of another user, by a debugger's means, and through a core file
# after a crash. The rooms are the shipped programs in user mode, run as a separate system user. As the control, a plain process of the same
# user in the same place can be read and leaves a core.
set -u
[ "${VAUBAN_TEST_USERS:-0}" = 1 ] || { echo 'it needs root, to be several users'; exit 77; }
. Tests/Scripts/lib/deadline.sh
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

# attempts USER PID: prints the result of each attempt, one a line.
attempts() { as "$1" "$bin/hardening-probe" attack "$2" >"$TMPDIR/attack" 2>&1; cat "$TMPDIR/attack"; }
# Files of /proc without secrets may be readable; these must not be.
secret='^(ptrace|memory file|process_vm_readv|pidfd_getfd|environ|maps|auxv|fd/2): '
# Refused for lack of rights (EPERM, EACCES), by a process that is still running: one that has ended also refuses everything.
all_refused() { attempts "$@" >/dev/null; kill -0 "$2" && [ "$(grep -cE "${secret}refused (1|13)\$" "$TMPDIR/attack")" = 8 ] || { cat "$TMPDIR/attack"; return 1; }; }
all_done() { attempts "$@" >/dev/null; [ "$(grep -cE "${secret}done" "$TMPDIR/attack")" = 8 ] || { cat "$TMPDIR/attack"; return 1; }; }

(exec setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups tail -f /dev/null) & control=$!; started="$started $control"
# setpriv executes the command a moment after its start.
is_tail() { [ "$(cat /proc/$control/comm 2>/dev/null)" = tail ]; }
awaited 'setpriv executes tail' is_tail
check 'a plain process of the same user can be read' all_done vauban-test-alice "$control"
check 'a plain process cannot be read by another user' all_refused vauban-test-bob "$control"
# The launcher starts some rooms a little later, and the filter of system calls is the last protection that a room sets up.
all_run() { rooms=$(cat /proc/"$launcher"/task/*/children); [ "$(wc -w <<<"$rooms")" -ge 6 ] || ! kill -0 "$launcher"; }
is_filtered() { [ ! -e "/proc/$1" ] || grep -qs '^Seccomp:[[:space:]]*2' "/proc/$1/status"; }
awaited 'the launcher has six children' all_run
for pid in $rooms; do awaited "process $pid has a filter of system calls" is_filtered "$pid"; done
[ "$(echo $rooms | wc -w)" = 6 ] || { echo "the launcher has the children: $rooms"; exit 1; }
for pid in $launcher $rooms; do
    name=$(cat /proc/"$pid"/comm)
    check "$name cannot be read by its own user" all_refused vauban-test-alice "$pid"
    check "$name cannot be read by another user" all_refused vauban-test-bob "$pid"
done
for pid in $rooms; do
    name=$(cat /proc/"$pid"/comm)
    check "$name has a filter of system calls and no new privileges" \
        eval 'grep -q "^Seccomp:[[:space:]]*2" /proc/$pid/status && grep -q "^NoNewPrivs:[[:space:]]*1" /proc/$pid/status'
done

for program in "$bin"/*; do
    check "${program##*/} has a read-only table of functions" eval 'readelf -dW "$program" | grep -q BIND_NOW && readelf -lW "$program" | grep -q GNU_RELRO'
done

# A crash: the limit is lifted, and the working folder belongs to the user. The core would be written there or passed to a program; in either
# case bit 7 of the wait status is set. A program that is not ready after two minutes, or ends before, is named instead.
crashes() {
    perl -e '
        use POSIX ":sys_wait_h";
        my $pid = fork // die;
        if (!$pid) { chdir shift @ARGV; exec @ARGV or exit 99 }
        my $end = time + 120;
        until (readlink("/proc/$pid/exe") =~ m{/(enclaved|keychaind|authd|vauban-watcher|tail)$} &&
            (split(/\s+/, `grep ^Seccomp: /proc/$pid/status`))[1] == ($ENV{FILTERED} // 2)) {
            if (waitpid($pid, WNOHANG) == $pid) { print "it ended with the wait status $?\n"; exit }
            if (time > $end) { kill "KILL", $pid; print "it was not ready in 120 s: @ARGV\n"; exit }
            select(undef, undef, undef, 0.01);
        }
        kill "SEGV", $pid; waitpid $pid, 0;
        print(($? & 127) . (($? & 128) ? " core\n" : " none\n"))' "$@"
}
equals() { [ "$1" = "$2" ] || { echo "    got: $1"; echo "   want: $2"; return 1; }; }
run_as="setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups"
if command -v perl >/dev/null && (ulimit -c unlimited) 2>/dev/null; then
    ulimit -c unlimited
    check 'a plain process leaves a core' equals "$(FILTERED=0 crashes "$crash" $run_as tail -f /dev/null)" '11 core'
    for room in enclaved keychaind authd vauban-watcher; do
        state=$crash/$room; install -d -m 700 -o vauban-test-alice -g vauban-test-alice "$state" "$state/s"
        case $room in enclaved) socket=enclave words="--state $state/s" ;; keychaind) socket=keychain \
            words="--state $state/s --enclave-folder $state --enclave-uid 0" ;; authd) socket=authentication \
                words="--enclave-folder $state --enclave-uid 0" ;; vauban-watcher) socket= words="--enclave-folder $state --enclave-uid 0" ;; esac
        install -d -m 755 "$TMPDIR/$room"
        check "$room leaves no core" \
            equals "$(crashes "$state" "$bin/rooms-testing" with-socket "${socket:+$socket=$TMPDIR/$room/}${socket:--}" -- \
                $run_as "$bin/$room" $words 2>/dev/null)" '11 none'
    done
    check 'there is no core file of a room' test -z "$(find "$crash"/*/ -name 'core*' 2>/dev/null)"
else
    echo 'open: core dumps: there is no perl here, or the limit cannot be lifted'
fi

[ "$failures" = 0 ] || { echo "$failures checks failed"; exit 1; }
echo 'no other program can read a room'
