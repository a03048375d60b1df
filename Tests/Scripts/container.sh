#!/usr/bin/env bash
# User mode as in a container of Manual/containers.md, without a container engine: its own namespaces, no capability and no way to one, a
# read-only root, a private volume, 256 MiB; through the shipped entrypoint, with the shipped rooms. A backup of the host is
# restored there.
set -u
[ "${VAUBAN_TEST_USERS:-0}" = 1 ] || { echo 'it needs root, to make a read-only root'; exit 77; }
for tool in setpriv unshare patchelf; do command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }; done
. Tests/Scripts/lib/own-mounts.sh
. Tests/Scripts/lib/deadline.sh
# container COMMAND...: what a container engine would run.
container() {
    setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups --inh-caps -all --bounding-set -all --no-new-privs \
        env -i PATH="$TMPDIR/image/bin:/usr/bin:/bin" XDG_DATA_HOME="$TMPDIR/volume" HOME=/nonexistent "$@"
}
# with_passphrase COMMAND...: passcode and passphrase on descriptors, without a terminal.
with_passphrase() { "$@" --passcode-fd 3 --passphrase-fd 4 3<"$TMPDIR/secret" 4<<<'a passphrase of its own' </dev/null; }
if [ -z "${VAUBAN_INSIDE:-}" ]; then
    mkdir -p "$TMPDIR/release/programs" && chmod 755 "$TMPDIR" && cp -R Install Browser Manual Specs scripts LICENSE SECURITY.md "$TMPDIR/release/" || exit 1
    scripts/build-programs --collect "$VAUBAN_BUILD" "$TMPDIR/release/programs" || exit 1
    MODE=user PREFIX=$TMPDIR/image "$TMPDIR/release/scripts/install" >/dev/null || exit 1
    install -d -m 700 -o vauban-test-alice -g vauban-test-alice "$TMPDIR/volume"
    printf 'correct horse battery\n' >"$TMPDIR/secret"
    # The backup of another machine, which is the host.
    install -d -m 700 -o vauban-test-alice -g vauban-test-alice "$TMPDIR/host"
    host() { container XDG_DATA_HOME="$TMPDIR/host" vauban "$@"; }
    trap 'host stop >/dev/null 2>&1' EXIT
    trap 'exit 143' TERM
    { host setup && host passcode set --passcode-fd 3 3<"$TMPDIR/secret" && printf 'of the host' | host set github/anna &&
        with_passphrase host backup "$TMPDIR/host/keychain.backup"; } >"$TMPDIR/said" 2>&1 || { cat "$TMPDIR/said"; exit 1; }
    host stop >/dev/null 2>&1
    VAUBAN_INSIDE=1 exec unshare $own_mounts --pid --net --ipc --fork --kill-child --mount-proc "$0"
fi
# The files from which the enclave reads its limits, as in a container of 256 MiB under either kind of control group.
limit=$((256 << 20))
mount -t tmpfs tmpfs /sys/fs/cgroup && mkdir /sys/fs/cgroup/memory || { echo 'it cannot mount here'; exit 77; }
echo $limit | tee /sys/fs/cgroup/memory.max >/sys/fs/cgroup/memory/memory.limit_in_bytes
# The volume is a separate mount and stays writable; every other mount is made read-only.
mount --bind "$TMPDIR/volume" "$TMPDIR/volume"
for mounted in $(cut -d' ' -f5 /proc/self/mountinfo | sort -u); do
    case $mounted in "$TMPDIR/volume" | /proc* | /dev*) ;; *) mount -o remount,bind,ro "$mounted" 2>/dev/null ;; esac
done
if touch "$TMPDIR/image/probe" 2>/dev/null; then echo 'the root cannot be made read-only here'; exit 77; fi

failures=0
check() { what=$1; shift; if "$@"; then echo "ok: $what"; else echo "FAILED: $what"; failures=$((failures + 1)); fi; }
equals() { [ "$1" = "$2" ] || { echo "    $1, not $2"; return 1; }; }
entrypoint=$TMPDIR/release/Install/container/entrypoint
volume=$TMPDIR/volume
end() { container vauban stop >/dev/null 2>&1; }

check 'nothing but the volume can be written' eval '! container touch /tmp/probe 2>/dev/null && ! container touch "$TMPDIR/probe" 2>/dev/null'
# A secret file, as an engine mounts it.
said=$(container VAUBAN_PASSCODE_FILE="$TMPDIR/secret" "$entrypoint" sh -c 'printf "in a box" | vauban set app/token && vauban get app/token' 2>&1)
check 'the first start sets the passcode, and the command stores and reads a secret' equals "$(echo "$said" | tail -n 1)" 'in a box'
find_rooms() { rooms=$(for folder in /proc/[0-9]*; do case $(readlink "$folder/exe") in "$TMPDIR/image/lib/vauban/"*) echo "${folder#/proc/}" ;; esac; done); }
# Some start a moment later than the first answer.
all_run() { find_rooms; [ "$(echo $rooms | wc -w)" = 7 ]; }
check 'seven processes of Vauban run' eventually all_run
check 'none has a capability or can get one' \
    eval 'for pid in $rooms; do grep -qE "^CapBnd:[[:space:]]*0+$" /proc/$pid/status && grep -qE "^CapEff:[[:space:]]*0+$" /proc/$pid/status &&
        grep -q "^NoNewPrivs:[[:space:]]*1" /proc/$pid/status || exit 1; done'
enclave=$(for pid in $rooms; do [ "$(cat /proc/$pid/comm)" = enclaved ] && echo "$pid"; done)
# The peak of the enclave, including a guess at the passcode; the other rooms, which never use more, with shared memory counted once.
peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$enclave/status)
for pid in $rooms; do [ "$pid" = "$enclave" ] || peak=$((peak + $(sed -n 's/^Pss:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$pid/smaps_rollup))); done
echo "all of them together had $((peak / 1024)) MiB at most"
check 'that is within 256 MiB' test "$peak" -lt $((limit / 1024))
check 'and a guess was made in it: 128 MiB of it are the enclave'"'"'s' test "$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$enclave/status)" -gt $((128 * 1024))
check 'status reports the mode' eval 'container vauban status | grep -q "^Mode .*user"'
check 'the passcode is in no file of the volume' eval '! grep -raqF "correct horse battery" "$volume"'
end
check 'a stopped container is locked' eval 'container "$entrypoint" vauban get app/token --no-input >/dev/null 2>&1 3</dev/null; equals $? 36'
end
check 'the next start unlocks it' equals "$(container VAUBAN_PASSCODE_FILE="$TMPDIR/secret" "$entrypoint" vauban get app/token)" 'in a box'
end
check 'or from a descriptor' equals "$(container VAUBAN_PASSCODE_FD=7 "$entrypoint" vauban get app/token 7<"$TMPDIR/secret")" 'in a box'
check 'which the command does not inherit' \
    eval 'container VAUBAN_PASSCODE_FD=7 "$entrypoint" sh -c "! [ -e /proc/self/fd/3 ] && ! [ -e /proc/self/fd/7 ]" 7<"$TMPDIR/secret" 3</dev/null'
end
check 'a wrong one stops the start of the container' eval '! container VAUBAN_PASSCODE_FD=7 "$entrypoint" true 7<<<"wrong horse" 2>/dev/null'
# An unlock is not user presence.
container VAUBAN_PASSCODE_FILE="$TMPDIR/secret" "$entrypoint" sh -c 'printf asks | vauban set app/asks --require presence' 2>/dev/null
check 'a program cannot read items that require the user' eval 'container "$entrypoint" vauban get app/asks --no-input >/dev/null 2>&1; equals $? 36'
end
# A container is a new machine: the commands of Manual/new-machine.md, in their order, with the backup of the host.
moved() { container XDG_DATA_HOME="$volume/moved" vauban "$@"; }
mapfile -t steps < <(sed -n '/^## From a backup/,/^## From a circle/p' Manual/new-machine.md | sed -nE 's/^[0-9]+\. [^`]*`vauban ([^`]*)`.*/\1/p')
check 'the manual has five steps' equals "${#steps[@]}" 5
container mkdir -m 700 "$volume/moved"
for step in "${steps[@]}"; do
    step=${step/keychain.backup/$TMPDIR/host/keychain.backup}
    read -r -a words <<<"${step/FOLDER/$volume/folder}"
    case $step in
        *'passcode set') check "vauban $step" moved "${words[@]}" --passcode-fd 3 3<"$TMPDIR/secret" 2>/dev/null ;;
        *restore* | *backup*) check "vauban $step" with_passphrase moved "${words[@]}" 2>/dev/null ;;
        *) check "vauban $step" moved "${words[@]}" </dev/null ;;
    esac
done
check 'the steps of the manual move the backup of the host into the container' equals "$(moved get github/anna)" 'of the host'
moved stop >/dev/null 2>&1
[ "$failures" = 0 ] || { echo "$failures checks failed"; exit 1; }
echo 'it runs without a capability, on a read-only root, in 256 MiB'
