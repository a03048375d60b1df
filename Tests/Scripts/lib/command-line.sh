# For tests of the command line: a separate keychain, whose enclave has a cheap key derivation.
# Defines vauban, play, fail, expect_status, expect_text, and the passcode that `set_passcode` sets.
for program in vauban rooms-testing pty-play authd vauban-witness vauban-watcher; do
    [ -x "$VAUBAN_BUILD/$program" ] || { echo "$program is not built"; exit 77; }
done
. Tests/Scripts/lib/deadline.sh
unset XDG_RUNTIME_DIR XDG_DATA_HOME
export TERM=xterm
export HOME=$TMPDIR
export VAUBAN_HOME=$TMPDIR/keychain
passcode='correct horse battery'

vauban() { "$VAUBAN_BUILD/vauban" "$@"; }

# A session without a terminal, as a service or a build machine has it.
detached() { setsid --wait "$VAUBAN_BUILD/vauban" "$@" </dev/null; }

# detached_with TEXT WORDS...: the same with TEXT on standard input.
detached_with() { printf '%s' "$1" | setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}"; }

# play COMMAND... <<STEPS: runs the command on a new terminal; see pty-play.
play() { "$VAUBAN_BUILD/pty-play" --seconds "$hang_seconds" -- "$@"; }

fail() { echo "FAILED: $*"; exit 1; }

# expect_status NUMBER COMMAND...: the command must end with this status; its output goes to $TMPDIR/out and $TMPDIR/err.
expect_status() {
    expected=$1
    shift
    "$@" >"$TMPDIR/out" 2>"$TMPDIR/err"
    status=$?
    [ "$status" = "$expected" ] && return 0
    cat "$TMPDIR/out" "$TMPDIR/err"
    fail "$* ended with $status, not with $expected"
}

# expect_text TEXT FILE: the file must contain the text, on one line.
expect_text() { grep -qF -- "$1" "$2" || { cat "$2"; fail "there is no \"$1\" in what was shown"; }; }

# new_keychain: creates an empty keychain without a passcode, with the launcher for tests.
new_keychain() {
    [ ! -d "$VAUBAN_HOME" ] || vauban stop >/dev/null 2>&1
    rm -rf "$VAUBAN_HOME"
    mkdir -m 700 "$VAUBAN_HOME"
    printf 'version 1\nlauncher %s\n' "$VAUBAN_BUILD/rooms-testing" >"$VAUBAN_HOME/service"
}

set_passcode() { printf '%s\n' "$passcode" | vauban passcode set --passcode-fd 0 2>/dev/null || fail 'no passcode could be set'; }
unlock() { printf '%s\n' "$passcode" | vauban unlock --passcode-fd 0 2>/dev/null || fail 'the keychain could not be unlocked'; }


# shown_key FILE: prints the recovery key that was shown on the terminal, as one line.
shown_key() { tr -d '\r' <"$1" | sed -nE 's/^ +(([0-9]{6}-){3}[0-9]{6})$/\1/p' | paste -sd-; }
# is_key TEXT: whether the text has the form of a recovery key.
is_key() { [[ $1 =~ ^([0-9]{6}-){7}[0-9]{6}$ ]]; }
# not_kept TEXT: no file in the keychain's folder, logs included, contains the text, with or without hyphens.
not_kept() {
    printf '%s\n%s\n' "$1" "${1//-/}" >"$TMPDIR/needles"
    if grep -rlaF -f "$TMPDIR/needles" "$VAUBAN_HOME"; then fail 'a secret is on the disk'; fi
}

trap 'vauban stop >/dev/null 2>&1' EXIT
new_keychain
